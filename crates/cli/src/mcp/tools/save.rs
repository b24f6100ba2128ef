//! The `save` tool: saves the session with its facts and reports what is missing.

use super::{Caller, McpTool, ParameterKind, ToolArguments, ToolParameter, ToolReply};
use midstride::store::Store;
use midstride::verbs::{
    self, AuthorRequest, SaveChange, SaveOutcome, SaveRequest, SaveSource, SessionChoice,
};
use midstride::workspace::Workspace;
use midstride_core::session::author_notes::AuthorNotes;
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view::Surface;
use midstride_surface::view::dismissable::dismissal_text;
use midstride_surface::view::save as view;
use serde_json::{Map, Value};

pub(super) const TOOL: McpTool = McpTool {
    name: "save",
    description: "Save this session as a handoff. Adds the facts and replies once with what is missing",
    is_read_only: false,
    parameters: &[
        ToolParameter::optional("title", ParameterKind::Text, "What it is about"),
        ToolParameter::optional("summary", ParameterKind::Text, "1-3 sentences"),
        ToolParameter::optional("decisions", ParameterKind::Texts, "`X because Y`"),
        ToolParameter::optional("wrong_turns", ParameterKind::Texts, "`X because Y; instead Z`"),
        ToolParameter::optional("landmines", ParameterKind::Texts, "Traps for the next session"),
        ToolParameter::optional("questions", ParameterKind::Texts, ""),
        ToolParameter::optional(
            "blocking_questions",
            ParameterKind::Texts,
            "Questions that block the work",
        ),
        ToolParameter::optional("next", ParameterKind::Texts, "In order"),
        ToolParameter::optional("constraints", ParameterKind::Texts, "Rules to follow"),
        ToolParameter::optional("assumptions", ParameterKind::Texts, ""),
        ToolParameter::optional("read", ParameterKind::Texts, "Paths to read first"),
        ToolParameter::optional("skills", ParameterKind::Texts, "To load first: `name arguments`"),
        ToolParameter::optional("tasks", ParameterKind::Texts, "Tasks to restore"),
        ToolParameter::optional("role", ParameterKind::Text, "Your role"),
        ToolParameter::optional(
            "pattern",
            ParameterKind::Text,
            "How you work: alone, agents, pipeline",
        ),
        ToolParameter::optional("waiting_for", ParameterKind::Text, ""),
        ToolParameter::optional("body", ParameterKind::Text, "Additional text, in Markdown"),
        ToolParameter::optional(
            "settled",
            ParameterKind::Texts,
            "Handles of items that are done, such as `kf7q`",
        ),
        ToolParameter::optional("handoff", ParameterKind::Text, "Id of the handoff to save into"),
        ToolParameter::optional("session", ParameterKind::Text, "Session id, or `none`"),
        ToolParameter::optional(
            "accept",
            ParameterKind::Text,
            "Why the missing parts are acceptable",
        ),
        ToolParameter::optional(
            "inherit",
            ParameterKind::Text,
            "Would you inherit this with zero context? `yes`, or `no: why`",
        ),
        ToolParameter::optional(
            "finds_plans",
            ParameterKind::Text,
            "Will the next agent find the plans? `yes`, or `no: why`",
        ),
    ],
    call: save,
};

/// The names of the author's notes, the same on every surface.
const NOTE_PARAMETERS: [&str; 17] = [
    "title",
    "summary",
    "decisions",
    "wrong_turns",
    "landmines",
    "questions",
    "blocking_questions",
    "next",
    "constraints",
    "assumptions",
    "read",
    "skills",
    "tasks",
    "role",
    "pattern",
    "waiting_for",
    "body",
];
/// The two questions that the author answers last.
const REFLECTION: [&str; 2] = ["inherit", "finds_plans"];
/// The value of `session` that saves only facts from git and the tasks.
const NO_SESSION: &str = "none";

fn save(caller: &Caller, arguments: &ToolArguments) -> Result<ToolReply, Diagnostic> {
    let store = caller.store()?;
    let workspace = store.workspace();
    let settled = arguments.texts("settled");
    let names = [&NOTE_PARAMETERS[..], &REFLECTION, &["accept", "handoff"]].concat();
    if !settled.is_empty() && arguments.subset(&names).is_empty() {
        return Ok(settle_items(ToolReply::default(), &store, &settled));
    }
    let wanted = SaveRequest {
        source: save_source(caller, arguments),
        client: caller.client,
        author_notes: author_notes(arguments)?,
        id: arguments.owned_text("handoff"),
        accept: arguments.owned_text("accept"),
        by: Some(caller.name.clone()),
        is_agent: true,
    };
    // If git fails here, the handoff only lacks the latest observations.
    drop(verbs::observe(workspace));
    let saved = verbs::save(&store, &wanted)?;
    // Saving may have created the handoff folder, so open the project again.
    let store = caller.store()?;
    let workspace = store.workspace();
    let reply = save_reply(workspace, &saved, arguments.text("handoff"));
    let reply = settle_items(reply, &store, &settled);
    Ok(match saved.is_transcript_missing {
        true => reply.with_text(
            "No transcript was found for this session, so the facts come from git and the tasks.",
        ),
        false => reply,
    })
}

/// Closes the open items that the agent names, one by one, so that a wrong handle does not affect
/// the others.
fn settle_items(reply: ToolReply, store: &Store, handles: &[String]) -> ToolReply {
    handles.iter().fold(reply, |reply, handle| {
        reply.with_text(match verbs::settle(store, handle) {
            Ok(item) => dismissal_text(&item, false),
            Err(error) => error.to_string(),
        })
    })
}

fn save_source(caller: &Caller, arguments: &ToolArguments) -> SaveSource {
    let known = caller.session().map(|session| session.id.as_str());
    match (arguments.text("session"), known) {
        (Some(NO_SESSION), _) | (None, Some(NO_SESSION)) => SaveSource::NoSession,
        (Some(id), _) => SaveSource::Session(SessionChoice::Id(id.to_owned())),
        (None, Some(id)) => SaveSource::SessionIfFound(SessionChoice::Id(id.to_owned())),
        (None, None) => SaveSource::SessionIfFound(SessionChoice::Newest),
    }
}

fn author_notes(arguments: &ToolArguments) -> Result<AuthorNotes, Diagnostic> {
    let mut notes = arguments.subset(&NOTE_PARAMETERS);
    let reflection: Map<String, Value> = arguments.subset(&REFLECTION);
    if !reflection.is_empty() {
        notes.insert("reflection".to_owned(), Value::Object(reflection));
    }
    match (notes.is_empty(), arguments.text("accept")) {
        (true, Some(_)) => Ok(AuthorNotes::default()),
        (true, None) => Err(Diagnostic::new("nothing to save: no notes about the session").hint(
            "pass at least `summary` and `next`; midstride adds files, commands and commits",
        )),
        (false, _) => Ok(AuthorNotes::parse(&Value::Object(notes).to_string())?),
    }
}

fn save_reply(workspace: &Workspace, saved: &SaveOutcome, named: Option<&str>) -> ToolReply {
    let reply =
        ToolReply::from_text(view::written_text(workspace, saved)).with_redactions(&saved.redacted);
    let reply = match (&saved.change, named) {
        (SaveChange::New, Some(named)) => {
            reply.with_text(new_handoff_notice(named, saved.similar_id.as_deref()))
        }
        _ => reply,
    };
    let reply = match &saved.accepted {
        Some(reason) => reply.with_text(format!("Accepted as is: {reason}")),
        None => reply,
    };
    if saved.is_complete() {
        let reply = view::incomplete_notice(saved).into_iter().fold(reply, ToolReply::with_text);
        let reply = reply.with_text(view::completion_text(workspace, saved, Surface::Tools));
        return unanswered_questions(saved).into_iter().fold(reply, ToolReply::with_text);
    }
    let key = saved.stored.handoff(workspace).key().id;
    let reply = reply.with_text(view::missing_text(&saved.quality, Surface::Tools));
    let reply = unanswered_questions(saved).into_iter().fold(reply, ToolReply::with_text);
    reply.with_text(format!(
        "Saved. Call `save` once more with handoff `{key}` and only what is missing. midstride then accepts it as is."
    ))
}

/// Says that a new handoff was created, in case the agent meant an existing one with a similar
/// name.
fn new_handoff_notice(named: &str, similar: Option<&str>) -> String {
    let meant = similar.map(|similar| {
        format!(
            " If you meant `{similar}`, call `save` with that id, and `resolve` with `abandoned` for `{named}`."
        )
    });
    format!(
        "There was no handoff `{named}`, so a new one was created.{}",
        meant.unwrap_or_default()
    )
}

/// The questions the agent has not answered yet, if it is being asked.
fn unanswered_questions(saved: &SaveOutcome) -> Vec<String> {
    if saved.author_request != AuthorRequest::AskedNow {
        return Vec::new();
    }
    let asked = [
        (saved.reflection.inherit.is_none(), view::INHERIT_QUESTION, "inherit"),
        (saved.reflection.finds_plans.is_none(), view::FINDS_PLANS_QUESTION, "finds_plans"),
    ];
    let open = asked.into_iter().filter(|(is_open, ..)| *is_open);
    open.map(|(_, question, name)| format!("Not answered: {question} (`{name}`)")).collect()
}
