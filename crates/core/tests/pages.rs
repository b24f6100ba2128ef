//! Briefings of the corpus's sessions, checked claim by claim against an independent reader of the
//! transcript.
#![expect(clippy::disallowed_types, reason = "the other reader is started")]

use crate::transcripts::{client_of, jsonl_below, read};
use midstride_core::brief::items::session_items;
use midstride_core::brief::{BriefOccasion, Briefing, Budget, Material, OmittedItem, compose};
use midstride_core::session::checkpoint::{
    Checkpoint, CheckpointContext, CheckpointMode, SessionSummary,
};
use midstride_core::text::tokens::estimate;
use midstride_testkit::{corpus, fixtures, repository_root};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The minimum a page uses of its 2,000 tokens before it omits anything.
const TOKENS_MIN: u64 = 1_700;

/// The briefing that a new session gets on request.
pub(crate) fn briefed(client: &str, bytes: &[u8], tokens: u64) -> Briefing {
    let session = read(client, bytes);
    let around = CheckpointContext {
        at: session.ended.unwrap_or_default(),
        commit: None,
        branch: None,
        plan_documents: Vec::new(),
        on_disk: BTreeMap::new(),
        ..CheckpointContext::default()
    };
    let checkpoint = Checkpoint::new(session, "t.jsonl".into(), 1, CheckpointMode::Auto, around);
    let client_title = midstride_testkit::client(client).title();
    let material = Material {
        tools: midstride_testkit::client(client).profile().tools,
        occasion: BriefOccasion::Startup,
        role: None,
        branch: checkpoint.session.branch.clone(),
        startup: Vec::new(),
        items: session_items(&SessionSummary::from_checkpoint(&checkpoint), client_title),
        unread: 0,
        show_all: ["midstride", "brief", "--budget", "20000"].map(str::to_owned).to_vec(),
        headline: None,
    };
    compose(&material, Budget { tokens, utf16_units: None })
}

/// Every transcript of the corpus.
fn foreign() -> Vec<(&'static str, PathBuf, Vec<u8>)> {
    let folders = [corpus("transcripts"), corpus("fidelity")];
    let paths = folders.into_iter().flat_map(|folder| jsonl_below(&folder));
    let read = |path: PathBuf| {
        let bytes = std::fs::read(&path).unwrap();
        Some((client_of(&path, &bytes)?, path, bytes))
    };
    paths.filter_map(read).collect()
}

#[test]
#[ignore = "needs MIDSTRIDE_CORPUS"]
fn a_page_of_the_corpus_with_omissions_uses_its_budget() {
    let mut cut = 0;
    for (client, path, bytes) in foreign() {
        let briefing = briefed(client, &bytes, 2_000);
        let truncated = briefing.included.iter().any(|told| told.characters_truncated > 0);
        if briefing.omitted.is_empty() && briefing.merged.is_empty() && !truncated {
            continue;
        }
        cut += 1;
        let tokens = briefing.tokens;
        assert!(tokens >= TOKENS_MIN, "{}: {tokens}\n{}", path.display(), briefing.text);
    }
    assert!(cut > 10, "{cut}");
}

/// The maximum size of what a page says about itself: source line, notice, omissions.
const FRAME_TOKENS_MAX: u64 = 80;

#[test]
#[ignore = "needs MIDSTRIDE_CORPUS"]
fn the_frame_of_a_page_of_the_corpus_is_small() {
    for (client, path, bytes) in foreign() {
        for tokens in [500, 2_000] {
            let text = briefed(client, &bytes, tokens).text;
            let mut lines = text.lines();
            let Some(closing) = lines.next_back() else { continue };
            let frame: Vec<&str> = lines.take(3).chain([closing]).collect();
            let frame = estimate(&frame.join("\n"));
            assert!(frame <= FRAME_TOKENS_MAX, "{}: {frame}\n{text}", path.display());
        }
    }
}

/// The result of the independent reader: each wrong claim, then the number of claims by kind.
fn judged(pages: &str) -> Option<(String, BTreeMap<String, usize>)> {
    let script = repository_root().join("crates/core/tests/transcripts/page.py");
    let mut python = Command::new("python3");
    python.arg("-B").arg(script).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = match python.spawn() {
        Ok(child) => child,
        Err(_) if std::env::var_os("CI").is_none() => return None,
        Err(error) => panic!("python3: {error}"),
    };
    child.stdin.take().unwrap().write_all(pages.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let said = String::from_utf8(output.stdout).unwrap();
    let (wrong, claims) = said.trim_end().rsplit_once('\n').unwrap_or(("", said.trim_end()));
    Some((wrong.to_owned(), serde_json::from_str(claims).unwrap()))
}

fn line(client: &str, path: &Path, briefing: &Briefing, page: &str) -> String {
    let omitted: Vec<String> = briefing.omitted.iter().map(OmittedItem::text).collect();
    let line = json!({"client": client, "path": path, "page": page, "omitted": omitted});
    format!("{line}\n")
}

#[test]
#[ignore = "needs MIDSTRIDE_CORPUS"]
fn every_claim_of_every_corpus_page_is_supported_by_its_transcript() {
    let mut lines = String::new();
    for (client, path, bytes) in foreign() {
        for tokens in [500, 2_000] {
            let briefing = briefed(client, &bytes, tokens);
            lines.push_str(&line(client, &path, &briefing, &briefing.text));
        }
    }
    let Some((wrong, claims)) = judged(&lines) else { return };
    assert!(wrong.is_empty(), "{wrong}");
    let read = |kind: &str| claims[kind];
    assert!(read("commit") > 50 && read("check") > 50 && read("file") > 50, "{claims:?}");
    assert!(read("address") > 10 && read("quote") > 1_000, "{claims:?}");
}

#[test]
fn the_independent_reader_detects_a_false_page() {
    let path = fixtures("transcripts/claude-code").join("cache.jsonl");
    let client = "claude-code";
    let briefing = briefed(client, &std::fs::read(&path).unwrap(), 2_000);
    let wrong = |page: &str| judged(&line(client, &path, &briefing, page)).map(|(wrong, _)| wrong);
    let Some(nothing) = wrong(&briefing.text) else { return };
    assert_eq!(nothing, "", "{}", briefing.text);
    let falsified = [
        ("Failing: `npm run build` last", "Failing: `npm test` last", "failing, and passed later"),
        ("; 1 file edited since", "; no edits since", "edited since"),
        ("page.tsx, cache.ts", "page.tsx, zebra.ts", "never changed"),
        ("> Keep it in one file", "> Keep it in two files", "never said"),
    ];
    for (from, to, expected) in falsified {
        assert!(briefing.text.contains(from), "{from} is not in\n{}", briefing.text);
        let said = wrong(&briefing.text.replace(from, to)).unwrap();
        assert!(said.contains(expected), "{to}: {said}");
    }
}
