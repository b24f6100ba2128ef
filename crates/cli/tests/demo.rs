//! Tests of the demo.

use crate::sandbox;

#[test]
fn the_demonstration_tells_its_story_and_leaves_nothing_behind() {
    let sandbox = sandbox();
    let temporary = sandbox.home().join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    let program = env!("CARGO_BIN_EXE_midstride");
    let demo = || {
        let mut command = sandbox.command(program);
        // The demo must ignore the settings of clients.
        command.arg("demo").env("CLAUDE_CONFIG_DIR", sandbox.home().join("elsewhere"));
        command.env("TMPDIR", &temporary);
        command
    };
    // An agent can run it too: what the demo allows counts in its own folder only.
    let by_agent = sandbox.finish(demo().env("CLAUDECODE", "1")).exits(0);
    assert!(by_agent.stdout.contains("by claude-code: formatted"), "{by_agent}");
    let run = sandbox.finish(&mut demo()).exits(0);
    let (before, behind) = run.stdout.split_once("the code it cites: ").unwrap();
    let named =
        format!("{before}the code it cites: [SHORT COMMIT] {}", &behind["12345678 ".len()..]);
    insta::assert_snapshot!(named);
    assert_eq!(run.stderr, "");
    assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0);
    assert_eq!(std::fs::read_dir(sandbox.root()).unwrap().count(), 0);
}
