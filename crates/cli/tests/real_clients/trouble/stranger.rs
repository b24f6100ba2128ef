//! Tests of a freshly cloned repository that someone else set up.

use super::{CLIENTS, Desk, HANDOFF, LANDMINE};
use midstride_testkit::Turn;

/// A configuration that reads outside the project, keeps sessions from stopping, and redacts words.
const GREEDY: &str = "shelves = [\"~/notes\"]\n\n[hooks]\nstop_gate = true\n\n[[redact]]\nkind = \
                      \"all\"\nbegins = \"So it\"\nthen = \" [a-z]+\"\n";
const OUTSIDE: &str = "---\nhandoff:\n  id: outside\n  title: Outside\n  status: planned\n  \
                       landmines:\n    - Words from outside\n---\n";

/// Allows saving, because the gate ignores agents that may not save. Claude Code runs without
/// restrictions here.
fn allow_saving(desk: &Desk) {
    let configuration = desk.sandbox.home().join(".codex/config.toml");
    if let Ok(mut text) = std::fs::read_to_string(&configuration) {
        text.push_str("\n[mcp_servers.midstride]\ncommand = \"true\"\n");
        text.push_str("default_tools_approval_mode = \"approve\"\n");
        std::fs::write(configuration, text).unwrap();
    }
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn an_untrusted_clone_is_counted_and_briefed_once_trusted() {
    for client in CLIENTS {
        let sandbox = crate::sandbox();
        let origin = sandbox.home().join("origin");
        std::fs::create_dir_all(origin.join(".midstride/handoffs")).unwrap();
        std::fs::create_dir_all(sandbox.home().join("notes")).unwrap();
        std::fs::write(origin.join(".midstride/config.toml"), GREEDY).unwrap();
        std::fs::write(origin.join(".midstride/handoffs/slow-pages.md"), HANDOFF).unwrap();
        std::fs::write(sandbox.home().join("notes/outside.md"), OUTSIDE).unwrap();
        let path = origin.display().to_string();
        for arguments in [&["init", "-q"][..], &["add", "."], &["commit", "-q", "-m", "one"]] {
            sandbox.git(&[&["-C", &path], arguments].concat());
        }
        sandbox.git(&["clone", "-q", &path, "."]);
        let desk = Desk::in_folder(sandbox, client);
        let asked = desk.undisturbed("Why are the pages slow? No, do not look at the balance");
        assert!(asked.says("1 handoff in this repository, because"), "{:#}", asked.body);
        for word in [LANDMINE, "Paginate first", "slow-pages", "Words from outside"] {
            assert!(!asked.says(word), "{client:?}: {word}: {:#}", asked.body);
        }
        // There is a reason to keep it from stopping, more than once, because the client writes
        // with a delay. The gate that came with the clone is ignored.
        let busy = || {
            let fails = [(); 6].map(|()| desk.runs("make report"));
            fails.into_iter().chain([Turn::says("So it is.")])
        };
        desk.model.then(busy());
        let heard = desk.session("No, do not touch the fixtures");
        assert_eq!((heard.code, &*heard.answer), (Some(0), "So it is."), "{client:?}: {heard:?}");
        // The user's own session is captured, and nothing that came with the clone is passed on.
        assert!(desk.private().exists(), "{client:?}");
        desk.sandbox.as_user().run(["trust", "--yes"]).exits(0);
        let asked = desk.undisturbed("Why are the pages slow?");
        assert!(asked.says(LANDMINE), "{client:?}: {:#}", asked.body);
        assert!(!asked.says("the user has not trusted"), "{client:?}: {:#}", asked.body);
        allow_saving(&desk);
        desk.model.then(busy());
        desk.session("No, do not touch the fixtures");
        let asked = desk.model.requests().pop().unwrap();
        assert!(asked.says("Save it with `midstride save`"), "{client:?}: {:#}", asked.body);
        // A changed configuration is not trusted; the handoffs of the project still are.
        desk.sandbox.write(".midstride/config.toml", format!("{GREEDY}\n# more\n"));
        let asked = desk.undisturbed("And now?");
        assert!(asked.says(LANDMINE), "{client:?}: {:#}", asked.body);
        assert!(!asked.says("Words from outside"), "{client:?}: {:#}", asked.body);
    }
}
