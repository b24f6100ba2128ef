//! Renders the command-line reference, `docs/cli.md`, from the clap definition.

use crate::commands::help::{EXIT_CODES, GROUPS};
use clap::{Arg, Command};

pub(super) fn cli_page(definition: &Command) -> String {
    let mut out = format!(
        "# The command line\n\n\
         `midstride reference cli` generates this page from the program; a test checks it.\n\n\
         Exit codes of every command:\n\n```text\n{EXIT_CODES}```\n\n\
         Data goes to standard output; messages go to standard error.\n",
    );
    section(&mut out, definition, "midstride", 2);
    for group in &GROUPS {
        out.push_str(&format!("\n## {}\n", group.title));
        let commands = group.commands.iter().filter_map(|row| definition.find_subcommand(row.name));
        for command in commands.filter(|command| !command.is_hide_set()) {
            sections(&mut out, command, &format!("midstride {}", command.get_name()));
        }
    }
    out
}

/// Appends a command and its subcommands.
fn sections(out: &mut String, command: &Command, name: &str) {
    section(out, command, name, 3);
    for below in command.get_subcommands().filter(|command| !command.is_hide_set()) {
        sections(out, below, &format!("{name} {}", below.get_name()));
    }
}

fn section(out: &mut String, command: &Command, name: &str, level: usize) {
    let about = command.get_long_about().or(command.get_about()).map(ToString::to_string);
    let heading = "#".repeat(level);
    out.push_str(&format!("\n{heading} {name}\n\n{}\n", about.unwrap_or_default().trim_end()));
    let aliases: Vec<String> =
        command.get_visible_aliases().map(|alias| format!("`{alias}`")).collect();
    if !aliases.is_empty() {
        out.push_str(&format!("\nAlias: {}\n", aliases.join(", ")));
    }
    if let Some(examples) = command.get_after_help().map(ToString::to_string) {
        let lines = examples.lines().filter_map(|line| line.strip_prefix("  "));
        let lines: String = lines.map(|line| format!("{line}\n")).collect();
        out.push_str(&format!("\n```text\n{lines}```\n"));
    }
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
    let value = match names {
        [] => argument.get_id().to_string().to_uppercase(),
        names => names.join(" "),
    };
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
