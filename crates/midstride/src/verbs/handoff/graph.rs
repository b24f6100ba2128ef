//! Find how all handoffs are connected. Each document is read once.

use crate::sys::files::FileError;
use crate::workspace::project::{
    DocumentPlace, DocumentSelection, FindError, Project, StoredHandoff,
};
use midstride_core::handoff::graph::{Graph, LinkFacts, Reference, ReferenceTarget};
use std::collections::{HashMap, HashSet};

/// How the handoffs of a project are connected.
#[derive(Debug)]
pub struct ProjectGraph {
    /// All of them.
    pub graph: Graph,
    /// The positions of those that were named.
    pub named: Vec<usize>,
    /// What could not be read.
    pub unread: Vec<FileError>,
}

/// Connects all handoffs of a project, and those that are named if they lie elsewhere.
pub fn graph(project: &Project, names: &[String]) -> Result<ProjectGraph, FindError> {
    let mut unread = Vec::new();
    let mut spots: HashMap<String, DocumentPlace> = HashMap::new();
    let mut facts = Vec::new();
    for read in project.map_all_in_catalog(|shelved| read_facts(project, &shelved)) {
        match read {
            Ok((spot, told)) => {
                spots.insert(told.path.clone(), spot);
                facts.push(told);
            }
            Err(error) => unread.push(error),
        }
    }
    let mut named: HashSet<String> = HashSet::new();
    for shelved in select_documents(project, names, &mut unread)? {
        let told = read_facts(project, &shelved);
        named.insert(told.path.clone());
        if !spots.contains_key(&told.path) {
            spots.insert(told.path.clone(), shelved.document_place());
            facts.push(told);
        }
    }
    let lead = |facts: &LinkFacts, reference: &Reference| {
        let spot = spots.get(&facts.path);
        spot.map_or(ReferenceTarget::Missing, |spot| {
            project.resolve_reference(spot, &reference.written)
        })
    };
    let graph = Graph::build(facts, lead);
    let is_named = |node: &usize| named.contains(&graph.nodes[*node].path);
    let named = (0..graph.nodes.len()).filter(is_named).collect();
    Ok(ProjectGraph { graph, named, unread })
}

fn read_facts(project: &Project, shelved: &StoredHandoff) -> LinkFacts {
    LinkFacts::from_handoff(&shelved.handoff(project), shelved.path.display().to_string())
}

/// The documents of some names; none where none is given.
fn select_documents(
    project: &Project,
    names: &[String],
    unread: &mut Vec<FileError>,
) -> Result<Vec<StoredHandoff>, FindError> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let DocumentSelection { documents, unread: more } = project.select(names)?;
    unread.extend(more);
    Ok(documents)
}
