//! `midstride client remove --purge`: what midstride keeps for a project goes as well.

use super::{Outcome, Target, show};
use crate::diagnostic::Diagnostic;
use crate::ui::Ui;
use crate::view;
use midstride::clients::install::{Plan, Scope};
use midstride::verbs::{self, Purge};
use midstride::workspace::project::Project;
use midstride::workspace::settings::Environment;
use midstride_core::session::Client;

/// What a person types who means what nothing brings back.
const WORD: &str = "delete";

/// A project whose data goes.
pub(super) struct Purging {
    project: Project,
    purge: Purge,
}

impl Purging {
    /// Looks at the project. Deleting is for a person; looking is not.
    pub(super) fn begin(environment: &Environment, target: &Target) -> Result<Self, Diagnostic> {
        let project = Project::discover_anyway(environment.clone())?;
        if !target.dry_run {
            verbs::may_allow(&project)?;
        }
        let purge = verbs::plan_purge(&project)?;
        Ok(Self { project, purge })
    }

    /// Everything that is going to change, in the clients and here.
    pub(super) fn show(
        &self,
        ui: &mut Ui,
        target: &Target,
        plans: &[Plan],
    ) -> Result<(), Diagnostic> {
        if target.json {
            let clients = view::client::plans_json(plans);
            return Ok(ui.json(&view::purge::json(clients, &self.purge))?);
        }
        if plans.iter().any(|plan| !plan.changes.is_empty() || !plan.notes.is_empty()) {
            show(ui, target, plans)?;
        }
        let text = view::purge::text(&self.purge);
        if target.dry_run {
            ui.print(&text)?;
        } else {
            ui.say(text.trim_end())?;
        }
        Ok(())
    }

    /// Refuses before anything is changed. `--yes` alone is no word for what nothing brings back.
    pub(super) fn may_go(&self, target: &Target, uncommitted: bool) -> Result<(), Diagnostic> {
        let lost = self.purge.irreplaceable();
        if !target.yes && !self.purge.is_empty() && !Ui::is_watched() {
            return Err(Diagnostic::new("nobody is there to be asked")
                .hint("start it in a terminal, or say `--yes`"));
        }
        if target.yes && !uncommitted && !lost.is_nothing() {
            return Err(Diagnostic::new(format!(
                "nothing could bring back {}; nothing was changed",
                view::purge::lost(&lost)
            ))
            .hint("commit what you want to keep, or copy it elsewhere")
            .hint("`--uncommitted` deletes it all the same; nothing brings it back then"));
        }
        Ok(())
    }

    /// Asks, and takes everything away.
    pub(super) fn carry_out(&self, ui: &mut Ui, target: &Target) -> Result<Outcome, Diagnostic> {
        if self.purge.is_empty() {
            return Ok(Outcome::Clean);
        }
        if !target.yes && !self.is_wanted(ui)? {
            ui.say("Nothing was deleted.")?;
            return Ok(Outcome::Findings);
        }
        verbs::purge(&self.project, &self.purge)?;
        ui.say("Deleted.")?;
        for line in view::purge::afterwards(&self.purge) {
            ui.say(&line)?;
        }
        self.tell_what_is_left(ui)?;
        Ok(Outcome::Clean)
    }

    /// Files of the project that call midstride still.
    fn tell_what_is_left(&self, ui: &mut Ui) -> Result<(), Diagnostic> {
        let scope = Scope::Project(self.project.root().path().to_owned());
        for client in Client::ALL {
            let standing = verbs::client_standing(self.project.environment(), client, &scope)?;
            if standing.is_installed() {
                ui.say(&view::purge::left(client))?;
            }
        }
        Ok(())
    }

    fn is_wanted(&self, ui: &mut Ui) -> Result<bool, Diagnostic> {
        let lost = self.purge.irreplaceable();
        if lost.is_nothing() {
            return Ok(ui.ask("Delete this?")?);
        }
        let lost = view::purge::lost(&lost);
        let question =
            format!("Nothing could bring back {lost}. Type `{WORD}` to delete all of it:");
        Ok(ui.answer(&question)?.as_deref() == Some(WORD))
    }
}
