//! Tests of notes: where they are found, which are briefed, and how they are dated.

use crate::{open, set_up};
use midstride::store::Store;
use midstride::verbs::{self, BriefOutcome, BriefRequest};
use midstride_core::brief::BriefOccasion;
use midstride_core::brief::hook::HookEvent;
use midstride_testkit::Sandbox;

const NOTE: &str =
    "# Import\n\n## Current state\n\nHalf of it runs.\n\n## Next steps\n\n- Finish it\n";

fn project() -> Sandbox {
    let sandbox = Sandbox::new("none").repository();
    set_up(&open(sandbox.root()));
    sandbox
}

/// The paths of all documents of a project.
fn paths(store: &Store) -> Vec<String> {
    let spots = store.workspace().document_places().into_iter().filter_map(Result::ok);
    let mut paths: Vec<String> =
        spots.map(|spot| store.workspace().display_path(&spot).display().to_string()).collect();
    paths.sort();
    paths
}

/// The sources of a briefing, in order.
fn sources(briefed: &BriefOutcome) -> Vec<String> {
    let mut sources: Vec<String> = Vec::new();
    for told in &briefed.briefing.included {
        if !sources.contains(&told.source) {
            sources.push(told.source.clone());
        }
    }
    sources
}

fn brief(sandbox: &Sandbox, occasion: Option<BriefOccasion>) -> BriefOutcome {
    let asked = BriefRequest { occasion, tokens: Some(20_000), ..BriefRequest::default() };
    verbs::brief(&open(sandbox.root()), &asked, &mut |_, _| ())
}

#[test]
fn notes_are_found_in_the_usual_places() {
    let sandbox = project();
    let found = [
        ".agent/HANDOFF.md",
        ".agents/notes/session-3.md",
        ".claude/handoffs/one.md",
        ".continue-here.md",
        "HANDOFF.md",
        "NEXT_SESSION.md",
        "SESSION_HANDOFF.md",
        "docs/handoff/a.md",
        "docs/handoffs/b.md",
        "docs/handoffs/index-rebuild.md",
        "handoff/c.md",
        "handoffs/d.md",
        "memory-bank/activeContext.md",
        "thoughts/shared/handoffs/general/e.md",
    ];
    let skipped = [
        ".agents/skills/review/notes.md",
        ".agents/rules/style.md",
        "docs/handoffs/README.de.md",
        "docs/handoffs/README.md",
        "docs/handoffs/_TEMPLATE.md",
        "docs/handoffs/handoff-template.md",
        "handoffs/INDEX.md",
        "handoffs/CHANGELOG.md",
        "thoughts/shared/plans/p.md",
        "thoughts/searchable/shared/handoffs/general/e.md",
        "docs/other.md",
    ];
    for path in found.iter().chain(&skipped) {
        sandbox.write(path, NOTE);
    }
    assert_eq!(paths(&open(sandbox.root())), found);
}

#[test]
fn folders_of_the_configuration_are_added() {
    let sandbox = project();
    sandbox.write("notes/a.md", NOTE).write("HANDOFF.md", NOTE).write("handoffs/b.md", NOTE);
    sandbox.write(".midstride/config.toml", "folders = [\"notes\"]\n");
    assert_eq!(paths(&open(sandbox.root())), ["HANDOFF.md", "handoffs/b.md", "notes/a.md"]);
    // The older key still replaces all default folders.
    sandbox.write(".midstride/config.toml", "shelves = [\"notes\"]\n");
    assert_eq!(paths(&open(sandbox.root())), ["notes/a.md"]);
}

#[test]
fn notes_are_briefed_newest_first_and_archives_last() {
    let sandbox = project();
    sandbox.write("docs/handoffs/2026-03-01-old.md", NOTE);
    sandbox.write("docs/handoffs/2026-03-09-new.md", NOTE);
    sandbox.write("docs/handoffs/archive/2026-03-10-over.md", NOTE);
    sandbox.write("docs/handoffs/2026-03-11-done.md", format!("Status: ✅ done\n\n{NOTE}"));
    sandbox.write("docs/handoffs/2026-03-12-how-it-works.md", "# How it works\n\nWith care.\n");
    let briefed = brief(&sandbox, None);
    assert_eq!(
        sources(&briefed),
        [
            "note docs/handoffs/2026-03-09-new.md",
            "note docs/handoffs/2026-03-01-old.md",
            "note docs/handoffs/archive/2026-03-10-over.md",
        ]
    );
    assert!(briefed.briefing.text.contains("Finish it"), "{}", briefed.briefing.text);
    assert_eq!(briefed.handoffs.len(), 3, "each is delivered");
}

#[test]
fn commands_date_notes_with_git_and_hooks_use_the_cached_dates() {
    let sandbox = project();
    let commit = |path: &str, day: &str| {
        sandbox.write(path, NOTE);
        sandbox.git(&["add", path]);
        let date = format!("{day}T10:00:00Z");
        let mut git = sandbox.command("git");
        git.args(["commit", "--quiet", "--message", path, "--date", &date]);
        git.env("GIT_COMMITTER_DATE", &date);
        sandbox.finish(&mut git).exits(0);
    };
    commit("handoffs/newer.md", "2026-03-09");
    commit("handoffs/older.md", "2026-03-02");
    let dated = |occasion: Option<BriefOccasion>| {
        let text = brief(&sandbox, occasion).briefing.text;
        text.contains("2026-03-09") && text.contains("2026-03-02")
    };
    // Freshly written files look new, and a hook must not run git.
    assert!(!dated(Some(BriefOccasion::Startup)));
    assert!(dated(None));
    assert!(dated(Some(BriefOccasion::Startup)));
    let order = sources(&brief(&sandbox, Some(BriefOccasion::Startup)));
    assert_eq!(order, ["note handoffs/newer.md", "note handoffs/older.md"]);
    // A note that was edited since is as new as its file.
    sandbox.write("handoffs/older.md", format!("{NOTE}- And test it\n"));
    assert!(!dated(None));
}

#[test]
fn notes_of_an_untrusted_clone_are_counted_but_not_read() {
    let sandbox = Sandbox::new("none").repository();
    // midstride is not set up here; the configuration came with the repository.
    sandbox.write(".midstride/config.toml", "").write("NEXT_SESSION.md", NOTE);
    sandbox.write(".agents/notes/a.md", NOTE).write("handoffs/b.md", NOTE);
    let call = crate::hook_call("SessionStart", "5e55", HookEvent::Start(BriefOccasion::Startup));
    let told = verbs::hook(
        &crate::open_in_hook(sandbox.root()),
        &call,
        midstride::store::index::RefreshLimit::default(),
    )
    .answer
    .context
    .unwrap();
    assert!(told.contains("3 handoffs") && !told.contains("Finish it"), "{told}");
}
