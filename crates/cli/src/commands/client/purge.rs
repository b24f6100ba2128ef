//! `midstride client remove --purge`: also deletes what midstride keeps for a project.

use super::{CliOutcome, ClientTarget, show_plans};
use crate::ui::Ui;
use midstride::clients;
use midstride::clients::install::{InstallPlan, InstallScope};
use midstride::store::Store;
use midstride::store::ledger::WaitPolicy;
use midstride::sys::env::Environment;
use midstride::verbs::{self, PurgePlan};
use midstride::workspace::Workspace;
use midstride::workspace::consent::UserConsent;
use midstride_surface::diagnostic::Diagnostic;
use midstride_surface::view;

/// What the user types to confirm deleting data that cannot be restored.
const CONFIRMATION_WORD: &str = "delete";

/// A project whose data is deleted.
pub(super) struct ProjectPurge {
    store: Store,
    purge: PurgePlan,
}

impl ProjectPurge {
    /// Plans the purge. Only the user can delete; a dry run is open to agents.
    pub(super) fn plan(
        environment: &Environment,
        target: &ClientTarget,
    ) -> Result<Self, Diagnostic> {
        let workspace = Workspace::discover_ignoring_settings(environment.clone())?;
        if !target.dry_run {
            Ui::consent_by_presence(environment)?;
        }
        let store = Store::new(workspace, WaitPolicy::Command);
        let purge = verbs::plan_purge(&store)?;
        Ok(Self { store, purge })
    }

    /// Shows everything that will change, in the clients and in the project.
    pub(super) fn show(
        &self,
        ui: &mut Ui,
        environment: &Environment,
        target: &ClientTarget,
        plans: &[InstallPlan],
    ) -> Result<(), Diagnostic> {
        if target.json {
            let clients = view::client::plans_json(plans);
            return Ok(ui.print_json(&view::purge::json(clients, &self.purge))?);
        }
        if plans.iter().any(|plan| !plan.changes.is_empty() || !plan.notes.is_empty()) {
            show_plans(ui, environment, target, plans)?;
        }
        let text = view::purge::text(&self.purge);
        if target.dry_run {
            ui.print(&text)?;
        } else {
            ui.say(text.trim_end())?;
        }
        Ok(())
    }

    /// Refuses before anything changes. `--yes` alone does not confirm deleting data that cannot be
    /// restored.
    pub(super) fn check_confirmed(
        &self,
        target: &ClientTarget,
        uncommitted: bool,
    ) -> Result<(), Diagnostic> {
        let lost = self.purge.unrecoverable();
        if target.yes && !uncommitted && !lost.is_empty() {
            return Err(Diagnostic::new(format!(
                "deleting {} cannot be undone; nothing was changed",
                view::purge::lost_items(&lost)
            ))
            .hint("commit what you want to keep, or copy it elsewhere")
            .hint("`--uncommitted` deletes it anyway; it cannot be recovered"));
        }
        Ok(())
    }

    /// Asks, and deletes everything.
    pub(super) fn delete(
        &self,
        ui: &mut Ui,
        target: &ClientTarget,
    ) -> Result<CliOutcome, Diagnostic> {
        if self.purge.is_empty() {
            return Ok(CliOutcome::Clean);
        }
        let Some(consent) = self.confirm(target)? else {
            ui.say("Nothing was deleted.")?;
            return Ok(CliOutcome::Findings);
        };
        verbs::purge(&self.store, &self.purge, &consent)?;
        ui.say("Deleted.")?;
        for line in view::purge::restore_hints(&self.purge) {
            ui.say(&line)?;
        }
        self.report_remaining_hooks(ui)?;
        Ok(CliOutcome::Clean)
    }

    /// Reports files of the project that still call midstride.
    fn report_remaining_hooks(&self, ui: &mut Ui) -> Result<(), Diagnostic> {
        let scope = InstallScope::Project(self.store.workspace().root().path().to_owned());
        for client in clients::ALL {
            let status =
                verbs::client_status(self.store.workspace().environment(), client, &scope)?;
            if status.is_installed() {
                ui.say(&view::purge::leftover_client(client))?;
            }
        }
        Ok(())
    }

    fn confirm(&self, target: &ClientTarget) -> Result<Option<UserConsent>, Diagnostic> {
        let environment = self.store.workspace().environment();
        let lost = self.purge.unrecoverable();
        if lost.is_empty() {
            let project = self.store.workspace().root().path().display();
            let question = format!("Delete what midstride stored for {project}?");
            return Ui::ask_consent(environment, &question, target.yes);
        }
        let lost = view::purge::lost_items(&lost);
        let question = format!(
            "Deleting {lost} cannot be undone. Type `{CONFIRMATION_WORD}` to delete everything:"
        );
        Ui::ask_for_word(environment, &question, CONFIRMATION_WORD, target.yes)
    }
}
