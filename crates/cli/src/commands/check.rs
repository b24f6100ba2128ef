use super::CliOutcome;
use crate::ui::Ui;
use clap::ValueEnum;
use midstride::code::CodeState;
use midstride::journal::JournalError;
use midstride::store::Store;
use midstride::sys::files::FileError;
use midstride::verbs::{
    self, CitationUpdate, ComparedSession, Comparison, DocumentCheck, FixOutcome, FixedDocument,
};
use midstride::workspace::StoredHandoff;
use midstride_core::format::finding::Severity;
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view::{self, Surface, coverage, findings};
use std::path::PathBuf;

/// Look for problems in handoffs; change nothing
///
/// Without names every document on every shelf is looked at. What open handoffs say about the code
/// is compared with the working tree: a cited place may have moved, changed or gone. What they tell
/// is compared with the session they name: what happened there may be missing, listed or explained.
/// Exit code 0: nothing that fails the check; 1: findings; 2: something could not be read. Advice
/// alone does not fail a check.
#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    /// Handoffs or paths; all of them where none is given; `--session` and `--transcript` need one
    handoffs: Vec<String>,

    /// How to print the findings
    #[arg(long, value_enum, default_value_t)]
    format: CheckFormatArg,

    /// The same as `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,

    /// What fails the check
    #[arg(long, value_enum, default_value_t, value_name = "SEVERITY")]
    fail_on: FailOnArg,

    /// Look at what is staged in git, as it would be committed
    #[arg(long, conflicts_with_all = ["handoffs", "fix"])]
    staged: bool,

    /// Look at the description of a pull request (`-` for standard input)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["handoffs", "staged", "fix"])]
    pr_body: Option<PathBuf>,

    /// Mend what is mechanical, then look; cited lines that moved are written where they are now
    #[arg(long, conflicts_with = "at")]
    fix: bool,

    /// Compare with a commit instead of the working tree
    #[arg(long, value_name = "COMMIT", conflicts_with = "pr_body")]
    at: Option<String>,

    /// List every cited place, those that are as they were too; compare ended handoffs as well
    #[arg(long, conflicts_with = "pr_body")]
    all: bool,

    /// Compare the named handoffs with this session, whatever they name: its id or the beginning
    /// of it
    #[arg(long, value_name = "ID", requires = "handoffs", conflicts_with = "transcript")]
    session: Option<String>,

    /// Compare the named handoffs with the session of this transcript
    #[arg(long, value_name = "PATH", requires = "handoffs")]
    transcript: Option<PathBuf>,

    /// Leave advice out
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum CheckFormatArg {
    /// With the lines they are about
    #[default]
    Human,
    /// For programs
    Json,
    /// For code scanning
    Sarif,
    /// As annotations of a GitHub workflow
    Github,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum FailOnArg {
    /// Only errors
    Error,
    /// Warnings and errors
    #[default]
    Warning,
    /// Everything
    Advice,
}

pub(crate) fn check(
    ui: &mut Ui,
    store: &Store,
    args: &CheckArgs,
) -> Result<CliOutcome, Diagnostic> {
    let workspace = store.workspace();
    let CheckReport { mut checked, unread, unfixed } = check_documents(ui, store, args)?;
    if args.quiet {
        for one in &mut checked {
            one.verdict.findings.retain(|finding| finding.severity() > Severity::Advice);
        }
    }
    let format = if args.json { CheckFormatArg::Json } else { args.format };
    match format {
        CheckFormatArg::Human => {
            ui.print(&findings::human(workspace, &checked, Surface::Terminal, Ui::width()))?;
            if args.all {
                ui.print(&findings::citations(&checked))?;
            }
            ui.print(&if args.quiet {
                coverage::problems(&checked)
            } else {
                coverage::human(&checked, Ui::width())
            })?;
            if let Some(remark) = coverage::missing_sessions(&checked) {
                ui.say(&remark)?;
            }
            ui.say(&findings::summary(&checked, args.quiet))?;
        }
        CheckFormatArg::Json => ui.print_json(&findings::json(&checked, &unread))?,
        CheckFormatArg::Sarif => ui.print_json(&findings::sarif(&checked))?,
        CheckFormatArg::Github => ui.print(&findings::github(&checked))?,
    }
    let could_read_all = super::report_unread(ui, workspace, unread)? == CliOutcome::Clean;
    let is_complete = could_read_all && unfixed.is_empty();
    for error in unfixed {
        ui.warn(&Diagnostic::from(error))?;
    }
    let limit = match args.fail_on {
        FailOnArg::Error => Severity::Error,
        FailOnArg::Warning => Severity::Warning,
        FailOnArg::Advice => Severity::Advice,
    };
    let fails =
        |checked: &DocumentCheck| checked.verdict.findings.iter().any(|f| f.severity() >= limit);
    Ok(match (is_complete, checked.iter().any(fails)) {
        (false, _) => CliOutcome::Incomplete,
        (true, true) => CliOutcome::Findings,
        (true, false) => CliOutcome::Clean,
    })
}

/// What was checked, and what could not be.
#[derive(Default)]
struct CheckReport {
    checked: Vec<DocumentCheck>,
    /// The files that could not be read or written.
    unread: Vec<FileError>,
    /// Why documents could not be fixed.
    unfixed: Vec<JournalError>,
}

fn check_documents(
    ui: &mut Ui,
    store: &Store,
    args: &CheckArgs,
) -> Result<CheckReport, Diagnostic> {
    let workspace = store.workspace();
    if let Some(path) = &args.pr_body {
        let bytes = super::read_input(workspace, path)?;
        let checked = vec![verbs::check_pull_request(workspace, path, &bytes)];
        return Ok(CheckReport { checked, ..CheckReport::default() });
    }
    let with = comparison(store, args)?;
    if args.staged {
        let repository = workspace.repository().ok_or_else(|| {
            Diagnostic::new("nothing can be staged here: this is no git repository")
                .hint("leave `--staged` out to look at the files themselves")
        })?;
        let staged = workspace.staged(repository)?;
        let checked = verbs::check_documents(store, Some(&with), staged);
        return Ok(CheckReport { checked, ..CheckReport::default() });
    }
    let mut run = CheckReport::default();
    if args.fix {
        let selection = workspace.select(&args.handoffs)?;
        fix(ui, store, &selection.documents, &mut run)?;
    }
    if !args.handoffs.is_empty() {
        let selection = workspace.select(&args.handoffs)?;
        run.unread.extend(selection.unread);
        run.checked = verbs::check_documents(store, Some(&with), selection.documents);
        return Ok(run);
    }
    for result in verbs::check_all(store, &with) {
        match result {
            Ok(one) => run.checked.push(one),
            Err(error) => run.unread.push(error),
        }
    }
    Ok(run)
}

fn comparison<'p>(store: &'p Store, args: &CheckArgs) -> Result<Comparison<'p>, Diagnostic> {
    let workspace = store.workspace();
    let ground = match &args.at {
        Some(named) => CodeState::Commit(verbs::commit_id(workspace, named).map_err(|error| {
            Diagnostic::new(error.to_string())
                .hint("name a commit, a branch or a tag; `git log --oneline` lists commits")
        })?),
        None => CodeState::WorkTree,
    };
    let with = Comparison::against(store, ground, args.all)?;
    let session = args.session.clone().map(ComparedSession::Session);
    match session.or_else(|| args.transcript.clone().map(ComparedSession::Transcript)) {
        Some(compared) => Ok(with.with_session(store, &compared)?),
        None => Ok(with),
    }
}

/// Fixes what can be fixed, and reports it. What cannot be fixed is added to the run.
fn fix(
    ui: &mut Ui,
    store: &Store,
    documents: &[StoredHandoff],
    run: &mut CheckReport,
) -> Result<(), Diagnostic> {
    let workspace = store.workspace();
    let FixOutcome { fixed, unwritten, unfixed } = verbs::fix(store, documents)?;
    for FixedDocument { path, key, formatted, citations } in &fixed {
        if let Some(redacted) = formatted {
            super::report_redacted(ui, redacted)?;
            ui.say(&format!("Mended {}", view::display_path(workspace, path)))?;
        }
        if let Some(CitationUpdate { citations: places, recorded }) = citations {
            super::report_redacted(ui, &recorded.redacted)?;
            let places = view::count(*places, "cited place");
            let number = recorded.revision;
            ui.say(&format!("{key}@{number}: the lines of {places} as they are now"))?;
        }
    }
    run.unread.extend(unwritten);
    run.unfixed.extend(unfixed);
    Ok(())
}
