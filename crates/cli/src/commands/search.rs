use super::{
    CliOutcome, HandoffKindArg, HandoffStatusArg, path_from_root, read_text, report_unread,
};
use crate::ui::Ui;
use midstride::store::Store;
use midstride::store::index::{Effort, Filter};
use midstride::verbs::{self, PromptSearch, SearchRequest};
use midstride::workspace::Workspace;
use midstride_core::brief::search::Query;
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view::{self, Surface};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How many handoffs a prompt search returns at most. More would not be read.
const PROMPT_HITS_MAX: usize = 5;
/// The time limit for a prompt search. A user waits longer than a hook.
const PROMPT_TIME_LIMIT: Duration = Duration::from_secs(2);
/// The number of documents from which a progress bar is shown. Fewer are read too fast to see.
pub(super) const PROGRESS_BAR_MIN: usize = 1000;

/// Search handoffs by their text
///
/// Every word must appear in the title, description, id, header or body. Among equally good
/// matches, newer handoffs come first. `market*` matches a prefix; '"cache purge"' matches a
/// phrase. With `--prompt`, prints the few handoffs that are relevant to a piece of work. Exits
/// with 1 if nothing matches.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride search slow market
  midstride search --prompt 'make the market pages fast'")]
pub(crate) struct SearchArgs {
    /// Words to search for
    #[arg(value_name = "WORD", required_unless_present = "prompt", conflicts_with = "prompt")]
    words: Vec<String>,

    /// Only this status
    #[arg(long, value_enum, conflicts_with = "prompt")]
    status: Option<HandoffStatusArg>,

    /// Only this kind
    #[arg(long, value_enum, conflicts_with = "prompt")]
    kind: Option<HandoffKindArg>,

    /// Only this stage
    #[arg(long, conflicts_with = "prompt")]
    stage: Option<String>,

    /// Only handoffs under this path
    #[arg(long, value_name = "PATH", conflicts_with = "prompt")]
    path: Option<PathBuf>,

    /// Only handoffs changed in the last DAYS days
    #[arg(long, value_name = "DAYS", conflicts_with = "prompt")]
    newer_than: Option<u32>,

    /// Only handoffs not changed in the last DAYS days
    #[arg(long, value_name = "DAYS", conflicts_with = "prompt")]
    older_than: Option<u32>,

    /// Maximum results [default: 10, or 3 with --prompt]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..))]
    limit: Option<u16>,

    /// Index every document first
    #[arg(long, conflicts_with = "prompt")]
    fresh: bool,

    /// Find handoffs relevant to this text; `-` reads it from stdin
    #[arg(long, value_name = "TEXT")]
    prompt: Option<String>,

    /// Files you are working on
    #[arg(long, value_name = "PATH", requires = "prompt", num_args = 1..)]
    files: Vec<PathBuf>,

    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn search(
    ui: &mut Ui,
    store: &Store,
    args: &SearchArgs,
) -> Result<CliOutcome, Diagnostic> {
    let workspace = store.workspace();
    if let Some(text) = &args.prompt {
        return search_prompt(ui, store, args, text);
    }
    let wanted = SearchRequest {
        query: Query::parse(&args.words.join(" "))?,
        filter: filter(workspace, args)?,
        limit: usize::from(args.limit.unwrap_or(10)),
        fresh: args.fresh,
    };
    let found = verbs::search(store, &wanted, &mut |done, all| {
        if all >= PROGRESS_BAR_MIN {
            ui.show_progress("indexing", done, all);
        }
    });
    let sessions = verbs::search_sessions(store, &wanted.query, &wanted.filter, wanted.limit)?;
    if args.json {
        ui.print_json(&view::search::json(workspace, &found, &sessions))?;
    } else {
        ui.print(&view::search::text(workspace, &found, &sessions, Ui::width()))?;
    }
    let has_found = !sessions.is_empty();
    let filtered = !wanted.filter.is_empty();
    let remarks =
        view::search::remarks(&found, has_found, &args.words, filtered, Surface::Terminal);
    for line in remarks {
        ui.say(&line)?;
    }
    let is_empty = found.hits.is_empty() && !has_found;
    let outcome = report_unread(ui, workspace, found.unread)?;
    Ok(if is_empty { outcome.or_nothing_matched() } else { outcome })
}

fn search_prompt(
    ui: &mut Ui,
    store: &Store,
    args: &SearchArgs,
    text: &str,
) -> Result<CliOutcome, Diagnostic> {
    let workspace = store.workspace();
    let text = if text == "-" { read_text(workspace, Path::new("-"))? } else { text.to_owned() };
    let limit = usize::from(args.limit.unwrap_or(3)).min(PROMPT_HITS_MAX);
    let (within, effort) = (PROMPT_TIME_LIMIT, Effort::Hurried);
    let prompt = PromptSearch { text, files: args.files.clone(), limit, timeout: within, effort };
    let matters = verbs::search_prompt(store, &prompt);
    if args.json {
        ui.print_json(&view::search::relevant_json(workspace, &matters))?;
    } else {
        ui.print(&view::search::relevant_text(workspace, &matters, Ui::width()))?;
        if matters.hits.is_empty() {
            ui.say("No relevant handoff.")?;
        }
    }
    if !matters.is_complete {
        ui.say("Some documents were not read; `midstride search --fresh` reads them all")?;
    }
    let is_empty = matters.hits.is_empty();
    Ok(if is_empty { CliOutcome::Findings } else { CliOutcome::Clean })
}

fn filter(workspace: &Workspace, args: &SearchArgs) -> Result<Filter, Diagnostic> {
    const DAY_SECONDS: i64 = 86_400;
    let now = workspace.environment().clock.now().as_second();
    let ago = |days: u32| now - i64::from(days) * DAY_SECONDS;
    Ok(Filter {
        status: args.status.map(Into::into),
        kind: args.kind.map(Into::into),
        stage: args.stage.clone(),
        below: args.path.as_deref().map(|path| path_from_root(workspace, path)).transpose()?,
        since: args.newer_than.map(ago),
        until: args.older_than.map(ago),
    })
}
