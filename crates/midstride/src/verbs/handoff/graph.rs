//! Builds the graph of how all handoffs are connected. Reads each document once.

use crate::sys::files::FileError;
use crate::workspace::{
    Catalog, DocumentPlace, DocumentSelection, FindError, StoredHandoff, Workspace,
};
use midstride_core::handoff::graph::{Graph, LinkFacts, Reference, ReferenceTarget};
use std::collections::{HashMap, HashSet};

/// How the handoffs of a project are connected.
#[derive(Debug)]
pub struct ProjectGraph {
    /// The graph of all handoffs.
    pub graph: Graph,
    /// The positions of the handoffs that were named.
    pub named: Vec<usize>,
    /// The files that could not be read.
    pub unread: Vec<FileError>,
}

/// Connects all handoffs of a project, and the named ones outside its folders.
pub fn graph(workspace: &Workspace, names: &[String]) -> Result<ProjectGraph, FindError> {
    let catalog = Catalog::new(workspace);
    let mut unread = Vec::new();
    let mut places: HashMap<String, DocumentPlace> = HashMap::new();
    let mut facts = Vec::new();
    for read in catalog.map_all(|stored| read_facts(workspace, &stored)) {
        match read {
            Ok((place, found)) => {
                places.insert(found.path.clone(), place);
                facts.push(found);
            }
            Err(error) => unread.push(error),
        }
    }
    let mut named: HashSet<String> = HashSet::new();
    for stored in select_documents(workspace, names, &mut unread)? {
        let found = read_facts(workspace, &stored);
        named.insert(found.path.clone());
        if !places.contains_key(&found.path) {
            places.insert(found.path.clone(), stored.document_place());
            facts.push(found);
        }
    }
    let lead = |facts: &LinkFacts, reference: &Reference| {
        let place = places.get(&facts.path);
        place.map_or(ReferenceTarget::Missing, |place| {
            catalog.resolve_reference(place, &reference.written)
        })
    };
    let graph = Graph::build(facts, lead);
    let is_named = |node: &usize| named.contains(&graph.nodes[*node].path);
    let named = (0..graph.nodes.len()).filter(is_named).collect();
    Ok(ProjectGraph { graph, named, unread })
}

fn read_facts(workspace: &Workspace, stored: &StoredHandoff) -> LinkFacts {
    LinkFacts::from_handoff(&stored.handoff(workspace), stored.path.display().to_string())
}

/// The documents with these names. Empty if no name is given.
fn select_documents(
    workspace: &Workspace,
    names: &[String],
    unread: &mut Vec<FileError>,
) -> Result<Vec<StoredHandoff>, FindError> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let DocumentSelection { documents, unread: more } = workspace.select(names)?;
    unread.extend(more);
    Ok(documents)
}
