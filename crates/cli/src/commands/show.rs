use super::Outcome;
use crate::diagnostic::Diagnostic;
use crate::ui::Ui;
use crate::view;
use clap::ValueEnum;
use midstride::workspace::project::{Project, Shelved};

/// Show one handoff
#[derive(Debug, clap::Args)]
pub(crate) struct ShowArgs {
    /// The handoff: an id, the start of one, `id/stage`, or a path; `ID@1` for an earlier text
    handoff: String,

    /// Only this section: a heading, or a field such as `decisions_made`
    #[arg(long, value_name = "NAME")]
    section: Option<String>,

    /// What happened to it, in order; `@2` is a text that `midstride show ID@2` shows
    #[arg(long, conflicts_with_all = ["section", "form"])]
    history: bool,

    /// In another form
    #[arg(long = "as", value_enum, value_name = "FORM")]
    form: Option<Form>,

    /// Print as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Form {
    /// The "Handoff Context" of a pull request
    Pr,
    /// The file as it is
    Raw,
}

pub(crate) fn show(ui: &mut Ui, project: &Project, args: &ShowArgs) -> Result<Outcome, Diagnostic> {
    let (name, revision) = super::revision_of(&args.handoff);
    if revision.is_some() && args.history {
        return Err(Diagnostic::new(format!("`{}` is one text, it has no history", args.handoff))
            .hint(format!(
                "`midstride show {} --history` tells how it came about",
                view::shell_word(name)
            )));
    }
    let shelved = project.find(name)?;
    if let Some(number) = revision {
        return show_text(ui, project, args, shelved, number);
    }
    if !args.json && project.is_edited_outside(&shelved)? {
        ui.say("Edited outside midstride since its last revision; the next change records it.")?;
    }
    if args.history {
        return show_history(ui, project, &shelved, args.json);
    }
    if args.json {
        ui.json(&view::handoff::json_of_one(project, &shelved))?;
        return Ok(Outcome::Clean);
    }
    show_form(ui, project, args, &shelved)
}

/// One text of the handoff, as it was; or a part of it, or in another form.
fn show_text(
    ui: &mut Ui,
    project: &Project,
    args: &ShowArgs,
    shelved: Shelved,
    number: usize,
) -> Result<Outcome, Diagnostic> {
    let text = project.text_of(&shelved, number)?;
    if args.json {
        ui.json(&view::revision::json(project, &shelved, number, &text))?;
        return Ok(Outcome::Clean);
    }
    if args.section.is_some() || args.form.is_some() {
        return show_form(ui, project, args, &shelved.with_text(text));
    }
    Ui::write_bytes(&text)?;
    Ok(Outcome::Clean)
}

fn show_form(
    ui: &mut Ui,
    project: &Project,
    args: &ShowArgs,
    shelved: &Shelved,
) -> Result<Outcome, Diagnostic> {
    let text = match (&args.section, args.form) {
        (Some(name), _) => view::handoff::section(shelved, name).ok_or_else(|| {
            let known = view::handoff::section_names(shelved);
            Diagnostic::new(format!(
                "`{}` has no section `{name}`",
                view::shown_path(project, &shelved.path)
            ))
            .hint(format!("it has {}", known.join(", ")))
        })?,
        (None, Some(Form::Raw)) => {
            Ui::write_bytes(&shelved.bytes)?;
            return Ok(Outcome::Clean);
        }
        (None, Some(Form::Pr)) => view::pull_request::text(project, shelved),
        (None, None) => view::handoff::text(project, shelved),
    };
    ui.print(&text)?;
    Ok(Outcome::Clean)
}

fn show_history(
    ui: &mut Ui,
    project: &Project,
    shelved: &Shelved,
    json: bool,
) -> Result<Outcome, Diagnostic> {
    if json {
        ui.json(&view::history::json(project, shelved))?;
    } else {
        ui.print(&view::history::text(project, shelved))?;
    }
    Ok(Outcome::Clean)
}
