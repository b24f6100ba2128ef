use super::CliOutcome;
use crate::ui::Ui;
use midstride_core::format::finding::Code;
use midstride_core::text::id::nearest_match;
use midstride_surface::diagnostic::{Diagnostic, ErrorCode};
use midstride_surface::json::JsonList;
use midstride_surface::view;

/// Explain a finding, or list all codes
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  midstride explain
  midstride explain S003")]
pub(crate) struct ExplainArgs {
    /// The code, such as `S003`
    code: Option<String>,

    /// Print as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn explain(ui: &mut Ui, args: &ExplainArgs) -> Result<CliOutcome, Diagnostic> {
    let codes = match &args.code {
        None => Code::ALL.to_vec(),
        Some(typed) => vec![Code::parse(typed).ok_or_else(|| unknown_code(typed))?],
    };
    if args.json {
        let rules = codes.into_iter().map(view::command_result::rule_json);
        ui.print_json(&rules.collect::<JsonList<_>>())?;
    } else if args.code.is_none() {
        ui.print(&view::findings::code_index())?;
        ui.say("Run midstride explain CODE for the reason and the fix")?;
    } else {
        ui.print(&view::findings::explanation(codes[0]))?;
    }
    Ok(CliOutcome::Clean)
}

fn unknown_code(typed: &str) -> Diagnostic {
    let known = Code::ALL.iter().map(|code| code.rule().code);
    let diagnostic =
        Diagnostic::with_code(ErrorCode::NotFound, format!("no finding has the code `{typed}`"));
    match nearest_match(&typed.to_uppercase(), known) {
        Some(near) => diagnostic.hint(format!("did you mean `{near}`?")),
        None => diagnostic.hint("`midstride explain` lists all codes"),
    }
}
