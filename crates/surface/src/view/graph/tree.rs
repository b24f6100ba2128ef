//! Renders the graph for users: trees, and the problems below them.

use super::{GraphView, ORPHANS_HINT, dangling_problem, status_word};
use crate::view::{count, display_path, heading, one_line};
use midstride_core::handoff::graph::{
    Edge, EdgeKind, Hub, LinePlacement, ReferenceLocation, TreeLine,
};
use std::collections::BTreeMap;
use std::path::Path;
use unicode_width::UnicodeWidthStr as _;

/// The minimum width of a line's text, however deep it is nested.
const TEXT_WIDTH_MIN: usize = 40;
/// The width of one level of guides.
const GUIDE_WIDTH: usize = 3;
/// The width at which relationships are truncated. They should be a word, but may be a sentence.
const RELATIONSHIP_WIDTH: usize = 30;

/// Trees of handoffs, then shared files, cycles, dangling references and orphans.
pub fn tree(shown: &GraphView<'_>) -> String {
    let files = format!("{}{}", shared_files(shown), hubs(shown));
    let files = section("Shared files", std::iter::once(files));
    let sections = [trees(shown), files, cycles(shown), dangling(shown), orphans(shown)];
    let sections: Vec<String> = sections.into_iter().filter(|text| !text.is_empty()).collect();
    sections.join("\n")
}

fn trees(shown: &GraphView<'_>) -> String {
    let lines = shown.part.tree_lines();
    let between = shown.part.edges_by_pair();
    let guides = guides(&lines, shown.width().saturating_sub(TEXT_WIDTH_MIN));
    let mut out = String::new();
    for (line, guide) in lines.iter().zip(&guides) {
        let left = shown.width().saturating_sub(guide.width()).max(TEXT_WIDTH_MIN);
        let words = line.parent.map_or_else(String::new, |parent| {
            let pair = (parent.min(line.node), parent.max(line.node));
            edge_words(parent, &between[&pair])
        });
        let text = one_line(&format!("{words}{}", node_label(shown, line)), left);
        let dim = anstyle::Style::new().dimmed();
        let is_dim = line.placement != LinePlacement::Here || shown.node(line.node).is_closed();
        out.push_str(&match is_dim {
            true => format!("{guide}{dim}{text}{dim:#}\n"),
            false => format!("{guide}{text}\n"),
        });
    }
    out
}

fn node_label(shown: &GraphView<'_>, line: &TreeLine) -> String {
    let key = shown.key(line.node);
    match line.placement {
        LinePlacement::Above => format!("{key} (see above)"),
        LinePlacement::Below => format!("{key} (see below)"),
        LinePlacement::Here => node_description(shown, line.node),
    }
}

/// The key, status and title of a handoff.
fn node_description(shown: &GraphView<'_>, node: usize) -> String {
    let title = shown.node(node).title.as_deref().unwrap_or("(no title)");
    let title = one_line(title, shown.width());
    format!("{}  {}  {title}", shown.key(node), status_word(shown.node(node)))
}

/// How a handoff is connected to its parent, seen from the parent.
fn edge_words(parent: usize, edges: &[&Edge]) -> String {
    let mut groups: BTreeMap<(EdgeKind, &str), Vec<&str>> = BTreeMap::new();
    for edge in edges {
        let leads = edge.flow().is_some_and(|(first, _)| first == parent);
        let word = match (edge.kind, leads) {
            // Either side may declare the relationship; the meaning is the same.
            (EdgeKind::Upstream | EdgeKind::Downstream, true) => (EdgeKind::Upstream, "leads to"),
            (EdgeKind::Upstream | EdgeKind::Downstream, false) => (EdgeKind::Upstream, "builds on"),
            (EdgeKind::Supersedes, true) => (EdgeKind::Supersedes, "superseded by"),
            (EdgeKind::Supersedes, false) => (EdgeKind::Supersedes, "supersedes"),
            (EdgeKind::Mentions, true) => (EdgeKind::Mentions, "mentioned by"),
            (EdgeKind::Mentions, false) => (EdgeKind::Mentions, "mentions"),
            // Shared files do not form a tree.
            (EdgeKind::Shares, _) => continue,
        };
        groups.entry(word).or_default().extend(edge.details.iter().map(String::as_str));
    }
    let phrases = groups.iter().map(|((_, word), details)| phrase(word, details));
    format!("{} ", phrases.collect::<Vec<_>>().join(" and "))
}

fn phrase(word: &str, details: &[&str]) -> String {
    if details.is_empty() {
        return word.to_owned();
    }
    let details = details.iter().map(|detail| one_line(detail, RELATIONSHIP_WIDTH));
    format!("{word} ({})", details.collect::<Vec<_>>().join(", "))
}

/// The guides in front of each line, which connect it to its parent. Deeply nested lines lose their
/// outer guides.
fn guides(lines: &[TreeLine], width: usize) -> Vec<String> {
    let shown = (width / GUIDE_WIDTH).max(1);
    // Whether another line follows at each depth, from the last line up.
    let mut follows: Vec<bool> = Vec::new();
    let mut guides: Vec<String> = Vec::with_capacity(lines.len());
    for line in lines.iter().rev() {
        follows.resize(line.depth + 1, false);
        let hidden = line.depth.saturating_sub(shown);
        let mut guide = if hidden > 0 { "…  ".to_owned() } else { String::new() };
        for follows in follows[..line.depth].iter().skip(hidden + 1) {
            guide.push_str(if *follows { "│  " } else { "   " });
        }
        if line.depth > 0 {
            guide.push_str(if follows[line.depth] { "├─ " } else { "└─ " });
        }
        follows[line.depth] = true;
        guides.push(guide);
    }
    guides.reverse();
    guides
}

fn shared_files(shown: &GraphView<'_>) -> String {
    let entries = shown.part.shared_files().into_iter().map(|shared| {
        let keys: Vec<String> = shared.cited_by.iter().map(|node| shown.key(*node)).collect();
        let files = shared
            .files
            .iter()
            .map(|file| format!("    {}\n", one_line(file, shown.width().saturating_sub(4))));
        format!("  {}\n{}", keys.join(", "), files.collect::<String>())
    });
    entries.collect()
}

fn hubs(shown: &GraphView<'_>) -> String {
    let line = |hub: &Hub| {
        let cited = count(hub.cited_by.len(), "handoff");
        format!("    {}  by {cited}\n", one_line(&hub.file, shown.width()))
    };
    let lines: String = shown.part.hubs.iter().map(line).collect();
    if lines.is_empty() {
        lines
    } else {
        format!("  cited by too many handoffs to count as a connection\n{lines}")
    }
}

fn cycles(shown: &GraphView<'_>) -> String {
    let cycles = shown.part.cycles();
    let lines = cycles.iter().map(|cycle| {
        let round = cycle.iter().chain(cycle.first());
        let keys: Vec<String> = round.map(|node| shown.key(*node)).collect();
        let edges = shown.part.cycle_edges(cycle);
        let places = edges.iter().filter_map(|edge| Some(reference_place(shown, edge.location?)));
        let places = places.collect::<Vec<_>>().join(", ");
        let next = shown.cycle_hint(&edges);
        format!("  {}\n    according to {places}\n    next: {next}\n", keys.join(" → "))
    });
    section("Cycles", lines)
}

fn dangling(shown: &GraphView<'_>) -> String {
    let lines = shown.part.dangling.iter().map(|dangling| {
        let place = reference_place(shown, dangling.location);
        let trouble = one_line(&dangling_problem(dangling), shown.width());
        format!("  {place}  {trouble}\n    next: {}\n", shown.dangling_hint(dangling))
    });
    section("Dangling references", lines)
}

fn orphans(shown: &GraphView<'_>) -> String {
    let orphans = shown.orphans();
    if orphans.is_empty() {
        return String::new();
    }
    let line = |node: &usize| {
        format!(
            "  {}\n",
            one_line(&node_description(shown, *node), shown.width().saturating_sub(2))
        )
    };
    let next = format!("    next: {ORPHANS_HINT}\n");
    section("Orphans", orphans.iter().map(line).chain([next]))
}

fn section(name: &str, lines: impl Iterator<Item = String>) -> String {
    let lines: String = lines.collect();
    if lines.is_empty() { lines } else { format!("{}{lines}", heading(name)) }
}

fn reference_place(shown: &GraphView<'_>, location: ReferenceLocation) -> String {
    let path = display_path(shown.workspace, Path::new(&shown.node(location.node).path));
    format!("{path}:{}", location.line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(depths: &[usize], width: usize) -> Vec<String> {
        let line = |depth: &usize| TreeLine {
            node: 0,
            parent: None,
            depth: *depth,
            placement: LinePlacement::Here,
        };
        guides(&depths.iter().map(line).collect::<Vec<_>>(), width)
    }

    #[test]
    fn guides_connect_each_line_to_its_parent() {
        let expected = ["", "├─ ", "│  ├─ ", "│  └─ ", "└─ ", "   └─ ", "", "└─ "];
        assert_eq!(drawn(&[0, 1, 2, 2, 1, 2, 0, 1], 60), expected);
    }

    #[test]
    fn deeply_nested_lines_lose_their_outer_guides() {
        assert_eq!(drawn(&[0, 1, 2, 3, 1], 6), ["", "├─ ", "│  └─ ", "…     └─ ", "└─ "]);
        assert_eq!(drawn(&[0, 1, 2], 0), ["", "└─ ", "…  └─ "]);
    }
}
