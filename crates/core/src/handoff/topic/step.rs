//! Steps: the list items or headings of a section, and which of them are done.

/// What a done step starts with.
const DONE_PREFIXES: [&str; 8] = ["[x]", "[X]", "✅", "☑", "✔", "✓", "(done)", "[done]"];
/// What a done step ends with.
const DONE_SUFFIXES: [&str; 12] = [
    "✅",
    "☑",
    "✔",
    "✓",
    "[x]",
    "(done)",
    "[done]",
    "— done",
    "– done",
    "- done",
    ": done",
    "(completed)",
];
/// How an acceptance criterion starts.
const ACCEPTANCE: [&str; 9] = [
    "acceptance",
    "verified by",
    "verify",
    "expected",
    "done when",
    "check:",
    "test:",
    "success",
    "criteria",
];

/// The kind of a piece: a heading, a list item without indentation, or other text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StepPieceKind {
    Heading(usize),
    Item,
    Text,
}

#[derive(Clone, Copy, Debug)]
struct StepPiece<'t> {
    kind: StepPieceKind,
    text: &'t str,
    is_done: bool,
}

/// Splits a text into pieces that cover all of it. Code blocks are not split.
fn pieces(text: &str) -> Vec<StepPiece<'_>> {
    let mut starts: Vec<(usize, StepPieceKind)> = Vec::new();
    let mut fence: Option<&str> = None;
    let mut at = 0;
    let mut after_blank = true;
    for line in text.split_inclusive('\n') {
        let content = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| content.starts_with(mark));
        let inside = fence.is_some();
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (Some(_) | None, _) => {}
        }
        let indented = line.starts_with([' ', '\t']);
        let last = starts.last().map(|(_, kind)| *kind);
        let kind = if inside {
            None
        } else if let Some(level) = heading_level(line) {
            Some(StepPieceKind::Heading(level))
        } else if is_item(line) {
            Some(StepPieceKind::Item)
        } else if !indented
            && after_blank
            && !line.trim().is_empty()
            && last == Some(StepPieceKind::Item)
        {
            Some(StepPieceKind::Text)
        } else {
            None
        };
        match kind {
            Some(kind) => starts.push((at, kind)),
            None if starts.is_empty() => starts.push((0, StepPieceKind::Text)),
            None if matches!(last, Some(StepPieceKind::Heading(_))) => {
                starts.push((at, StepPieceKind::Text));
            }
            None => {}
        }
        after_blank = line.trim().is_empty();
        at += line.len();
    }
    let ends = starts.iter().skip(1).map(|(start, _)| *start).chain([text.len()]);
    let piece = |((start, kind), end): (&(usize, StepPieceKind), usize)| {
        let text = &text[*start..end];
        StepPiece { kind: *kind, text, is_done: *kind != StepPieceKind::Text && is_done(text) }
    };
    starts.iter().zip(ends).map(piece).collect()
}

fn heading_level(line: &str) -> Option<usize> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    ((1..=6).contains(&level) && line[level..].starts_with(' ')).then_some(level)
}

/// Whether a line begins a list item without indentation.
pub(super) fn is_item(line: &str) -> bool {
    item_text(line).is_some()
}

/// The text of a list item, if the line begins one without indentation.
fn item_text(line: &str) -> Option<&str> {
    if let Some(rest) = ["- ", "* ", "+ ", "• "].iter().find_map(|mark| line.strip_prefix(mark)) {
        return Some(rest);
    }
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = rest.len() < line.len();
    rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") ")).filter(|_| numbered)
}

/// Whether the first line of a heading or list item is marked as done.
fn is_done(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default();
    let level = heading_level(line).unwrap_or(0);
    let line = &line[level..];
    let content = item_text(line).unwrap_or(line);
    let numbered = |text: &str| item_text(text.trim_start()).map(str::to_owned);
    let content = numbered(content).unwrap_or_else(|| content.to_owned());
    let plain = content.trim_matches(['*', '_', ' ', ':', '.']).to_lowercase();
    let plain = plain.trim();
    DONE_PREFIXES.iter().any(|mark| plain.starts_with(&mark.to_lowercase()))
        || DONE_SUFFIXES.iter().any(|mark| plain.ends_with(mark))
        || is_struck_out(plain)
}

/// Whether a line is struck out, apart from a remark after it.
fn is_struck_out(line: &str) -> bool {
    let Some(rest) = line.strip_prefix("~~") else { return false };
    rest.rfind("~~").is_some_and(|close| {
        let remark = rest[close + 2..].trim_matches(['*', '_', ' ', ':', '.']);
        remark.is_empty()
            || remark.starts_with(['(', '—', '–', '-', '✅', '✔', '✓', '→'])
            || remark.starts_with("done")
    })
}

/// A text without its done steps; `None` if it has steps and all of them are done.
pub(crate) fn without_done_steps(text: &str) -> Option<String> {
    let pieces = pieces(text);
    if !pieces.iter().any(|piece| piece.is_done) {
        return Some(text.to_owned());
    }
    let left = open_pieces(&pieces);
    let has_steps = left.iter().any(|piece| piece.kind != StepPieceKind::Text);
    let text: String = left.iter().map(|piece| piece.text).collect();
    (has_steps && !text.trim().is_empty()).then(|| text.trim_end().to_owned())
}

/// The pieces that are neither done nor below a done heading.
fn open_pieces<'t>(pieces: &[StepPiece<'t>]) -> Vec<StepPiece<'t>> {
    let mut done_below: Option<usize> = None;
    let mut left = Vec::new();
    for piece in pieces {
        if let StepPieceKind::Heading(level) = piece.kind
            && done_below.is_none_or(|done| level <= done)
        {
            done_below = piece.is_done.then_some(level);
        }
        if done_below.is_none() && !piece.is_done {
            left.push(*piece);
        }
    }
    left
}

/// The first open step with its acceptance criterion: a list item, or a heading with its content if
/// the steps are headings.
pub(crate) fn first_open_step(text: &str) -> Option<String> {
    let all = pieces(text);
    let first = all.iter().find(|piece| piece.kind != StepPieceKind::Text)?;
    let left = open_pieces(&all);
    if let StepPieceKind::Heading(level) = first.kind {
        let at = left.iter().position(|piece| piece.kind == StepPieceKind::Heading(level))?;
        let ends = |piece: &StepPiece<'_>| matches!(piece.kind, StepPieceKind::Heading(other) if other <= level);
        let rest = left[at + 1..].iter().take_while(|piece| !ends(piece));
        let step: String =
            std::iter::once(left[at].text).chain(rest.map(|piece| piece.text)).collect();
        return Some(step.trim().to_owned());
    }
    let at = left.iter().position(|piece| piece.kind == StepPieceKind::Item)?;
    let mut step = left[at].text.to_owned();
    let following = left.get(at + 1).filter(|piece| piece.kind == StepPieceKind::Text);
    if let Some(following) = following.filter(|piece| is_acceptance(piece.text)) {
        step.push_str(following.text);
    }
    Some(step.trim().to_owned())
}

fn is_acceptance(text: &str) -> bool {
    let plain = text.trim_start_matches(['*', '_', ' ', '>']).to_lowercase();
    ACCEPTANCE.iter().any(|word| plain.starts_with(word))
}

/// Splits a text into its list items, or into its headings with their content. A text without
/// either is one item.
pub fn split_items(text: &str) -> Vec<String> {
    let pieces = pieces(text);
    let first = pieces.iter().find(|piece| piece.kind != StepPieceKind::Text);
    let Some(first) = first.map(|piece| piece.kind) else { return vec![text.trim().to_owned()] };
    let begins = |piece: &StepPiece<'_>| match (piece.kind, first) {
        (StepPieceKind::Heading(level), StepPieceKind::Heading(outer)) => level <= outer,
        (StepPieceKind::Item | StepPieceKind::Heading(_), StepPieceKind::Item) => true,
        (StepPieceKind::Item | StepPieceKind::Text, _)
        | (StepPieceKind::Heading(_), StepPieceKind::Text) => false,
    };
    let mut found: Vec<String> = Vec::new();
    let mut intro = true;
    for piece in &pieces {
        if begins(piece) {
            intro = false;
            found.push(piece.text.to_owned());
        } else if intro {
            // Text before the list becomes a separate item.
            found.push(piece.text.to_owned());
        } else if let Some(last) = found.last_mut() {
            last.push_str(piece.text);
        }
    }
    let trimmed = found.into_iter().map(|text| text.trim().to_owned());
    let mut found: Vec<String> = trimmed.filter(|text| !text.is_empty()).collect();
    // A sentence that only announces the list is not an item.
    if found.len() > 1 && found[0].ends_with([':', '：']) && !is_item(&found[0]) {
        found.remove(0);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_open_step_is_next() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(first_open_step(text).as_deref(), expected, "{text}");
        };
        let ticked = "Some words.\n\n- [x] One\n- [ ] Two\n  in two lines\n- [ ] Three\n";
        check(ticked, Some("- [ ] Two\n  in two lines"));
        check("1. ~~One~~\n2. Two\n", Some("2. Two"));
        check("1. ~~One~~ (done)\n2. ✅ Two\n3. Three ✅\n4. **Four**\n", Some("4. **Four**"));
        check("1. ~~Use a lock~~ Use a queue\n2. Two\n", Some("1. ~~Use a lock~~ Use a queue"));
        check("1) One\n   - below\n2) Two\n", Some("1) One\n   - below"));
        check("- [x] One\n", None);
        check("14 ms is too much.\n", None);
        check("1. One\n\nAcceptance: it runs.\n\n2. Two\n", Some("1. One\n\nAcceptance: it runs."));
        check("1. One\n\nBy the way.\n\n2. Two\n", Some("1. One"));
        check(
            "### Step 1: a ✅\n\nx\n\n### Step 2: b\n\n- y\n\nExpected: z\n\n### Step 3\n",
            Some("### Step 2: b\n\n- y\n\nExpected: z"),
        );
        check("- ✅ **Done**: a\n- **b** [x]\n- c\n", Some("- c"));
    }

    #[test]
    fn done_steps_are_omitted_and_code_is_kept() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(without_done_steps(text).as_deref(), expected, "{text}");
        };
        check("- [x] a\n- b\n", Some("- b"));
        check("- [x] a\n- ✅ b\n", None);
        check("Run:\n\n```sh\n- [x] no item\n```\n", Some("Run:\n\n```sh\n- [x] no item\n```\n"));
        check("### a ✅\n\n- x\n\n### b\n\n- y\n", Some("### b\n\n- y"));
        check("Text only.", Some("Text only."));
    }

    #[test]
    fn a_list_is_split_into_items() {
        let check =
            |text: &str, expected: &[&str]| assert_eq!(split_items(text), expected, "{text}");
        check("- a\n- b\n  c\n", &["- a", "- b\n  c"]);
        check("Two things:\n\n1. a\n2. b\n", &["1. a", "2. b"]);
        check("It is slow.\n\n- a\n", &["It is slow.", "- a"]);
        check("### One\n\n- a\n\n### Two\n\nb\n", &["### One\n\n- a", "### Two\n\nb"]);
        check("One.\n\nTwo.", &["One.\n\nTwo."]);
    }
}
