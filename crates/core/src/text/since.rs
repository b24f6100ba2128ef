//! Parses how far back a user wants to look: a date, a weekday, `yesterday`, `3 days`.

use super::time::Time;
use jiff::civil::Weekday;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

const WEEKDAYS: [(&str, Weekday); 7] = [
    ("monday", Weekday::Monday),
    ("tuesday", Weekday::Tuesday),
    ("wednesday", Weekday::Wednesday),
    ("thursday", Weekday::Thursday),
    ("friday", Weekday::Friday),
    ("saturday", Weekday::Saturday),
    ("sunday", Weekday::Sunday),
];
/// The shortest abbreviation of a weekday.
const WEEKDAY_LENGTH_MIN: usize = 3;

const HOUR: i64 = 1;
const DAY: i64 = 24;
/// Units and their length in hours.
const UNITS: [(&str, i64); 4] =
    [("hour", HOUR), ("day", DAY), ("week", 7 * DAY), ("month", 30 * DAY)];

/// The time a text means, seen from `now`. Days begin at midnight UTC, as midstride shows dates.
/// Today's weekday means a week ago.
///
/// ```
/// use midstride_core::text::since::parse_since;
///
/// let now = "2026-03-21T17:24:00Z".parse()?;
/// let since = parse_since("friday", now).map(|time| time.to_string());
/// assert_eq!(since.as_deref(), Some("2026-03-20T00:00:00Z"));
/// # Ok::<(), jiff::Error>(())
/// ```
pub fn parse_since(text: &str, now: Timestamp) -> Option<Timestamp> {
    let text = text.trim().to_lowercase();
    match text.as_str() {
        "today" => return midnight(now, 0),
        "yesterday" => return midnight(now, 1),
        _ => {}
    }
    let day = text.strip_prefix("last ").unwrap_or(&text);
    let is_named = |name: &str| day.len() >= WEEKDAY_LENGTH_MIN && name.starts_with(day);
    if let Some((_, weekday)) = WEEKDAYS.iter().find(|(name, _)| is_named(name)) {
        let today = now.to_zoned(TimeZone::UTC).weekday();
        let days = match today.since(*weekday) {
            0 => 7,
            days => i64::from(days),
        };
        return midnight(now, days);
    }
    hours_ago(&text, now).or_else(|| Some(Time::parse(&text.to_uppercase())?.moment))
}

/// `3 days`, `3 days ago` or `3d`.
fn hours_ago(text: &str, now: Timestamp) -> Option<Timestamp> {
    let text = text.strip_suffix("ago").unwrap_or(text).trim_end();
    let end = text.find(|c: char| !c.is_ascii_digit())?;
    let number: u16 = text[..end].parse().ok()?;
    let unit = text[end..].trim_start();
    let is_unit = |name: &str| unit == &name[..1] || unit.strip_suffix('s').unwrap_or(unit) == name;
    let (_, hours) = UNITS.iter().find(|(name, _)| is_unit(name))?;
    now.checked_sub(SignedDuration::from_hours(i64::from(number) * hours)).ok()
}

/// The start of the day this many days ago.
fn midnight(now: Timestamp, days: i64) -> Option<Timestamp> {
    let day = now.checked_sub(SignedDuration::from_hours(days * DAY)).ok()?;
    let start = day.to_zoned(TimeZone::UTC).start_of_day().ok()?;
    Some(start.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_dates_name_a_time() {
        // A Saturday.
        let now = "2026-03-21T17:24:00Z".parse().unwrap();
        for (text, expected) in [
            ("today", "2026-03-21T00:00:00Z"),
            ("Yesterday", "2026-03-20T00:00:00Z"),
            ("friday", "2026-03-20T00:00:00Z"),
            ("fri", "2026-03-20T00:00:00Z"),
            ("last sunday", "2026-03-15T00:00:00Z"),
            ("saturday", "2026-03-14T00:00:00Z"),
            ("3 days", "2026-03-18T17:24:00Z"),
            ("3 days ago", "2026-03-18T17:24:00Z"),
            ("1 day", "2026-03-20T17:24:00Z"),
            ("2w", "2026-03-07T17:24:00Z"),
            ("12h", "2026-03-21T05:24:00Z"),
            ("1 month", "2026-02-19T17:24:00Z"),
            ("2026-03-01", "2026-03-01T00:00:00Z"),
            ("2026-03-01T10:00:00Z", "2026-03-01T10:00:00Z"),
        ] {
            let found = parse_since(text, now).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(found.to_string(), expected, "{text}");
        }
        for text in ["", "fr", "soon", "3", "3 suns", "days", "99999999999999 weeks", "-3 days"] {
            assert_eq!(parse_since(text, now), None, "{text}");
        }
    }
}
