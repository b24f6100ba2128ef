//! Tests that every code has a document that triggers it and one that does not.

use crate::sandbox;
use midstride_core::format::finding::Code;
use midstride_testkit::{Sandbox, fixtures};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// The fixture's header is repeated up to this size, because a file of this size is not committed.
const LARGE: usize = (1 << 20) + 1;
const REPEAT: &str = "# REPEAT-TO-1-MIB\n";
/// The session that a document is compared with, if its code is about that.
const SESSION: &str = "session.jsonl";

fn codes(sandbox: &Sandbox, arguments: &[&str]) -> BTreeSet<String> {
    let run = sandbox.run([&["check", "--json"], arguments].concat());
    let json: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run}"));
    let documents = json["documents"].as_array().unwrap();
    let findings = documents.iter().flat_map(|document| document["findings"].as_array().unwrap());
    findings.map(|finding| finding["code"].as_str().unwrap().to_owned()).collect()
}

/// The configuration of the project. Only one with a pipeline decides on capabilities.
fn config(code: &str) -> &'static str {
    match code {
        "S008" | "S009" => {
            "capabilities = [\"quota\", \"insights\", \"telemetry\", \"activity\"]\n"
        }
        _ => "",
    }
}

/// The codes found in one side of a fixture, `bad` or `good`.
fn found(folder: &Path, code: &str, side: &str) -> BTreeSet<String> {
    let sandbox = sandbox();
    if folder.join(side).is_dir() {
        sandbox.copy(&folder.join(side));
        if code.starts_with('D') {
            // Git provides the current code; nothing is committed, so nothing is blamed.
            sandbox.git(&["init", "--quiet"]);
            sandbox.git(&["add", "--all"]);
        }
        return codes(&sandbox, &[]);
    }
    sandbox.copy(folder);
    sandbox.write(".midstride/config.toml", config(code));
    let file = format!("{side}.md");
    if code == "H013" {
        let text = sandbox.read(&file);
        sandbox.write(&file, text.replace(REPEAT, &REPEAT.repeat(LARGE / REPEAT.len() + 1)));
    }
    if code.starts_with('P') {
        return codes(&sandbox, &["--pr-body", &file]);
    }
    if folder.join(SESSION).exists() {
        return codes(&sandbox, &[&file, "--transcript", SESSION]);
    }
    codes(&sandbox, &[&file])
}

#[test]
fn every_code_has_a_bad_and_a_good_document() {
    for code in Code::ALL {
        let name = code.rule().code;
        let folder = fixtures("findings").join(name);
        assert!(folder.is_dir(), "fixtures/findings/{name} is missing");
        let bad = found(&folder, name, "bad");
        assert!(bad.contains(name), "{name}: its bad document gives {bad:?}");
        let good = found(&folder, name, "good");
        assert!(!good.contains(name), "{name}: its good document gives {good:?}");
        let worse: Vec<_> = good.difference(&bad).collect();
        assert!(worse.is_empty(), "{name}: its good document has findings of its own: {worse:?}");
    }
}

#[test]
fn every_code_explains_itself() {
    let sandbox = sandbox();
    for code in Code::ALL {
        let run = sandbox.run(["explain", code.rule().code]).exits(0);
        assert!(run.stdout.contains(code.rule().why), "{run}");
        assert!(run.stdout.contains(code.rule().fix), "{run}");
    }
}
