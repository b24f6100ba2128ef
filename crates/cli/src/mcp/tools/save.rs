//! Save the session: the facts are added, and the gate says what is missing.

use super::{Arguments, Caller, Kind, Parameter, Reply, Tool};
use crate::diagnostic::Diagnostic;
use crate::view::Surface;
use crate::view::dismissable::dismissed;
use crate::view::save as view;
use midstride::verbs::{
    self, Asking, CheckpointError, Save, SaveError, Saved, Source, Which, Written,
};
use midstride::workspace::project::Project;
use midstride_core::session::judgement::AuthorNotes;
use serde_json::{Map, Value};

pub(super) const TOOL: Tool = Tool {
    name: "save",
    says: "Save this session as a handoff. Facts are added; it answers once with what is missing",
    only_reads: false,
    parameters: &[
        Parameter::new("title", Kind::Text, "What it is about"),
        Parameter::new("summary", Kind::Text, "1-3 sentences"),
        Parameter::new("decisions", Kind::Texts, "`X because Y`"),
        Parameter::new("wrong_turns", Kind::Texts, "`X because Y; instead Z`"),
        Parameter::new("landmines", Kind::Texts, "What will bite"),
        Parameter::new("questions", Kind::Texts, ""),
        Parameter::new("blocking_questions", Kind::Texts, "Work waits for these"),
        Parameter::new("next", Kind::Texts, "In order"),
        Parameter::new("constraints", Kind::Texts, "What to keep to"),
        Parameter::new("assumptions", Kind::Texts, ""),
        Parameter::new("read", Kind::Texts, "Paths to read first"),
        Parameter::new("skills", Kind::Texts, "To load first: `name arguments`"),
        Parameter::new("tasks", Kind::Texts, "To restore"),
        Parameter::new("role", Kind::Text, "Yours"),
        Parameter::new("pattern", Kind::Text, "Alone, agents, pipeline"),
        Parameter::new("waiting_for", Kind::Text, ""),
        Parameter::new("body", Kind::Text, "More, in Markdown"),
        Parameter::new("settled", Kind::Texts, "Handles of open items that are done: `kf7q`"),
        Parameter::new("handoff", Kind::Text, "Save into this id"),
        Parameter::new("session", Kind::Text, "Its id, or `none`"),
        Parameter::new("accept", Kind::Text, "Why what is missing may be missing"),
        Parameter::new(
            "inherit",
            Kind::Text,
            "Would you inherit this with zero context? `yes`, or `no: why`",
        ),
        Parameter::new(
            "finds_plans",
            Kind::Text,
            "Will the next agent find the plans? `yes`, or `no: why`",
        ),
    ],
    call: save,
};

/// What an author says, by the names it has everywhere.
const SAID: [&str; 17] = [
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
/// The two questions at the end.
const REFLECTION: [&str; 2] = ["inherit", "finds_plans"];
/// Instead of a session: facts from git and the tasks only.
const NO_SESSION: &str = "none";

fn save(caller: &Caller, arguments: &Arguments) -> Result<Reply, Diagnostic> {
    let project = caller.project()?;
    let settled = arguments.texts("settled");
    let names = [&SAID[..], &REFLECTION, &["accept", "handoff"]].concat();
    if !settled.is_empty() && arguments.only(&names).is_empty() {
        return Ok(settled_items(Reply::default(), &project, &settled));
    }
    let wanted = Save {
        source: source(caller, arguments),
        client: caller.client,
        judgement: judgement(arguments)?,
        id: arguments.owned("handoff"),
        accept: arguments.owned("accept"),
        by: Some(caller.name.clone()),
        is_agent: true,
    };
    let named = arguments.text("session").is_some();
    // What git cannot say is missing, nothing else.
    drop(verbs::observe(&project));
    let (saved, is_alone) = match verbs::save(&project, &wanted) {
        // A client that keeps no transcript has something to say all the same.
        Err(SaveError::Checkpoint(CheckpointError::NoSession(_) | CheckpointError::NoSuch(_)))
            if !named =>
        {
            let wanted = Save { source: Source::NoSession, client: None, ..wanted };
            (verbs::save(&project, &wanted)?, true)
        }
        saved => (saved?, false),
    };
    // The shelf may be new to the project.
    let project = caller.project()?;
    let reply = told(&project, &saved, arguments.text("handoff"));
    let reply = settled_items(reply, &project, &settled);
    Ok(match is_alone {
        true => {
            reply.and("No transcript of this session was found: facts are from git and the tasks.")
        }
        false => reply,
    })
}

/// Closes the open items that the agent names, each by itself: a wrong handle loses nothing.
fn settled_items(reply: Reply, project: &Project, handles: &[String]) -> Reply {
    handles.iter().fold(reply, |reply, handle| {
        reply.and(match verbs::settle(project, handle) {
            Ok(item) => dismissed(&item, false),
            Err(error) => error.to_string(),
        })
    })
}

fn source(caller: &Caller, arguments: &Arguments) -> Source {
    let known = caller.session().map(|session| session.id.as_str());
    match arguments.text("session").or(known) {
        Some(NO_SESSION) => Source::NoSession,
        Some(id) => Source::Session(Which::Id(id.to_owned())),
        None => Source::Session(Which::Newest),
    }
}

fn judgement(arguments: &Arguments) -> Result<AuthorNotes, Diagnostic> {
    let mut said = arguments.only(&SAID);
    let reflection: Map<String, Value> = arguments.only(&REFLECTION);
    if !reflection.is_empty() {
        said.insert("reflection".to_owned(), Value::Object(reflection));
    }
    match (said.is_empty(), arguments.text("accept")) {
        (true, Some(_)) => Ok(AuthorNotes::default()),
        (true, None) => Err(Diagnostic::new("nothing is said about the session")
            .hint("give at least `summary` and `next`; files, commands and commits are added")),
        (false, _) => Ok(AuthorNotes::parse(&Value::Object(said).to_string())?),
    }
}

fn told(project: &Project, saved: &Saved, named: Option<&str>) -> Reply {
    let reply = Reply::says(view::written(project, saved)).without(&saved.redacted);
    let reply = match (&saved.written, named) {
        (Written::New, Some(named)) => reply.and(is_new(named, saved.similar.as_deref())),
        _ => reply,
    };
    let reply = match &saved.accepted {
        Some(reason) => reply.and(format!("Accepted as it is: {reason}")),
        None => reply,
    };
    if saved.is_complete() {
        let reply = view::kept(saved).into_iter().fold(reply, Reply::and);
        let reply = reply.and(view::complete(project, saved, Surface::Called));
        return unanswered(saved).into_iter().fold(reply, Reply::and);
    }
    let key = saved.shelved.handoff(project).key().id;
    let reply = reply.and(view::missing(&saved.gate, Surface::Called));
    let reply = unanswered(saved).into_iter().fold(reply, Reply::and);
    reply.and(format!(
        "Saved. Call `save` once more with handoff `{key}` and only what is missing. It is then kept as it is."
    ))
}

/// Whoever names a handoff may have meant one that is there.
fn is_new(named: &str, similar: Option<&str>) -> String {
    let meant = similar.map(|similar| {
        format!(
            " If you meant `{similar}`, call `save` with that, and `resolve` `{named}` with `abandoned`."
        )
    });
    format!("There was no handoff `{named}`: this is a new one.{}", meant.unwrap_or_default())
}

/// The questions that are open, where the agent is asked.
fn unanswered(saved: &Saved) -> Vec<String> {
    if saved.asking != Asking::Now {
        return Vec::new();
    }
    let asked = [
        (saved.reflection.inherit.is_none(), view::INHERIT, "inherit"),
        (saved.reflection.finds_plans.is_none(), view::FINDS_PLANS, "finds_plans"),
    ];
    let open = asked.into_iter().filter(|(is_open, ..)| *is_open);
    open.map(|(_, question, name)| format!("Not answered: {question} (`{name}`)")).collect()
}
