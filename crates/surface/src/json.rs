//! The answers of `--json`: one object each, which names its schema beside its fields.

use serde::Serialize;

/// An answer of a command. It can only be printed with the name of its schema.
pub trait JsonAnswer: Serialize {
    /// The name and version of the fields, such as `brief/1`. `docs/json.md` lists all of them.
    const SCHEMA: &'static str;
}

/// What a list consists of.
pub trait JsonItem: Serialize {
    /// The schema of a list of these.
    const LIST_SCHEMA: &'static str;
}

/// An answer that is a list.
#[derive(Debug, Serialize)]
pub struct JsonList<T> {
    items: Vec<T>,
}

impl<T> FromIterator<T> for JsonList<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self { items: items.into_iter().collect() }
    }
}

impl<T: JsonItem> JsonAnswer for JsonList<T> {
    const SCHEMA: &'static str = T::LIST_SCHEMA;
}

/// An answer as it is printed.
#[derive(Serialize)]
struct PrintedAnswer<'a, T> {
    schema: &'static str,
    #[serde(flatten)]
    answer: &'a T,
}

/// The text of an answer, without a line break at its end.
pub fn json_text<T: JsonAnswer>(answer: &T) -> serde_json::Result<String> {
    serde_json::to_string_pretty(&PrintedAnswer { schema: T::SCHEMA, answer })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize)]
    struct Weather {
        rain: bool,
    }

    impl JsonAnswer for Weather {
        const SCHEMA: &'static str = "weather/1";
    }

    impl JsonItem for Weather {
        const LIST_SCHEMA: &'static str = "forecast/1";
    }

    #[test]
    fn an_answer_names_its_schema_beside_its_fields() {
        let compact = |text: String| text.split_whitespace().collect::<String>();
        let one = json_text(&Weather { rain: true }).unwrap();
        assert_eq!(compact(one), r#"{"schema":"weather/1","rain":true}"#);
        let list: JsonList<Weather> = [Weather { rain: false }].into_iter().collect();
        let list = json_text(&list).unwrap();
        assert_eq!(compact(list), r#"{"schema":"forecast/1","items":[{"rain":false}]}"#);
    }
}
