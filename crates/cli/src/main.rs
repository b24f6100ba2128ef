//! The `midstride` command.

mod ui;

mod hooks;

mod completion;

mod commands;
mod demo;

mod mcp;

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    // A client waits for its hook, so check for hooks before anything else.
    if let Some(status) = hooks::dispatch(std::env::args_os()) {
        return status;
    }
    if let Some(status) = completion::answer(cli::definition) {
        return status;
    }
    let as_json = cli::is_json_requested(std::env::args_os());
    let typed = match cli::parse(as_json) {
        Ok(typed) => typed,
        Err(status) => return status,
    };
    let mut ui = ui::Ui::new(typed.color);
    let result = cli::run(&mut ui, typed);
    let status = match result {
        Ok(outcome) => outcome,
        Err(diagnostic) => ui.report(&diagnostic, as_json),
    };
    ui.finish(status)
}
