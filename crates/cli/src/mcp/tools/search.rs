//! Find handoffs by what they say.

use super::{Arguments, Caller, Kind, OFFSET, Parameter, Reply, Tool};
use crate::diagnostic::Diagnostic;
use crate::view;
use midstride::index::Filter;
use midstride::verbs::{self, Search};
use midstride_core::header::Status;
use midstride_core::search::Query;

pub(super) const TOOL: Tool = Tool {
    name: "search",
    says: "Find handoffs; all words have to be there",
    only_reads: true,
    parameters: &[
        Parameter::needed("words", Kind::Text, "`mark*` and `\"a phrase\"` work"),
        Parameter::new("status", Kind::Word(&STATUS), ""),
        Parameter::new("limit", Kind::Number, "Default 10"),
        OFFSET,
    ],
    call: search,
};

const STATUS: [&str; 5] = ["planned", "in_progress", "resolved", "superseded", "abandoned"];
const HITS: usize = 10;
const HITS_MAX: usize = 100;

fn search(caller: &Caller, arguments: &Arguments) -> Result<Reply, Diagnostic> {
    let project = caller.project()?;
    let words = arguments.needed("words");
    let status = arguments.text("status").and_then(Status::read);
    let wanted = Search {
        query: Query::read(words)?,
        filter: Filter { status, ..Filter::default() },
        limit: arguments.place("limit").unwrap_or(HITS).clamp(1, HITS_MAX),
        fresh: false,
    };
    let found = verbs::search(&project, &wanted, &mut |_, _| ());
    if found.hits.is_empty() {
        let remarks = view::search::remarks(&found, &[words.to_owned()], status.is_some());
        return Ok(remarks.iter().fold(Reply::default(), Reply::and));
    }
    let text = view::search::text(&project, &found);
    let source = view::count(found.hits.len(), "handoff");
    let reply = Reply::default().carries(&source, &text, arguments.place("offset").unwrap_or(0));
    Ok(if found.more { reply.and("There are more; raise `limit`.") } else { reply })
}
