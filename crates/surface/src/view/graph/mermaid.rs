//! Renders the graph as Mermaid. Text from documents only ever becomes label text.

use super::{GraphView, dangling_problem, status_word};
use crate::view::one_line;
use midstride_core::handoff::graph::{Edge, EdgeKind};
use std::collections::BTreeSet;

/// The width at which titles are truncated, to keep boxes readable.
const TITLE_WIDTH: usize = 60;
/// The maximum number of files named on a connection.
const FILES_SHOWN: usize = 3;

/// A Mermaid flowchart.
pub fn mermaid(shown: &GraphView<'_>) -> String {
    let mut out = String::from("flowchart LR\n");
    let mut ended = Vec::new();
    for (index, node) in shown.part.nodes.iter().enumerate() {
        let title = node.title.as_deref().map(|title| label(&one_line(title, TITLE_WIDTH)));
        let title = title.map_or_else(String::new, |title| format!("<br/>{title}"));
        let name = label(&format!("{} ({})", shown.key(index), status_word(node)));
        out.push_str(&format!("    h{index}[\"{name}{title}\"]\n"));
        if node.is_closed() {
            ended.push(format!("h{index}"));
        }
    }
    let lines: Vec<String> = shown.part.edges.iter().map(edge).collect();
    let mut drawn = BTreeSet::new();
    out.extend(lines.into_iter().filter(|line| drawn.insert(line.clone())));
    for (index, dangling) in shown.part.dangling.iter().enumerate() {
        let by = dangling.location.node;
        out.push_str(&format!("    d{index}[[\"{}\"]]\n", label(&dangling_problem(dangling))));
        out.push_str(&format!("    h{by} -.-x d{index}\n"));
    }
    if !ended.is_empty() {
        out.push_str("    classDef ended stroke-dasharray: 4\n");
        out.push_str(&format!("    class {} ended\n", ended.join(",")));
    }
    out
}

/// An edge. Its arrow points from the earlier handoff to the later one, or from a handoff to the
/// one it mentions.
fn edge(edge: &Edge) -> String {
    let (from, to) = (edge.from, edge.to);
    let details = edge.details.iter().take(FILES_SHOWN).map(|detail| one_line(detail, TITLE_WIDTH));
    let details = label(&details.collect::<Vec<_>>().join(", "));
    let more = edge.details.len().saturating_sub(FILES_SHOWN);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    match edge.kind {
        EdgeKind::Upstream | EdgeKind::Downstream => {
            let (first, then) =
                if edge.kind == EdgeKind::Upstream { (from, to) } else { (to, from) };
            let word = if details.is_empty() { "leads to".to_owned() } else { details };
            format!("    h{first} -->|\"{word}\"| h{then}\n")
        }
        EdgeKind::Supersedes => format!("    h{to} ==>|\"superseded by\"| h{from}\n"),
        EdgeKind::Mentions => format!("    h{from} -.->|\"mentions\"| h{to}\n"),
        EdgeKind::Shares => format!("    h{from} ---|\"shares {details}{more}\"| h{to}\n"),
    }
}

/// Escapes a text for Mermaid. Every character that could end a label, start a directive or act as
/// markup becomes a numeric entity.
fn label(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || " .,-_/".contains(c);
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_plain(c) {
            out.push(c);
        } else if c.is_whitespace() {
            out.push(' ');
        } else {
            out.push_str(&format!("#{};", u32::from(c)));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_escape_its_label() {
        for hostile in [
            "\"] --> x[\"",
            "end",
            "`**md**`",
            "a\nb\r\nclick h0 href \"javascript:x\"",
            "%%{init: {}}%%",
            "<script>&lt;",
            "#quot;#34;",
            "style h0 fill:#fff;",
            "[(x)] {y} |z| \\",
        ] {
            let text = label(hostile);
            let strange = |c: char| !c.is_alphanumeric() && !" .,-_/#;".contains(c);
            assert!(!text.contains(strange), "{text}");
            // Every `#` must start a numeric entity that ends with `;`.
            for (nth, piece) in text.split('#').enumerate() {
                let number = piece.split_once(';').map_or("", |(number, _)| number);
                let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
                assert_eq!(is_number, nth > 0, "{text}");
                assert!(piece.matches(';').count() <= 1, "{text}");
            }
        }
        assert_eq!(label("Größe 14 s"), "Größe 14 s");
    }
}
