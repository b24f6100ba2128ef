//! Renders the graph as JSON. Handoffs are identified by path, because two may have the same key.

use super::{GraphView, ORPHANS_HINT, status_word};
use crate::json::JsonAnswer;
use midstride::sys::files::FileError;
use midstride_core::handoff::graph::{Edge, GraphNode, ReferenceLocation};
use serde::Serialize;

#[derive(Serialize)]
pub struct GraphJson {
    nodes: Vec<NodeJson>,
    edges: Vec<EdgeJson>,
    hubs: Vec<HubJson>,
    cycles: Vec<CycleJson>,
    dangling: Vec<DanglingReferenceJson>,
    orphans: OrphansJson,
    unread: Vec<String>,
}

impl JsonAnswer for GraphJson {
    const SCHEMA: &'static str = "graph/1";
}

#[derive(Serialize)]
struct NodeJson {
    key: String,
    title: Option<String>,
    status: String,
    path: String,
    ended: bool,
}

/// An edge, to be read as a sentence: `from` mentions `to`.
#[derive(Serialize)]
struct EdgeJson {
    from: String,
    kind: &'static str,
    to: String,
    details: Vec<String>,
    told: Option<ReferenceLocationJson>,
}

#[derive(Serialize)]
struct ReferenceLocationJson {
    path: String,
    line: usize,
}

#[derive(Serialize)]
struct HubJson {
    file: String,
    cited_by: Vec<String>,
}

#[derive(Serialize)]
struct CycleJson {
    handoffs: Vec<String>,
    told: Vec<ReferenceLocationJson>,
    next: String,
}

#[derive(Serialize)]
struct DanglingReferenceJson {
    path: String,
    line: usize,
    kind: &'static str,
    written: String,
    candidates: Vec<String>,
    next: String,
}

#[derive(Serialize)]
struct OrphansJson {
    handoffs: Vec<String>,
    next: Option<&'static str>,
}

/// The JSON for a graph and for files that could not be read.
pub fn json(shown: &GraphView<'_>, unread: &[FileError]) -> GraphJson {
    let path = |node: usize| shown.node(node).path.clone();
    let location = |location: ReferenceLocation| ReferenceLocationJson {
        path: path(location.node),
        line: location.line,
    };
    let node = |node: &GraphNode| NodeJson {
        key: node.key.to_string(),
        title: node.title.clone(),
        status: status_word(node),
        path: node.path.clone(),
        ended: node.is_closed(),
    };
    let edge = |edge: &Edge| EdgeJson {
        from: path(edge.from),
        kind: edge.kind.word(),
        to: path(edge.to),
        details: edge.details.clone(),
        told: edge.location.map(location),
    };
    let cycle = |cycle: Vec<usize>| {
        let edges = shown.part.cycle_edges(&cycle);
        CycleJson {
            next: shown.cycle_hint(&edges),
            told: edges.iter().filter_map(|edge| edge.location.map(location)).collect(),
            handoffs: cycle.into_iter().map(path).collect(),
        }
    };
    let dangling = shown.part.dangling.iter().map(|dangling| DanglingReferenceJson {
        path: path(dangling.location.node),
        line: dangling.location.line,
        kind: dangling.kind.word(),
        written: dangling.written.clone(),
        candidates: dangling.candidates.clone(),
        next: shown.dangling_hint(dangling),
    });
    let hubs = shown.part.hubs.iter().map(|hub| HubJson {
        file: hub.file.clone(),
        cited_by: hub.cited_by.iter().copied().map(path).collect(),
    });
    let orphans: Vec<String> = shown.orphans().into_iter().map(path).collect();
    GraphJson {
        nodes: shown.part.nodes.iter().map(node).collect(),
        edges: shown.part.edges.iter().map(edge).collect(),
        hubs: hubs.collect(),
        cycles: shown.part.cycles().into_iter().map(cycle).collect(),
        dangling: dangling.collect(),
        orphans: OrphansJson {
            next: (!orphans.is_empty()).then_some(ORPHANS_HINT),
            handoffs: orphans,
        },
        unread: unread.iter().map(ToString::to_string).collect(),
    }
}
