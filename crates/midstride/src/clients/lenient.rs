//! Deserializes the fields of records leniently: a field with the wrong type is ignored, and costs
//! neither its record nor a copy.

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// A string, an integer, or a boolean; anything else is `Nothing`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Scalar<'a> {
    #[default]
    Nothing,
    Text(Cow<'a, str>),
    Number(i64),
    Flag(bool),
}

impl<'a> Scalar<'a> {
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Nothing | Self::Number(_) | Self::Flag(_) => None,
        }
    }

    pub(crate) fn into_text(self) -> Option<Cow<'a, str>> {
        match self {
            Self::Text(text) => Some(text),
            Self::Nothing | Self::Number(_) | Self::Flag(_) => None,
        }
    }

    pub(crate) fn integer(&self) -> Option<i64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Nothing | Self::Text(_) | Self::Flag(_) => None,
        }
    }

    pub(crate) fn count(&self) -> u64 {
        self.integer().and_then(|number| u64::try_from(number).ok()).unwrap_or_default()
    }

    pub(crate) fn is_true(&self) -> bool {
        matches!(self, Self::Flag(true))
    }

    /// Returns an id, which some clients write as a number.
    pub(crate) fn id(self) -> Option<Cow<'a, str>> {
        match self {
            Self::Text(text) => Some(text),
            Self::Number(number) => Some(number.to_string().into()),
            Self::Nothing | Self::Flag(_) => None,
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Scalar<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ScalarVisitor<'a>(PhantomData<&'a ()>);
        impl<'de: 'a, 'a> Visitor<'de> for ScalarVisitor<'a> {
            type Value = Scalar<'a>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Scalar::Text(text.into()))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Scalar::Text(text.to_owned().into()))
            }
            fn visit_string<E>(self, text: String) -> Result<Self::Value, E> {
                Ok(Scalar::Text(text.into()))
            }
            fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
                Ok(i64::try_from(number).map_or(Scalar::Nothing, Scalar::Number))
            }
            fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
                Ok(Scalar::Number(number))
            }
            fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
                Ok(Scalar::Nothing)
            }
            fn visit_bool<E>(self, flag: bool) -> Result<Self::Value, E> {
                Ok(Scalar::Flag(flag))
            }
            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Scalar::Nothing)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
                skip_list(list).map(|()| Scalar::Nothing)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                skip_map(map).map(|()| Scalar::Nothing)
            }
        }
        deserializer.deserialize_any(ScalarVisitor(PhantomData))
    }
}

fn skip_list<'de, A: SeqAccess<'de>>(mut list: A) -> Result<(), A::Error> {
    while list.next_element::<IgnoredAny>()?.is_some() {}
    Ok(())
}

fn skip_map<'de, A: MapAccess<'de>>(mut map: A) -> Result<(), A::Error> {
    while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
    Ok(())
}

/// A map, a list of maps, or a string, whichever a field has.
#[derive(Clone, Debug, Default)]
pub(crate) enum OneOrMany<'a, T> {
    #[default]
    Nothing,
    Text(Cow<'a, str>),
    One(Box<T>),
    Many(Vec<T>),
}

impl<T> OneOrMany<'_, T> {
    pub(crate) fn one(self) -> Option<T> {
        match self {
            Self::One(one) => Some(*one),
            Self::Nothing | Self::Text(_) | Self::Many(_) => None,
        }
    }

    pub(crate) fn all(&self) -> &[T] {
        match self {
            Self::Many(many) => many,
            Self::One(one) => std::slice::from_ref(one),
            Self::Nothing | Self::Text(_) => &[],
        }
    }

    pub(crate) fn many(self) -> Vec<T> {
        match self {
            Self::Many(many) => many,
            Self::One(one) => vec![*one],
            Self::Nothing | Self::Text(_) => Vec::new(),
        }
    }
}

impl<'de: 'a, 'a, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<'a, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrManyVisitor<'a, T>(PhantomData<(&'a (), T)>);
        impl<'de: 'a, 'a, T: Deserialize<'de>> Visitor<'de> for OneOrManyVisitor<'a, T> {
            type Value = OneOrMany<'a, T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(OneOrMany::Text(text.into()))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(OneOrMany::Text(text.to_owned().into()))
            }
            fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
                Ok(OneOrMany::Nothing)
            }
            fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
                Ok(OneOrMany::Nothing)
            }
            fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
                Ok(OneOrMany::Nothing)
            }
            fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
                Ok(OneOrMany::Nothing)
            }
            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(OneOrMany::Nothing)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut many = Vec::new();
                while let Some(part) = list.next_element::<OneOrMany<'a, T>>()? {
                    many.extend(part.one());
                }
                Ok(OneOrMany::Many(many))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                let one = T::deserialize(MapAccessDeserializer::new(map))?;
                Ok(OneOrMany::One(Box::new(one)))
            }
        }
        deserializer.deserialize_any(OneOrManyVisitor(PhantomData))
    }
}

/// Returns why a line could not be parsed.
pub(crate) fn reason(error: &serde_json::Error) -> &'static str {
    match error.classify() {
        serde_json::error::Category::Eof => "cut off",
        serde_json::error::Category::Data => "unexpected shape",
        serde_json::error::Category::Syntax | serde_json::error::Category::Io => {
            let too_deep = error.to_string().starts_with("recursion limit");
            if too_deep { "nested too deep" } else { "not JSON" }
        }
    }
}

/// Parses a line again after repairs: first without the lone surrogates that clients leave when
/// they cut a character in half, invalid UTF-8, and numbers out of range; then with each key only
/// once. Returns whether one of the two attempts succeeded.
pub(crate) fn read_repaired(line: &[u8], read: &mut dyn FnMut(&[u8]) -> bool) -> bool {
    let repaired = repair(line);
    if repaired.as_deref().is_some_and(&mut *read) {
        return true;
    }
    // The last value of a duplicate key counts, as it does for the clients that write these
    // records.
    let value = serde_json::from_slice::<Value>(repaired.as_deref().unwrap_or(line));
    value.ok().and_then(|value| serde_json::to_vec(&value).ok()).is_some_and(|line| read(&line))
}

/// Returns a copy of a line with lone surrogates, invalid UTF-8, and numbers out of range replaced;
/// `None` if it has none.
fn repair(line: &[u8]) -> Option<Vec<u8>> {
    let text = String::from_utf8_lossy(line);
    let mut changed = matches!(text, Cow::Owned(_));
    let mut bytes = text.into_owned().into_bytes();
    let (mut at, mut in_text) = (0, false);
    while at < bytes.len() {
        at += match bytes[at] {
            b'\\' => match (utf16_unit(&bytes, at), utf16_unit(&bytes, at + ESCAPE)) {
                (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 2 * ESCAPE,
                (Some(0xd800..=0xdfff), _) => {
                    bytes[at..at + ESCAPE].copy_from_slice(b"\\ufffd");
                    changed = true;
                    ESCAPE
                }
                (Some(_), _) => ESCAPE,
                (None, _) => 2,
            },
            b'"' => {
                in_text = !in_text;
                1
            }
            b'0'..=b'9' | b'-' if !in_text => {
                let length = bytes[at..].iter().take_while(|byte| is_in_number(**byte)).count();
                changed |= null_if_too_large(&mut bytes[at..at + length]);
                length
            }
            _ => 1,
        };
    }
    changed.then_some(bytes)
}

fn is_in_number(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')
}

/// Replaces a number that is too large with `null`.
fn null_if_too_large(number: &mut [u8]) -> bool {
    const NOTHING: &[u8] = b"null";
    let read = std::str::from_utf8(number).ok().and_then(|text| text.parse::<f64>().ok());
    let too_large = read.is_some_and(f64::is_infinite) && number.len() >= NOTHING.len();
    if too_large {
        number.fill(b' ');
        number[..NOTHING.len()].copy_from_slice(NOTHING);
    }
    too_large
}

/// The length of an escape such as `\ud83d`.
const ESCAPE: usize = 6;

/// Returns the UTF-16 unit that is escaped at a position.
fn utf16_unit(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + ESCAPE)?.strip_prefix(b"\\u")?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize)]
    struct LenientRecord<'a> {
        #[serde(borrow, default)]
        name: Scalar<'a>,
        #[serde(borrow, default)]
        parts: OneOrMany<'a, LenientPart<'a>>,
    }

    #[derive(Clone, Debug, Deserialize)]
    struct LenientPart<'a> {
        #[serde(borrow, default)]
        text: Scalar<'a>,
    }

    #[test]
    fn a_field_of_the_wrong_type_is_ignored() {
        let read = |text: &'static str| serde_json::from_str::<LenientRecord<'_>>(text).unwrap();
        assert_eq!(read(r#"{"name":"a\nb","other":[1]}"#).name.text(), Some("a\nb"));
        for wrong in ["12", "[1,{}]", "{\"a\":1}", "null", "1.5", "true"] {
            let text = format!("{{\"name\":{wrong}}}");
            let record: LenientRecord<'_> = serde_json::from_str(&text).unwrap();
            assert_eq!(record.name.text(), None, "{wrong}");
        }
        let parts = read(r#"{"parts":["x",{"text":"y"},3,{"text":4}]}"#).parts.many();
        assert_eq!(
            parts.iter().map(|part| part.text.text()).collect::<Vec<_>>(),
            [Some("y"), None]
        );
        assert!(
            matches!(read(r#"{"parts":"words"}"#).parts, OneOrMany::Text(text) if text == "words")
        );
        assert_eq!(read(r#"{"parts":7}"#).parts.many().len(), 0);
    }

    #[test]
    fn lone_surrogates_are_replaced_and_pairs_kept() {
        let mend = |text: &str| repair(text.as_bytes()).map(|b| String::from_utf8(b).unwrap());
        assert_eq!(mend(r#"{"a":"\ud83d\ude00 \\ud83d"}"#), None);
        assert_eq!(mend(r#"{"a":"x\ud83d"}"#).unwrap(), r#"{"a":"x\ufffd"}"#);
        assert_eq!(mend(r#""\ude00\ud83d\ud83d\ude00""#).unwrap(), r#""\ufffd\ufffd\ud83d\ude00""#);
        assert_eq!(repair(b"\xff\\"), Some("\u{fffd}\\".into()));
    }

    #[test]
    fn numbers_out_of_range_become_null() {
        let mend = |text: &str| repair(text.as_bytes()).map(|b| String::from_utf8(b).unwrap());
        assert_eq!(mend(r#"{"a":[-1.5e300,12],"b":"1e999","c":"\"1e999"}"#), None);
        assert_eq!(mend(r#"{"a":1e999,"b":-2E+400}"#).unwrap(), r#"{"a":null ,"b":null   }"#);
    }

    #[test]
    fn the_last_value_of_a_duplicate_key_counts() {
        let mut names = Vec::new();
        let mut read = |text: &str| {
            read_repaired(text.as_bytes(), &mut |line| {
                let record = serde_json::from_slice::<LenientRecord<'_>>(line);
                names.extend(record.iter().map(|record| record.name.text().map(str::to_owned)));
                record.is_ok()
            })
        };
        assert!(read(r#"{"name":"one","parts":1e999,"name":"two"}"#));
        assert!(!read(r#"{"name":"one""#));
        assert_eq!(names, [Some("two".to_owned())]);
    }
}
