//! Finds the code spans of a Markdown text.

use std::collections::HashMap;

/// Returns the byte ranges of code spans, including their backticks. A span goes from a run of
/// backticks to the next run of the same length.
pub(super) fn code_spans(text: &str) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for (at, _) in text.match_indices('`') {
        match runs.last_mut() {
            Some((start, length)) if *start + *length == at => *length += 1,
            _ => runs.push((at, 1)),
        }
    }
    // Goes backward, so that one pass finds the next run of equal length for every run.
    let mut partner = vec![None; runs.len()];
    let mut seen: HashMap<usize, usize> = HashMap::new();
    for (index, (_, length)) in runs.iter().enumerate().rev() {
        partner[index] = seen.insert(*length, index);
    }
    let mut spans = Vec::new();
    let mut index = 0;
    while index < runs.len() {
        index = match partner[index] {
            Some(close) => {
                spans.push((runs[index].0, runs[close].0 + runs[close].1));
                close + 1
            }
            None => index + 1,
        };
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_spans_pair_runs_of_equal_length() {
        let check = |text: &str, expected: &[&str]| {
            let spans: Vec<&str> = code_spans(text).iter().map(|(a, b)| &text[*a..*b]).collect();
            assert_eq!(spans, expected, "{text}");
        };
        check("a `b` c ``d`e`` f ` g", &["`b`", "``d`e``"]);
        check("it`s", &[]);
    }
}
