//! Times in handoffs: parsed leniently, always written as UTC with whole seconds.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

/// A parsed time and how precisely it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time {
    /// The point in time. UTC is assumed if the text has no zone.
    pub moment: Timestamp,
    /// Which parts the text omits.
    pub exactness: Exactness,
}

/// Which parts of a time the text omits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exactness {
    /// Date, time and zone.
    Exact,
    /// No seconds: the full minute is assumed.
    NoSeconds,
    /// No zone: UTC is assumed.
    NoZone,
    /// Only a date: midnight UTC is assumed.
    DateOnly,
}

const DAY_SECONDS: i64 = 24 * 60 * 60;

impl Time {
    /// The latest moment that the text can mean.
    pub fn latest(self) -> Timestamp {
        let seconds = match self.exactness {
            Exactness::Exact => 0,
            Exactness::NoSeconds => 59,
            // A zone is at most a day away.
            Exactness::NoZone => DAY_SECONDS,
            Exactness::DateOnly => DAY_SECONDS - 1,
        };
        Timestamp::from_second(self.moment.as_second() + seconds).unwrap_or(self.moment)
    }

    /// The number of whole days from this time to `now`; `None` if this time is in the future.
    pub(crate) fn days_before(self, now: Timestamp) -> Option<i64> {
        let seconds = now.duration_since(self.moment).as_secs();
        (self.moment <= now).then_some(seconds / DAY_SECONDS)
    }

    /// Parses a time in ISO 8601 or a common variant of it.
    ///
    /// Tries `Timestamp` first, because parsing a civil time would silently drop an offset.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (text, utc) = match text.strip_suffix("UTC") {
            Some(rest) => (rest.trim_end(), true),
            None => (text, false),
        };
        let given = if has_seconds(text) { Exactness::Exact } else { Exactness::NoSeconds };
        if let Ok(moment) = text.parse::<Timestamp>() {
            return Some(Self { moment, exactness: given });
        }
        // jiff requires seconds before some zones, but they are often omitted.
        if let Some(moment) = with_seconds(text).and_then(|text| text.parse().ok()) {
            return Some(Self { moment, exactness: Exactness::NoSeconds });
        }
        let exactness = if utc { given } else { Exactness::NoZone };
        if text.len() > "2026-03-21".len() {
            let civil: DateTime = text.parse().ok()?;
            return in_utc(civil).map(|moment| Self { moment, exactness });
        }
        let date: Date = text.parse().ok()?;
        in_utc(date.to_datetime(jiff::civil::Time::midnight()))
            .map(|moment| Self { moment, exactness: Exactness::DateOnly })
    }
}

/// Whether the time of day includes seconds.
fn has_seconds(text: &str) -> bool {
    let of_day = text.get("2026-03-21T".len()..).unwrap_or_default();
    let of_day = of_day.split(['Z', 'z', '+', '-']).next().unwrap_or_default();
    of_day.matches(':').count() >= 2
}

fn in_utc(civil: DateTime) -> Option<Timestamp> {
    civil.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
}

/// Inserts `:00` into times such as `2026-03-21T17:24Z` and `2026-03-21 17:24+01:00`.
fn with_seconds(text: &str) -> Option<String> {
    const UP_TO_MINUTES: usize = "2026-03-21T17:24".len();
    let (civil, zone) = text.split_at_checked(UP_TO_MINUTES)?;
    zone.starts_with(['Z', 'z', '+', '-']).then(|| format!("{civil}:00{zone}"))
}

/// Formats a time the only way midstride writes it: UTC, whole seconds.
pub fn format_time(moment: Timestamp) -> String {
    moment.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(String, Exactness)> {
        Time::parse(text).map(|time| (format_time(time.moment), time.exactness))
    }

    #[test]
    fn common_time_formats_are_parsed() {
        let exact = |text: &str| Some((text.to_owned(), Exactness::Exact));
        assert_eq!(read("2026-03-21T17:24:00Z"), exact("2026-03-21T17:24:00Z"));
        assert_eq!(read("2026-03-21T17:24:00+01:00"), exact("2026-03-21T16:24:00Z"));
        assert_eq!(read("2026-03-21 17:24:00 UTC"), exact("2026-03-21T17:24:00Z"));
        let minute = |text: &str| Some((text.to_owned(), Exactness::NoSeconds));
        assert_eq!(read("2026-03-21T17:24Z"), minute("2026-03-21T17:24:00Z"));
        assert_eq!(read("2026-03-21 17:24-07:00"), minute("2026-03-22T00:24:00Z"));
        assert_eq!(read("2026-03-21 17:24 UTC"), minute("2026-03-21T17:24:00Z"));
        assert_eq!(
            read("2026-03-21T17:24"),
            Some(("2026-03-21T17:24:00Z".to_owned(), Exactness::NoZone))
        );
        assert_eq!(
            read("2026-03-21"),
            Some(("2026-03-21T00:00:00Z".to_owned(), Exactness::DateOnly))
        );
    }

    #[test]
    fn text_that_is_not_a_time_is_rejected() {
        for text in ["", "yesterday", "2026-13-01", "21.03.2026", "2026-03-21T99:00"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
