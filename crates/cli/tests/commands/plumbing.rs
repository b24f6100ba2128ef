//! Tests of the schema, explanations, completions and manual pages.

use crate::sandbox;

#[test]
fn a_code_is_explained_and_an_unknown_one_gets_a_suggestion() {
    let sandbox = sandbox();
    insta::assert_snapshot!(sandbox.run(["explain", "s003"]), @"
    exit 0
    ----- stdout -----
    S003 (warning): a blocking question is open

    Work done before the question is answered may have to be redone. The document is otherwise valid, but it does not advance. (Rule 2 of `midstride advance`.)

    Fix: Answer it with `midstride answer`, or set `blocking: false`.

    To silence it in one document, write a comment with the reason:
      # midstride: allow S003 REASON          in the header
      <!-- midstride: allow S003 REASON -->   in the text
    ");
    insta::assert_snapshot!(sandbox.run(["explain", "S03"]), @"
    exit 2
    ----- stderr -----
    error: no finding has the code `S03`
    hint: did you mean `S003`?
    ");
    assert_eq!(
        sandbox.run(["explain"]).exits(0).stdout.lines().count(),
        midstride_core::format::finding::Code::ALL.len()
    );
}

#[test]
fn the_schema_names_every_field() {
    let run = sandbox().run(["schema"]).exits(0);
    let schema: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let fields = schema["properties"]["handoff"]["properties"].as_object().unwrap();
    assert_eq!(fields.len(), midstride_core::format::header::HANDOFF.fields.len());
    assert!(fields.values().all(|field| field["description"].is_string()));
}

#[test]
fn completions_and_manual_pages_are_printed() {
    let sandbox = sandbox();
    for shell in ["bash", "zsh", "fish"] {
        assert!(
            sandbox.run(["completions", shell]).exits(0).stdout.contains("midstride"),
            "{shell}"
        );
    }
    assert!(sandbox.run(["man"]).exits(0).stdout.contains(".TH midstride"));
    assert!(sandbox.run(["man", "check"]).exits(0).stdout.contains("midstride\\-check"));
    insta::assert_snapshot!(sandbox.run(["man", "zebra"]), @"
    exit 2
    ----- stderr -----
    error: there is no `zebra` command
    hint: midstride help --all lists them
    ");
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let sandbox = sandbox();
    let program = env!("CARGO_BIN_EXE_midstride");
    let script = format!("{program} completions bash | true; echo ${{PIPESTATUS[0]}}");
    let run = sandbox.finish(sandbox.command("bash").args(["-c", &script])).exits(0);
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("0\n", ""));
}
