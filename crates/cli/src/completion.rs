//! Completion in the shells: which arguments take what, and the protocol of `clap_complete`. Its feature
//! is unstable, so only this file uses it.

use clap::Command;
use clap::builder::StyledStr;
use clap_complete::CompleteEnv;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::env::{Bash, EnvCompleter, Fish, Shells, Zsh};
use midstride::clients;
use midstride::sys::files;
use midstride::verbs::{self, Suggestion, SuggestionKind};
use midstride_core::format::finding::Code;
use midstride_surface::text::sanitize;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

/// The variable that asks for completions. It names the shell.
const VARIABLE: &str = "MIDSTRIDE_COMPLETE";
const NAME: &str = "midstride";

const SHELLS: Shells<'static> = Shells(&[&BashWithRevisions, &Fish, &Zsh]);

/// A shell with completion.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum ShellArg {
    Bash,
    Zsh,
    Fish,
}

/// Answers a shell that asks for completions; `None` if no shell does.
pub(crate) fn answer(definition: fn() -> Command) -> Option<ExitCode> {
    let complete = CompleteEnv::with_factory(|| add_completers(definition()));
    let arguments = std::env::args_os();
    match complete.var(VARIABLE).shells(SHELLS).try_complete(arguments, None) {
        Ok(false) => None,
        Ok(true) => Some(ExitCode::SUCCESS),
        // A message would appear in the middle of the user's line.
        Err(_) => Some(ExitCode::FAILURE),
    }
}

/// The script that registers midstride with a shell.
pub(crate) fn registration(shell: ShellArg) -> io::Result<Vec<u8>> {
    let mut script = Vec::new();
    let shell: &dyn EnvCompleter = match shell {
        ShellArg::Bash => &BashWithRevisions,
        ShellArg::Zsh => &Zsh,
        ShellArg::Fish => &Fish,
    };
    shell.write_registration(VARIABLE, NAME, NAME, NAME, &mut script)?;
    Ok(script)
}

/// What the arguments of all commands complete to. One table, so that the commands themselves stay
/// unchanged.
fn completed(command: &str, argument: &clap::Arg) -> Option<CompletionKind> {
    let suggest = |kind| Some(CompletionKind::Suggested(kind));
    let names = argument.get_value_names().unwrap_or_default();
    let value = names.first().map_or("", |name| name.as_str());
    match (command, argument.get_id().as_str(), value) {
        ("show", "handoff", _) | ("diff", _, "FROM" | "TO") | ("forget", "texts", _) => {
            suggest(SuggestionKind::Revision)
        }
        (_, _, "HANDOFF" | "HANDOFFS" | "UPSTREAM") => suggest(SuggestionKind::Handoff),
        (_, _, "STAGE") => suggest(SuggestionKind::Stage),
        (_, _, "SESSION") | (_, "session", "ID") => suggest(SuggestionKind::Session),
        (_, _, "TASK") => suggest(SuggestionKind::Task),
        (_, _, "CODE") => Some(CompletionKind::Code),
        _ => None,
    }
}

/// What an argument completes to.
#[derive(Clone, Copy)]
enum CompletionKind {
    Suggested(SuggestionKind),
    Code,
}

fn add_completers(command: Command) -> Command {
    let name = command.get_name().to_owned();
    let add = |argument: clap::Arg| match completed(&name, &argument) {
        Some(what) => {
            argument.add(ArgValueCompleter::new(move |typed: &OsStr| candidates(what, typed)))
        }
        None => argument,
    };
    command.mut_args(add).mut_subcommands(add_completers)
}

fn candidates(what: CompletionKind, typed: &OsStr) -> Vec<CompletionCandidate> {
    let Some(typed) = typed.to_str() else { return Vec::new() };
    let found = match what {
        CompletionKind::Suggested(kind) => match environment() {
            Some(environment) => verbs::suggest(environment, kind, typed),
            None => Vec::new(),
        },
        CompletionKind::Code => {
            Code::ALL.iter().filter_map(|code| code_suggestion(*code, typed)).collect()
        }
    };
    let candidate = |Suggestion { value, about }| {
        let about =
            about.map(|about| StyledStr::from(sanitize(about.lines().next().unwrap_or(""))));
        CompletionCandidate::new(value).help(about)
    };
    found.into_iter().map(candidate).collect()
}

fn code_suggestion(code: Code, typed: &str) -> Option<Suggestion> {
    let rule = code.rule();
    let is_start =
        rule.code.get(..typed.len()).is_some_and(|start| start.eq_ignore_ascii_case(typed));
    let about = Some(rule.title.to_owned());
    is_start.then(|| Suggestion { value: rule.code.to_owned(), about })
}

/// The environment in the folder that the typed line names with `-C`.
fn environment() -> Option<midstride::sys::env::Environment> {
    let mut environment = clients::read_environment().ok()?;
    let words: Vec<OsString> = std::env::args_os().skip_while(|word| word != "--").collect();
    if let Some(at) = words.iter().position(|word| word == "-C") {
        let folder = environment.folder.join(Path::new(words.get(at + 1)?));
        environment.folder = files::canonical(&folder);
        if !files::is_folder(&environment.folder) {
            return None;
        }
    }
    Some(environment)
}

/// Bash, which splits words at `@`: `ID@2` arrives as three words. The script joins them again.
struct BashWithRevisions;

const BASH_SCRIPT: &str = r#"_midstride() {
    local IFS=$'\013' line="${COMP_LINE:0:COMP_POINT}" words=() index=0 before='' word i
    for ((i = 0; i < COMP_CWORD; i++)); do
        word="${COMP_WORDS[i]}"
        if [[ $i -gt 0 && ($word == @* || ${words[index]} == *@) ]]; then
            words[index]+=$word
        else
            [[ $i == 0 ]] || index=$((index + 1))
            words[index]=$word
        fi
    done
    word="${COMP_WORDS[COMP_CWORD]}"
    if [[ $line != *[[:space:]] && ($word == @* || ${words[index]} == *@) ]]; then
        words[index]="${line##*[[:space:]]}"
        # Readline replaces the `@` too.
        before="${words[index]%@*}"
    else
        index=$((index + 1))
        words[index]=$2
    fi
    COMPREPLY=($(_CLAP_IFS="$IFS" _CLAP_COMPLETE_INDEX="$index" VARIABLE=bash midstride -- "${words[@]}" 2>/dev/null))
    COMPREPLY=("${COMPREPLY[@]#"$before"}")
    if [[ ${COMPREPLY-} == *[=/@] ]]; then
        compopt -o nospace 2>/dev/null
    fi
}
complete -o bashdefault -o nosort -F _midstride midstride 2>/dev/null ||
    complete -o bashdefault -F _midstride midstride
"#;

impl EnvCompleter for BashWithRevisions {
    fn name(&self) -> &'static str {
        Bash.name()
    }

    fn is(&self, name: &str) -> bool {
        Bash.is(name)
    }

    fn write_registration(
        &self,
        variable: &str,
        _name: &str,
        _bin: &str,
        _completer: &str,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        out.write_all(BASH_SCRIPT.replace("VARIABLE", variable).as_bytes())
    }

    fn write_complete(
        &self,
        command: &mut Command,
        words: Vec<OsString>,
        folder: Option<&Path>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        Bash.write_complete(command, words, folder, out)
    }
}
