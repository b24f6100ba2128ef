//! Numbers in the output of commands.

use regex::Regex;
use std::fmt;
use std::sync::LazyLock;

/// A number: sign, digits with optional thousands separators, fraction and exponent.
static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"-?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
        .expect("it is a regular expression")
});

/// A number in normalized notation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Number(String);

impl Number {
    /// Parses a text that is only a number.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let whole = NUMBER.find(text).filter(|found| found.len() == text.len())?;
        Self::normalize(whole.as_str())
    }

    fn normalize(written: &str) -> Option<Self> {
        let plain = written.replace(',', "");
        let (sign, digits) = plain.strip_prefix('-').map_or(("", plain.as_str()), |d| ("-", d));
        // YAML reads a number with leading zeros differently.
        let digits = digits.trim_start_matches('0');
        let digits = if digits.starts_with(|c: char| c.is_ascii_digit()) {
            digits.to_owned()
        } else {
            format!("0{digits}")
        };
        let digits = match digits.contains('.') && !digits.contains(['e', 'E']) {
            true => digits.trim_end_matches('0').trim_end_matches('.').to_owned(),
            false => digits,
        };
        let number = Self(format!("{sign}{digits}"));
        number.0.parse::<f64>().is_ok_and(f64::is_finite).then_some(number)
    }

    /// The value, for comparisons.
    pub(super) fn value(&self) -> f64 {
        self.0.parse().unwrap_or_default()
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The last number in a text. A hyphen after a letter or digit is not a sign.
pub(super) fn last_number(text: &str) -> Option<Number> {
    let found = NUMBER.find_iter(text).last()?;
    let is_hyphen = text[..found.start()].ends_with(char::is_alphanumeric);
    let written = found.as_str();
    Number::normalize(if is_hyphen { written.trim_start_matches('-') } else { written })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_number_formats_are_found() {
        for (text, number) in [
            ("108", "108"),
            ("took 0.50 s", "0.5"),
            ("14,290 ms", "14290"),
            ("1,2", "2"),
            ("-3.0", "-3"),
            ("build-7", "7"),
            ("007", "7"),
            ("0", "0"),
            ("000.10", "0.1"),
            ("2.5e3 rows", "2.5e3"),
        ] {
            assert_eq!(last_number(text).map(|n| n.to_string()).as_deref(), Some(number), "{text}");
        }
        assert_eq!(last_number("none"), None);
        assert_eq!(last_number("1e999"), None);
    }

    #[test]
    fn parse_accepts_only_a_number() {
        assert_eq!(Number::parse(" 12 ").map(|n| n.to_string()).as_deref(), Some("12"));
        for text in ["12 ms", "", "-", "NaN", "inf", "1 2"] {
            assert_eq!(Number::parse(text), None, "{text}");
        }
    }
}
