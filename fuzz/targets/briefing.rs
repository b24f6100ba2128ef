//! Any texts in every place of a briefing that quotes text: the budget holds, everything is told or
//! counted, and each line is one of ours or behind our marker. The bytes are cut at `\0`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use midstride_core::brief::{
    BriefItem, BriefOccasion, Budget, ItemRank, Material, SourcedStartupStep, StartupStep,
    StartupTools, compose,
};

const KINDS: [(ItemRank, &str); 4] = [
    (ItemRank::Constraint, "Constraint"),
    (ItemRank::Status, "Where it stands"),
    (ItemRank::Task, "Task"),
    (ItemRank::Rest, "Failed and never passed"),
];

const BEGINNINGS: [&str; 14] = [
    "midstride briefing ",
    "Background; wait for the user",
    "Constraint",
    "Where it stands",
    "Task",
    "Failed and never passed",
    "Load this skill first",
    "Read first",
    "Not the name of a skill",
    "Not a path in this project",
    ">",
    "Omitted: ",
    "Nothing omitted.",
    "Not a constraint",
];

fuzz_target!(|bytes: &[u8]| {
    let Some((tokens, bytes)) = bytes.split_first_chunk::<2>() else { return };
    let tokens = u64::from(u16::from_le_bytes(*tokens)) % 8_000;
    let text = String::from_utf8_lossy(bytes);
    let texts: Vec<&str> = text.split('\0').collect();
    let material = material(&texts);
    let briefing = compose(&material, Budget { tokens, utf16_units: Some(10_000) });
    assert!(briefing.tokens <= tokens);
    assert!(briefing.text.encode_utf16().count() <= 10_000);
    assert_eq!(briefing.included.len() + briefing.omitted.len(), material.items.len() + 2);
    for line in briefing.text.lines() {
        let ours = line.is_empty() || BEGINNINGS.iter().any(|word| line.starts_with(word));
        assert!(ours, "not our words: {line}");
        let balanced = line.matches('"').count() % 2 == 0;
        assert!(balanced || line.starts_with('>'), "a quote is left open: {line}");
    }
    let acts = |c: char| (c.is_control() && c != '\n') || c == '<';
    assert!(!briefing.text.contains(acts));
});

fn material(texts: &[&str]) -> Material {
    let text = |at: usize| texts[at % texts.len()].to_owned();
    let boot = |action| SourcedStartupStep { step: action, source: text(1), show: vec![text(2)] };
    let point = |(at, piece): (usize, &&str)| BriefItem {
        rank: KINDS[at % 4].0,
        heading: KINDS[at % 4].1,
        text: (*piece).to_owned(),
        source: text(at + 1),
        place: Some(text(at + 2)),
        show: vec!["midstride".to_owned(), text(at + 3)],
        ..BriefItem::default()
    };
    Material {
        tools: StartupTools::UNKNOWN,
        occasion: BriefOccasion::Startup,
        role: Some(text(3)),
        branch: Some(text(4)),
        startup: vec![boot(StartupStep::Skill(text(5))), boot(StartupStep::Read(text(6)))],
        items: texts.iter().enumerate().map(point).collect(),
        unread: 0,
        show_all: vec!["midstride".to_owned(), text(7)],
        headline: None,
    }
}
