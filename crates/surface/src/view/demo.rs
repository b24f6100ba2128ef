//! Renders the short demo: texts beside each other, and past sessions.

use super::{heading, one_line, wrap_lines};
use crate::json::JsonAnswer;
use midstride::verbs::{BriefingPreview, ListedSession};
use midstride_core::text::id::SessionId;
use serde::Serialize;
use unicode_width::UnicodeWidthStr as _;

/// What separates two columns.
const SEPARATOR: &str = " │ ";
/// The narrowest right column. Below that, the texts follow each other.
const RIGHT_MIN: usize = 64;

/// Two texts with their titles: beside each other if the width allows it, otherwise one after the
/// other. The first one is at most `left` wide then.
pub fn columns(texts: [(&str, &str); 2], left: usize, width: usize) -> String {
    let right = width.saturating_sub(left + SEPARATOR.width());
    let [(first_title, first), (second_title, second)] = texts;
    if right < RIGHT_MIN {
        let part =
            |title: &str, text: &str| format!("{}{}", heading(title), wrap_lines(text, width));
        return format!("{}\n{}", part(first_title, first), part(second_title, second));
    }
    let [first, second] = [wrap_lines(first, left), wrap_lines(second, right)];
    let [first, second] = [&first, &second].map(|text| text.lines().collect::<Vec<_>>());
    let blank = |title: &str| " ".repeat(left.saturating_sub(title.width()));
    let first_heading = heading(first_title);
    let mut out = first_heading.trim_end().to_owned();
    out.push_str(&format!("{}{SEPARATOR}{}", blank(first_title), heading(second_title)));
    for row in 0..first.len().max(second.len()) {
        let [one, other] =
            [&first, &second].map(|lines| lines.get(row).copied().unwrap_or_default());
        let line = format!("{one}{}{SEPARATOR}{other}", blank(one));
        out.push_str(&format!("{}\n", line.trim_end()));
    }
    out
}

/// Past sessions, one line each: when they began, their client, and what the user asked first.
pub fn sessions(list: &[ListedSession], width: usize) -> String {
    let line = |one: &ListedSession| {
        let day = one.began.or(one.changed).map(|time| time.strftime("%Y-%m-%d %H:%M").to_string());
        let about = one.about.as_deref().unwrap_or("(no request)");
        let start = format!("{}  {}  ", day.unwrap_or_default(), one.client.title());
        format!("{start}{}\n", one_line(about, width.saturating_sub(start.width())))
    };
    list.iter().map(line).collect()
}

/// How many sessions of a preview are listed.
const LISTED_MAX: usize = 5;

/// The last sessions of a repository, and the briefing that the next one would get.
pub fn preview(preview: &BriefingPreview, width: usize) -> String {
    let list = &preview.sessions;
    let (listed, more) = list.split_at(list.len().min(LISTED_MAX));
    let mut out = String::new();
    if !listed.is_empty() {
        out = format!("{}{}", heading("Your last sessions here"), sessions(listed, width));
        if !more.is_empty() {
            out.push_str(&format!("and {} more\n", more.len()));
        }
        out.push('\n');
    }
    let briefing = wrap_lines(&preview.briefing.text, width);
    format!("{out}{}{briefing}", heading("The next session would have known"))
}

/// The JSON for a preview.
#[derive(Serialize)]
pub struct PreviewJson<'p> {
    sessions: Vec<PreviewedSessionJson<'p>>,
    briefing: &'p str,
    tokens: u64,
    withheld: usize,
}

impl JsonAnswer for PreviewJson<'_> {
    const SCHEMA: &'static str = "preview/1";
}

#[derive(Serialize)]
struct PreviewedSessionJson<'p> {
    client: &'static str,
    session: &'p SessionId,
    began: Option<String>,
    about: Option<&'p str>,
}

/// The JSON for a preview.
pub fn preview_json(preview: &BriefingPreview) -> PreviewJson<'_> {
    PreviewJson {
        sessions: preview.sessions.iter().map(previewed_session_json).collect(),
        briefing: &preview.briefing.text,
        tokens: preview.briefing.tokens,
        withheld: preview.withheld,
    }
}

fn previewed_session_json(one: &ListedSession) -> PreviewedSessionJson<'_> {
    PreviewedSessionJson {
        client: one.client.name(),
        session: &one.session,
        began: one.began.map(|time| time.to_string()),
        about: one.about.as_deref(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_beside_each_other_where_they_fit() {
        let texts = [("A", " M a.py\n"), ("B", "Goal:\n> Keep all the customers\n")];
        let plain =
            |width| columns(texts, 9, width).replace("\u{1b}[1m", "").replace("\u{1b}[0m", "");
        let beside = "\
A         │ B
 M a.py   │ Goal:
          │ > Keep all the customers
";
        assert_eq!(plain(76), beside);
        assert_eq!(plain(20), "A\n M a.py\n\nB\nGoal:\n> Keep all the\n> customers\n");
    }
}
