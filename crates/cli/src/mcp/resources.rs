//! MCP resources, which users can attach in a client: the briefing and every handoff.

use super::caller::{self, Caller};
use super::era::ProtocolEra;
use super::message::RpcError;
use super::reply::{self, ToolReply, with_withheld_note};
use super::uri;
use midstride::verbs::{self, BriefRequest};
use midstride::workspace::Workspace;
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::text::sanitize;
use serde_json::{Value, json};

/// The number of resources per page.
const PAGE_SIZE: usize = 100;
const MARKDOWN: &str = "text/markdown";

/// The result of `resources/list`, one page. Documents are listed by path, without reading them.
pub(super) fn list(caller: &Caller, parameters: &Value) -> Result<Value, RpcError> {
    let cursor = &parameters["cursor"];
    let from = if cursor.is_null() { Some("0") } else { cursor.as_str() };
    let from: usize = from
        .and_then(|from| from.parse().ok())
        .ok_or_else(|| RpcError::invalid_params("`cursor` was not issued by this server"))?;
    // If the project is not set up, the list is empty. The tools report how to set it up.
    let Ok(store) = caller.store() else { return Ok(json!({"resources": []})) };
    let workspace = store.workspace();
    let mut all = vec![json!({
        "uri": uri::BRIEFING,
        "name": "briefing",
        "description": "What the next session needs to know",
        "mimeType": MARKDOWN,
    })];
    all.extend(document_paths(workspace).into_iter().map(|place| {
        json!({"uri": format!("{}{}", uri::HANDOFF, uri::encode(&place)), "name": sanitize(&place), "mimeType": MARKDOWN})
    }));
    let page: Vec<&Value> = all.iter().skip(from).take(PAGE_SIZE).collect();
    let mut result = json!({"resources": page});
    let next = from.saturating_add(PAGE_SIZE);
    if next < all.len() {
        result["nextCursor"] = next.to_string().into();
    }
    Ok(result)
}

/// The paths of the project's documents, relative to its root.
fn document_paths(workspace: &Workspace) -> Vec<String> {
    let places = workspace.document_places().into_iter().filter_map(Result::ok);
    let paths =
        places.map(|place| workspace.display_path(&place)).filter(|path| path.is_relative());
    let mut places: Vec<String> = paths.map(|path| path.display().to_string()).collect();
    places.sort();
    places
}

/// The result of `resources/templates/list`: the address of a handoff by its id.
pub(super) fn templates() -> Value {
    json!({"resourceTemplates": [{
        "uriTemplate": format!("{}{{id}}", uri::HANDOFF),
        "name": "handoff",
        "description": "A handoff by id, id prefix, `id/stage`, or path",
        "mimeType": MARKDOWN,
    }]})
}

/// The result of `resources/read`.
pub(super) fn read(
    caller: &Caller,
    parameters: &Value,
    era: ProtocolEra,
) -> Result<Value, RpcError> {
    let wanted = parameters["uri"].as_str();
    let wanted = wanted.ok_or_else(|| RpcError::invalid_params("`uri` must be a string"))?;
    let text = resource_text(caller, wanted).map_err(|why| {
        RpcError::resource_not_found(reply::format_error(caller, &why), era == ProtocolEra::Modern)
    })?;
    Ok(json!({"contents": [{"uri": wanted, "mimeType": MARKDOWN, "text": text}]}))
}

fn resource_text(caller: &Caller, wanted: &str) -> Result<String, Diagnostic> {
    let name = wanted.strip_prefix(uri::HANDOFF).and_then(uri::decode);
    let name = match (wanted, name) {
        (uri::BRIEFING, _) => {
            let briefed = verbs::brief(&caller.store()?, &BriefRequest::default(), &mut |_, _| ());
            return Ok(with_withheld_note(caller, briefed.briefing.text));
        }
        (_, Some(name)) => name,
        (_, None) => {
            return Err(Diagnostic::new(format!("unknown resource `{}`", sanitize(wanted))).hint(
                format!("use `{}`, or `{}` followed by an id", uri::BRIEFING, uri::HANDOFF),
            ));
        }
    };
    let store = caller.store()?;
    let stored = caller::find(store.workspace(), &name)?;
    let key = stored.handoff(store.workspace()).key();
    let source = format!("Handoff {key} ({})", stored.path.display());
    let text = String::from_utf8_lossy(&stored.bytes);
    Ok(ToolReply::default().with_quoted(&source, &text).into_text())
}
