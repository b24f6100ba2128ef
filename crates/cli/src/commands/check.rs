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
use midstride_surface::diagnostic::{Diagnostic, ErrorCode};
use midstride_surface::view::findings::{self, HintDisplay};
use midstride_surface::view::{self, Surface, coverage};
use std::path::PathBuf;

/// Check handoffs for problems
///
/// Checks all documents, or only the ones you name. Compares citations in open handoffs with the
/// code and reports lines that moved, changed or were deleted. Compares each handoff with the
/// session it names and reports what the handoff does not mention or explain. Exits with 0 if the
/// check passes, 1 on errors and warnings (see `--fail-on`), and 2 if a file could not be read.
/// Hints do not fail a check; they are counted, and `-v` lists them.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride check
  midstride check market -v
  midstride check --fix --fail-on error")]
pub(crate) struct CheckArgs {
    /// Handoffs or paths (default: all)
    handoffs: Vec<String>,

    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: CheckFormatArg,

    /// Same as `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,

    /// Lowest severity that fails the check
    #[arg(long, value_enum, default_value_t, value_name = "SEVERITY")]
    fail_on: FailOnArg,

    /// Check the staged versions of the files
    #[arg(long, conflicts_with_all = ["handoffs", "fix"])]
    staged: bool,

    /// Check a pull request description (`-` for stdin)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["handoffs", "staged", "fix"])]
    pr_body: Option<PathBuf>,

    /// First fix format, moved lines and secrets
    #[arg(long, conflicts_with = "at")]
    fix: bool,

    /// Compare with a commit instead of the working tree
    #[arg(long, value_name = "COMMIT", conflicts_with = "pr_body")]
    at: Option<String>,

    /// List all citations, and check closed handoffs too
    #[arg(long, conflicts_with = "pr_body")]
    all: bool,

    /// Compare the named handoffs with this session
    #[arg(long, value_name = "ID", requires = "handoffs", conflicts_with = "transcript")]
    session: Option<String>,

    /// Compare the named handoffs with this transcript
    #[arg(long, value_name = "PATH", requires = "handoffs")]
    transcript: Option<PathBuf>,

    /// Omit hints
    #[arg(long, short)]
    quiet: bool,

    /// List every hint
    #[arg(long, short, conflicts_with = "quiet")]
    verbose: bool,
}

impl CheckArgs {
    /// Hints that fail the check are listed.
    fn hint_display(&self) -> HintDisplay {
        match self.fail_on {
            _ if self.quiet => HintDisplay::Omitted,
            _ if self.verbose => HintDisplay::Listed,
            FailOnArg::Hint => HintDisplay::Listed,
            FailOnArg::Error | FailOnArg::Warning => HintDisplay::Counted { show_with: "-v" },
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum CheckFormatArg {
    /// With source lines
    #[default]
    Human,
    /// Machine-readable
    Json,
    /// For code scanning
    Sarif,
    /// GitHub workflow annotations
    Github,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum FailOnArg {
    /// Only errors
    Error,
    /// Warnings and errors
    #[default]
    Warning,
    /// Hints, warnings and errors
    #[value(alias = "advice")]
    Hint,
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
            one.verdict.findings.retain(|finding| finding.severity() > Severity::Hint);
        }
    }
    let format = if args.json { CheckFormatArg::Json } else { args.format };
    match format {
        CheckFormatArg::Human => {
            let hints = args.hint_display();
            let width = Ui::width();
            ui.print_wrapped(&findings::human(
                workspace,
                &checked,
                Surface::Terminal,
                width,
                hints,
            ))?;
            if args.all {
                ui.print(&findings::citations(&checked))?;
            }
            ui.print_wrapped(&if args.quiet {
                coverage::problems(&checked)
            } else {
                coverage::human(&checked, width)
            })?;
            if let Some(remark) = coverage::missing_sessions(&checked) {
                ui.say(&remark)?;
            }
            ui.say(&findings::summary(&checked, hints))?;
        }
        CheckFormatArg::Json => ui.print_json(&findings::json(&checked, &unread))?,
        CheckFormatArg::Sarif => ui.print_foreign_json(&findings::sarif(&checked))?,
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
        FailOnArg::Hint => Severity::Hint,
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
    let mut run = CheckReport::default();
    if args.fix {
        let selection = workspace.select(&args.handoffs)?;
        fix(ui, store, &selection.documents, &mut run)?;
    }
    Ui::show_status("checking handoffs");
    let outcome = check_selected(store, args, &mut run);
    Ui::show_status("");
    outcome.map(|()| run)
}

/// Checks the documents that the arguments select.
fn check_selected(
    store: &Store,
    args: &CheckArgs,
    run: &mut CheckReport,
) -> Result<(), Diagnostic> {
    let workspace = store.workspace();
    let with = comparison(store, args)?;
    if args.staged {
        let repository = workspace.repository().ok_or_else(|| {
            Diagnostic::with_code(
                ErrorCode::NotSetUp,
                "cannot check staged versions: this is not a git repository",
            )
            .hint("omit `--staged` to check the files on disk")
        })?;
        let staged = workspace.staged(repository)?;
        run.checked = verbs::check_documents(store, Some(&with), staged);
        return Ok(());
    }
    if !args.handoffs.is_empty() {
        let selection = workspace.select(&args.handoffs)?;
        run.unread.extend(selection.unread);
        run.checked = verbs::check_documents(store, Some(&with), selection.documents);
        return Ok(());
    }
    for result in verbs::check_all(store, &with) {
        match result {
            Ok(one) => run.checked.push(one),
            Err(error) => run.unread.push(error),
        }
    }
    Ok(())
}

fn comparison<'p>(store: &'p Store, args: &CheckArgs) -> Result<Comparison<'p>, Diagnostic> {
    let workspace = store.workspace();
    let ground = match &args.at {
        Some(named) => CodeState::Commit(verbs::commit_id(workspace, named).map_err(|error| {
            Diagnostic::with_code(ErrorCode::NotFound, error.to_string())
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
            ui.say(&format!("Fixed {}", view::display_path(workspace, path)))?;
        }
        if let Some(CitationUpdate { citations: places, recorded }) = citations {
            super::report_redacted(ui, &recorded.redacted)?;
            let places = view::count(*places, "citation");
            let number = recorded.revision;
            ui.say(&format!("{key}@{number}: updated the line numbers in {places}"))?;
        }
    }
    run.unread.extend(unwritten);
    run.unfixed.extend(unfixed);
    Ok(())
}
