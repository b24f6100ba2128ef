//! Briefings of other people's sessions, checked claim by claim against another reader of the transcript.
#![expect(clippy::disallowed_types, reason = "the other reader is started")]

use crate::transcripts::{client_of, jsonl_below, read};
use midstride_core::briefing::points::of_session;
use midstride_core::briefing::{Briefing, Budget, Material, Occasion, compose};
use midstride_core::checkpoint::{Around, Checkpoint, Gist, Mode};
use midstride_core::session::Client;
use midstride_testkit::{corpus, repository_root};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// On request, a page spends at least this much of 2,000 tokens before it omits something.
const TOKENS_MIN: u64 = 1_700;

/// The page that a new session gets on request.
fn briefed(client: Client, bytes: &[u8], tokens: u64) -> Briefing {
    let session = read(client, bytes);
    let around = Around {
        at: session.ended.unwrap_or_default(),
        commit: None,
        branch: None,
        plan_documents: Vec::new(),
        on_disk: BTreeMap::new(),
        ..Around::default()
    };
    let checkpoint = Checkpoint::of(session, "t.jsonl".into(), 1, Mode::Auto, around);
    let material = Material {
        client: Some(client),
        occasion: Occasion::Startup,
        role: None,
        branch: checkpoint.session.branch.clone(),
        boot: Vec::new(),
        points: of_session(&Gist::of(&checkpoint)),
        unread: 0,
        show_all: ["midstride", "brief"].map(str::to_owned).to_vec(),
        headline: None,
    };
    compose(&material, Budget { tokens, utf16_units: None })
}

/// Every transcript of the corpus; none where it is not at hand.
fn foreign() -> Vec<(Client, PathBuf, Vec<u8>)> {
    let folders = [corpus("transcripts"), corpus("fidelity")];
    let paths = folders.into_iter().flatten().flat_map(|folder| jsonl_below(&folder));
    let read = |path: PathBuf| {
        let bytes = std::fs::read(&path).unwrap();
        Some((client_of(&path, &bytes)?, path, bytes))
    };
    paths.filter_map(read).collect()
}

#[test]
fn a_page_that_omits_something_spent_its_budget() {
    let mut cut = 0;
    for (client, path, bytes) in foreign() {
        let briefing = briefed(client, &bytes, 2_000);
        let truncated = briefing.told.iter().any(|told| told.characters_cut > 0);
        if briefing.omitted.is_empty() && !truncated {
            continue;
        }
        cut += 1;
        let tokens = briefing.tokens;
        assert!(tokens >= TOKENS_MIN, "{}: {tokens}\n{}", path.display(), briefing.text);
    }
    assert!(corpus("transcripts").is_none() || cut > 10, "{cut}");
}

#[test]
fn every_claim_of_every_page_is_borne_out_by_its_transcript() {
    let mut lines = String::new();
    for (client, path, bytes) in foreign() {
        for tokens in [500, 2_000] {
            let briefing = briefed(client, &bytes, tokens);
            let omitted: Vec<&str> = briefing.omitted.iter().map(|one| &*one.text).collect();
            let line = json!({
                "client": client.name(), "path": path, "page": briefing.text, "omitted": omitted,
            });
            lines.push_str(&format!("{line}\n"));
        }
    }
    if lines.is_empty() {
        return;
    }
    let script = repository_root().join("crates/core/tests/transcripts/page.py");
    let child = Command::new("python3")
        .arg("-B")
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(_) if std::env::var_os("CI").is_none() => return,
        Err(error) => panic!("python3: {error}"),
    };
    // It reads all of it before it says anything long.
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let said = String::from_utf8(output.stdout).unwrap();
    let (wrong, claims) = said.trim_end().rsplit_once('\n').unwrap_or(("", said.trim_end()));
    assert!(wrong.is_empty(), "{wrong}");
    let claims: BTreeMap<String, usize> = serde_json::from_str(claims).unwrap();
    assert!(claims.values().all(|count| *count > 0), "a kind of claim was never read: {claims:?}");
}
