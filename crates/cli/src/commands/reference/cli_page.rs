//! Renders the command-line reference, `docs/cli.md`, from the clap definition.

use clap::{Arg, Command};

pub(super) fn cli_page(definition: &Command) -> String {
    let mut out = String::from(
        "# The command line\n\n\
         This page is made from the program by `midstride reference cli`; a test holds it.\n\n\
         Exit codes: 0 all is well, 1 something was found, 2 could not run.\n\
         Data goes to standard output, everything else to standard error.\n",
    );
    sections(&mut out, definition, "midstride");
    out
}

/// Appends a command and its subcommands.
fn sections(out: &mut String, command: &Command, name: &str) {
    section(out, command, name);
    for below in command.get_subcommands().filter(|command| !command.is_hide_set()) {
        sections(out, below, &format!("{name} {}", below.get_name()));
    }
}

fn section(out: &mut String, command: &Command, name: &str) {
    let about = command.get_long_about().or(command.get_about()).map(ToString::to_string);
    out.push_str(&format!("\n## {name}\n\n{}\n", about.unwrap_or_default().trim_end()));
    let arguments: Vec<&Arg> = command.get_arguments().filter(|arg| !arg.is_hide_set()).collect();
    if arguments.is_empty() {
        return;
    }
    out.push_str("\n| option | meaning |\n|---|---|\n");
    for argument in arguments {
        out.push_str(&format!("| {} | {} |\n", argument_syntax(argument), meaning(argument)));
    }
}

fn argument_syntax(argument: &Arg) -> String {
    let takes = argument.get_action().takes_values();
    let names = argument.get_value_names().unwrap_or_default();
    let value = names
        .first()
        .map_or_else(|| argument.get_id().to_string().to_uppercase(), ToString::to_string);
    let name = match (argument.get_long(), argument.get_short()) {
        (Some(long), Some(short)) => format!("-{short}, --{long}"),
        (Some(long), None) => format!("--{long}"),
        (None, Some(short)) => format!("-{short}"),
        (None, None) => return format!("`{}`", value.to_uppercase()),
    };
    if takes { format!("`{name} {value}`") } else { format!("`{name}`") }
}

fn meaning(argument: &Arg) -> String {
    let mut text = argument.get_help().map(ToString::to_string).unwrap_or_default();
    let values = argument.get_possible_values();
    let takes = argument.get_action().takes_values();
    let names: Vec<&str> = values
        .iter()
        .filter(|v| !v.is_hide_set())
        .map(clap::builder::PossibleValue::get_name)
        .collect();
    if takes && !names.is_empty() {
        text.push_str(&format!(": {}", names.join(", ")));
    }
    text.replace('|', "\\|").replace('\n', " ")
}
