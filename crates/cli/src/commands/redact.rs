use super::CliOutcome;
use crate::ui::Ui;
use midstride::sys::files;
use midstride::workspace::Workspace;
use midstride_core::text::redact::{RedactionCounts, RedactionRules, RedactionStream};
use midstride_surface::diagnostic::Diagnostic;
use std::io::{self, Read, Write as _};
use std::path::PathBuf;

/// Remove secrets from text
///
/// Reads a file or standard input and prints it with `REDACTED-<kind>` in place of each secret.
/// Reports what it found by kind and count. Handles text of any length, and passes through bytes
/// that are not text. Prints each line as soon as it is complete, so that you can follow a log.
#[derive(Debug, clap::Args)]
#[command(
    hide = true,
    after_help = "Examples:
  midstride redact notes.md
  git log -p | midstride redact > log.txt"
)]
pub(crate) struct RedactArgs {
    /// The file [default: standard input]
    path: Option<PathBuf>,

    /// Print only what was found, not the text; exit with 1 if anything was
    #[arg(long)]
    check: bool,
}

/// How much is read at once.
const CHUNK_BYTES: usize = 256 << 10;
/// A pipe with less than this gets data only occasionally.
const FULL_PIPE_BYTES: usize = 64 << 10;

pub(crate) fn redact(
    ui: &mut Ui,
    workspace: &Workspace,
    args: &RedactArgs,
) -> Result<CliOutcome, Diagnostic> {
    let counts = match &args.path {
        Some(path) => {
            let opened = files::open_named(&workspace.environment().folder.join(path));
            let mut file = opened.map_err(|error| match error.is_not_a_file() {
                true => Diagnostic::new(error.to_string()).hint("name the files in it one by one"),
                false => error.into(),
            })?;
            redact_stream(&mut file, workspace.rules(), args.check)?
        }
        None => redact_stream(&mut io::stdin().lock(), workspace.rules(), args.check)?,
    };
    for (kind, count) in &counts {
        ui.say(&format!("{kind}: {count}"))?;
    }
    let found = args.check && !counts.is_empty();
    Ok(if found { CliOutcome::Findings } else { CliOutcome::Clean })
}

fn redact_stream(
    input: &mut impl Read,
    rules: &RedactionRules,
    check: bool,
) -> io::Result<RedactionCounts> {
    let mut output = io::stdout().lock();
    let mut stream = RedactionStream::new(rules);
    let mut piece = vec![0; CHUNK_BYTES];
    let mut clean = Vec::new();
    loop {
        let count = match input.read(&mut piece) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if count == 0 {
            break;
        }
        stream.push(&piece[..count], &mut clean);
        let followed = !check && count < FULL_PIPE_BYTES;
        if followed {
            stream.flush_lines(&mut clean);
        }
        if !check {
            output.write_all(&clean)?;
        }
        if followed {
            output.flush()?;
        }
        clean.clear();
    }
    let counts = stream.finish(&mut clean);
    if !check {
        output.write_all(&clean)?;
        output.flush()?;
    }
    Ok(counts)
}
