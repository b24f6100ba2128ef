//! Renders reviews, and times to the minute.

use midstride_core::format::header::{Review, ReviewVerdict};
use midstride_core::text::time::{Exactness, Time};

/// The verdict of a review, or the text that was written in its place.
pub(super) fn verdict_text<'d>(review: &Review<'d>) -> Option<&'d str> {
    let written = review.verdict_text.map(|text| text.value.trim());
    review.verdict.map(ReviewVerdict::word).or(written)
}

/// What was challenged, and the verdict.
pub(super) fn challenge_parts(review: &Review<'_>) -> [String; 2] {
    let challenged = review.challenged.map_or("(no text)", |text| text.value.trim());
    let verdict = verdict_text(review).unwrap_or("(no verdict)");
    [challenged.to_owned(), format!("→ {verdict}")]
}

/// A time to the minute.
pub(super) fn format_minute(time: Time) -> String {
    let form = match time.exactness {
        Exactness::DateOnly => "%Y-%m-%d",
        Exactness::Exact | Exactness::NoSeconds | Exactness::NoZone => "%Y-%m-%d %H:%M",
    };
    time.moment.strftime(form).to_string()
}
