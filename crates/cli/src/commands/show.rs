use super::Outcome;
use crate::diagnostic::Diagnostic;
use crate::ui::Ui;
use crate::view;
use clap::ValueEnum;
use midstride::project::Project;

/// Show one handoff
#[derive(Debug, clap::Args)]
pub(crate) struct ShowArgs {
    /// The handoff: an id, the start of one, `id/stage`, or a path; `ID@1` for an earlier text
    handoff: String,

    /// Only this section: a heading, or a field such as `decisions_made`
    #[arg(long, value_name = "NAME")]
    section: Option<String>,

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
    let shelved = project.find(name)?;
    if let Some(number) = revision {
        Ui::write_bytes(&project.text_of(&shelved, number)?)?;
        return Ok(Outcome::Clean);
    }
    if args.json {
        ui.json(&view::handoff::json(project, &shelved))?;
        return Ok(Outcome::Clean);
    }
    let text = match (&args.section, args.form) {
        (Some(name), _) => view::handoff::section(&shelved, name).ok_or_else(|| {
            let known = view::handoff::section_names(&shelved);
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
        (None, Some(Form::Pr)) => view::pull_request::text(project, &shelved),
        (None, None) => view::handoff::text(project, &shelved),
    };
    ui.print(&text)?;
    Ok(Outcome::Clean)
}
