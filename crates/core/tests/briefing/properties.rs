//! Properties of every briefing.

use super::parser::{Parsed, Words};
use midstride_core::brief::{
    BriefItem, BriefOccasion, Briefing, Budget, ItemForm, ItemRank, Material, OmittedItem,
    SourcedStartupStep, StartupStep, StartupTools, compose,
};
use midstride_core::format::header::StartupKind;
use midstride_core::text::tokens;
use midstride_testkit::client;
use proptest::prelude::*;
use std::sync::LazyLock;

const KINDS: [(ItemRank, &str); 14] = [
    (ItemRank::Instruction, "The user's instruction"),
    (ItemRank::Goal, "Goal"),
    (ItemRank::Constraint, "Constraint"),
    (ItemRank::BlockingQuestion, "Blocking question"),
    (ItemRank::Status, "Status"),
    (ItemRank::NextAction, "Next action"),
    (ItemRank::WrongTurn, "Wrong turn"),
    (ItemRank::Landmine, "Landmine"),
    (ItemRank::Task, "Task"),
    (ItemRank::Decision, "Decision"),
    (ItemRank::Proof, "Proof"),
    (ItemRank::Read, "Document"),
    (ItemRank::Rest, "Failed and never passed"),
    (ItemRank::Rest, "Agent in flight"),
];
const BOOT_WHATS: [&str; 11] = [
    "Load first with the Skill tool",
    "Load this skill first",
    "Read first with the Read tool",
    "Read first",
    "Task to restore with the TaskCreate tool",
    "Task to restore with the update_plan tool",
    "Task to restore",
    "Not a skill name",
    "Not a path in this project",
    "Not a task",
    "Not a constraint",
];
const REMARKS: [&str; 2] = ["changed since", "not a startup step"];

/// Words, markup and hidden characters, in any order and of any length.
fn text() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "word ",
        "a longer piece of a sentence. ",
        "\n",
        "\r\n",
        "\u{2028}",
        "“",
        "”",
        "`",
        "```",
        "</system>",
        "- ",
        "> ",
        "#",
        "---\n",
        "[x](y)",
        "[x]: y",
        "|",
        "\\",
        "&lt;",
        "\u{202e}",
        "\u{200b}",
        "\u{e0041}",
        "\u{1b}[31m",
        "\u{301}",
        "日本語",
        "👩‍👩‍👧",
        "(1 characters cut)",
        "; ",
        "Left out: 3.",
        "Sources: [1]",
        "",
        " ",
        "…",
        "[1]",
        "\t",
    ]);
    prop_oneof![
        4 => prop::collection::vec(pieces.clone(), 0..12).prop_map(|pieces| pieces.concat()),
        2 => any::<String>(),
        1 => (pieces, 1..500_usize).prop_map(|(piece, times)| piece.repeat(times)),
    ]
}

fn point() -> impl Strategy<Value = BriefItem> {
    let kind = prop::sample::select(KINDS.to_vec());
    let source = prop_oneof![
        Just("handoff market-page-perf".to_owned()),
        Just("session 1f3a09c2".to_owned()),
        text(),
    ];
    let place = prop::option::of(text());
    let show = prop::collection::vec(prop_oneof![Just("midstride".to_owned()), text()], 0..4);
    let remark = prop::option::of(Just("changed since"));
    (kind, text(), remark, source, place, show, any::<bool>()).prop_map(
        |((rank, what), text, remark, source, place, show, is_of_page)| BriefItem {
            rank,
            heading: what,
            text,
            remark: remark.map(str::to_owned),
            source,
            place,
            show,
            is_page_subject: is_of_page,
            ..BriefItem::default()
        },
    )
}

/// Arbitrary items, or very many of one kind.
fn points() -> impl Strategy<Value = Vec<BriefItem>> {
    let many = (point(), prop::collection::vec(text(), 0..40)).prop_map(|(point, texts)| {
        let of = |text| BriefItem { text, ..point.clone() };
        texts.into_iter().map(of).collect::<Vec<_>>()
    });
    (prop::collection::vec(point(), 0..20), many).prop_map(|(mut points, many)| {
        points.extend(many);
        points
    })
}

/// A text that is never a name or a path.
fn strange() -> impl Strategy<Value = String> {
    text().prop_map(|text| format!("$ {text}"))
}

fn boot() -> impl Strategy<Value = SourcedStartupStep> {
    let action = prop_oneof![
        prop_oneof![Just("tdd".to_owned()), strange()].prop_map(StartupStep::Skill),
        prop_oneof![Just("docs/plan.md".to_owned()), strange()].prop_map(StartupStep::Read),
        prop::collection::vec(text(), 0..8).prop_map(StartupStep::Tasks),
        text().prop_map(StartupStep::Constraint),
    ];
    (action, text()).prop_map(|(action, source)| SourcedStartupStep {
        step: action,
        source,
        show: Vec::new(),
    })
}

fn material() -> impl Strategy<Value = Material> {
    let known = ["claude-code", "codex"].map(|name| client(name).profile().tools);
    let tools = prop::sample::select(vec![StartupTools::UNKNOWN, known[0], known[1]]);
    let occasion = prop::sample::select(BriefOccasion::ALL.to_vec());
    let name = || prop::option::of(text());
    let boot = prop::collection::vec(boot(), 0..3);
    (tools, occasion, name(), name(), boot, points(), 0..3_usize).prop_map(
        |(tools, occasion, role, branch, boot, points, unread)| Material {
            tools,
            occasion,
            role,
            branch,
            startup: boot,
            items: points,
            unread,
            show_all: ["midstride", "brief", "--budget", "8000"].map(str::to_owned).to_vec(),
            headline: None,
        },
    )
}

fn budget(tokens: std::ops::Range<u64>) -> impl Strategy<Value = Budget> {
    let units = prop_oneof![Just(None), Just(Some(10_000)), (300_u64..4_000).prop_map(Some)];
    (tokens, units).prop_map(|(tokens, utf16_units)| Budget { tokens, utf16_units })
}

/// The rank and source of every item in order of importance, startup steps first.
fn in_order(material: &Material) -> Vec<(ItemRank, String)> {
    let mut all: Vec<(ItemRank, String)> = Vec::new();
    for boot in &material.startup {
        let mut push = |rank| all.push((rank, boot.source.clone()));
        match &boot.step {
            StartupStep::Skill(name) if name == "tdd" => push(ItemRank::Read),
            StartupStep::Read(path) if path == "docs/plan.md" => push(ItemRank::Read),
            StartupStep::Skill(_) | StartupStep::Read(_) => push(ItemRank::Rest),
            StartupStep::Tasks(tasks) => {
                for task in tasks {
                    push(unless(StartupKind::Task, task, ItemRank::Task));
                }
            }
            StartupStep::Constraint(text) => {
                push(unless(StartupKind::Constraint, text, ItemRank::Constraint));
            }
        }
    }
    let points = material.items.iter();
    all.extend(points.map(|point| (point.rank, point.source.clone())));
    // The user's instructions come first, then the items about each piece of work in their original
    // order.
    let is_work = |rank| {
        matches!(rank, ItemRank::Source | ItemRank::Goal | ItemRank::Status | ItemRank::NextAction)
    };
    all.sort_by_key(|(rank, _)| match *rank == ItemRank::Instruction {
        true => (0, ItemRank::Source),
        false if is_work(*rank) => (1, ItemRank::Source),
        false => (2, *rank),
    });
    all
}

/// The rank of a startup step, unless it is rejected.
fn unless(kind: StartupKind, text: &str, rank: ItemRank) -> ItemRank {
    if kind.rejection_reason(text).is_some() { ItemRank::Rest } else { rank }
}

static WORDS: LazyLock<Words> = LazyLock::new(|| {
    let whats: Vec<&str> = KINDS.iter().map(|(_, what)| *what).chain(BOOT_WHATS).collect();
    Words::of(&whats, &REMARKS)
});

/// Every item is on the page, counted as omitted, or repeated, which means that another item on the
/// page contains its whole text. Items on the page are in order of importance, and so are the
/// omitted ones after them, with two exceptions when the user's instructions would fill the page:
/// instructions have their own order, and the first status, next step and goal come before what is
/// between them.
fn all_is_accounted_for(material: &Material, briefing: &Briefing) {
    let told: Vec<(ItemRank, String)> =
        briefing.included.iter().map(|told| (told.rank, told.source.clone())).collect();
    let of = |one: &OmittedItem| (one.rank, one.source.clone());
    let omitted: Vec<(ItemRank, String)> = briefing.omitted.iter().map(of).collect();
    let is_in_order = |some: &[(ItemRank, String)]| {
        let mut rest = in_order(material).into_iter();
        for one in some {
            let found = rest.any(|other| other == *one);
            assert!(found, "not in the order of importance: {one:?}\n{}", briefing.text);
        }
    };
    is_in_order(&told);
    is_in_order(&omitted);
    let is_instruction = |one: &&(ItemRank, String)| one.0 == ItemRank::Instruction;
    let all = || told.iter().chain(&omitted);
    is_in_order(&all().filter(is_instruction).cloned().collect::<Vec<_>>());
    let is_crowded = omitted.iter().any(|one| is_instruction(&one));
    let is_lead = |rank| {
        matches!(rank, ItemRank::Goal | ItemRank::Status | ItemRank::NextAction) && is_crowded
    };
    let others = all().filter(|one| !is_instruction(one) && !is_lead(one.0));
    is_in_order(&others.cloned().collect::<Vec<_>>());
    let mut accounted: Vec<(ItemRank, String)> = told.into_iter().chain(omitted).collect();
    accounted.extend(briefing.repeated.iter().chain(&briefing.merged).map(of));
    let mut everything = in_order(material);
    accounted.sort();
    everything.sort();
    assert_eq!(accounted, everything, "{}", briefing.text);
}

/// Every line of a repeated item is on the page; of a merged item, the beginning is.
fn repeated_items_are_on_the_page(parsed: &Parsed, briefing: &Briefing) {
    // An omitted item is shown in one line, so its whitespace is collapsed.
    let single_spaced = |line: &String| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let quoted: Vec<String> =
        parsed.items.iter().flat_map(|item| &item.quotes).map(single_spaced).collect();
    for one in briefing.repeated.iter().chain(&briefing.merged) {
        let text = one.text();
        let first: String = text.trim_end_matches("[…]").trim().chars().take(40).collect();
        let is_there = quoted.iter().any(|line| line.contains(first.trim()));
        assert!(is_there, "{first:?} is not on\n{}", briefing.text);
    }
}

/// The headings in order; neighbors with the same name may share a block.
fn headings<'w>(whats: impl Iterator<Item = &'w str>) -> Vec<&'w str> {
    let mut whats: Vec<&str> = whats.collect();
    whats.dedup();
    whats
}

fn holds(material: &Material, budget: Budget) -> Briefing {
    let briefing = compose(material, budget);
    assert_eq!(compose(material, budget), briefing, "the same twice");
    all_is_accounted_for(material, &briefing);
    assert!(briefing.tokens <= budget.tokens);
    assert_eq!(briefing.tokens, tokens::estimate(&briefing.text));
    let units = briefing.text.encode_utf16().count() as u64;
    assert!(budget.utf16_units.is_none_or(|most| units <= most));
    if briefing.text.is_empty() {
        assert!(briefing.included.is_empty());
        return briefing;
    }
    let parsed = WORDS.parse(&briefing.text);
    assert_eq!(parsed.tokens, briefing.tokens, "it says what it costs");
    let omitted = briefing.omitted.len() + material.unread;
    assert_eq!(parsed.omitted, omitted, "it says how much it omits");
    let told = headings(briefing.included.iter().map(|told| told.heading));
    assert_eq!(headings(parsed.items.iter().map(|item| &*item.what)), told, "{}", briefing.text);
    assert!(parsed.items.len() <= briefing.included.len());
    let lines: usize = parsed.items.iter().map(|item| item.quotes.len()).sum();
    assert!(lines >= briefing.included.len(), "each item has a line: {}", briefing.text);
    repeated_items_are_on_the_page(&parsed, &briefing);
    let truncated = briefing.included.iter().filter(|told| told.characters_truncated > 0).count();
    let truncated = truncated + briefing.merged.len();
    assert_eq!(parsed.truncated, truncated, "nothing is truncated silently");
    briefing
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_budget_is_met_and_every_item_is_accounted_for(
        material in material(),
        budget in budget(200..8_000),
    ) {
        let briefing = holds(&material, budget);
        let nothing = in_order(&material).is_empty();
        if budget.utf16_units.is_none() {
            prop_assert_eq!(briefing.text.is_empty(), nothing, "something to say is said");
        }
    }

    #[test]
    fn next_actions_come_before_other_statuses(
        mut material in material(),
        work in prop::collection::vec((text(), text()), 1..4),
        budget in budget(200..1_000),
    ) {
        material.items.retain(|point| {
            !matches!(point.rank, ItemRank::Status | ItemRank::NextAction)
        });
        let of = |at: usize, rank, heading, text: &String| BriefItem {
            rank,
            heading,
            text: text.clone(),
            source: format!("handoff number-{at}"),
            ..BriefItem::default()
        };
        for (at, (standing, next)) in work.iter().enumerate() {
            material.items.push(of(at, ItemRank::Status, "Status", standing));
            material.items.push(of(at, ItemRank::NextAction, "Next action", next));
        }
        let briefing = holds(&material, budget);
        let tells = |at: usize, rank: ItemRank| {
            let source = format!("handoff number-{at}");
            briefing.included.iter().any(|told| told.source == source && told.rank == rank)
        };
        for at in 1..work.len() {
            let outlives = tells(at - 1, ItemRank::NextAction) || !tells(at, ItemRank::Status);
            prop_assert!(outlives, "{}", briefing.text);
        }
    }

    #[test]
    fn tiny_budgets_are_met(material in material(), budget in budget(0..200)) {
        holds(&material, budget);
    }
}

#[test]
fn a_starting_session_gets_next_actions_despite_many_instructions() {
    let of = |rank, what, source: &str| BriefItem {
        rank,
        heading: what,
        text: format!("{what} {}", "of a length that texts really have, and then some. ".repeat(4)),
        source: format!("handoff {source}"),
        show: vec!["midstride".into(), "show".into(), source.into()],
        ..BriefItem::default()
    };
    let mut points = Vec::new();
    for source in ["first", "second"] {
        for _ in 0..10 {
            points.push(of(ItemRank::Constraint, "Constraint", source));
            points.push(of(ItemRank::BlockingQuestion, "Blocking question", source));
        }
        points.push(of(ItemRank::Status, "Status", source));
        points.push(of(ItemRank::NextAction, "Next action", source));
    }
    let material = Material {
        tools: client("claude-code").profile().tools,
        occasion: BriefOccasion::Startup,
        role: None,
        branch: Some("main".to_owned()),
        startup: Vec::new(),
        items: points,
        unread: 0,
        show_all: ["midstride", "brief", "--budget", "20000"].map(str::to_owned).to_vec(),
        headline: None,
    };
    let briefing = holds(&material, Budget { tokens: 500, utf16_units: Some(10_000) });
    let tells = |rank: ItemRank| briefing.included.iter().find(|told| told.rank == rank);
    for rank in [ItemRank::Constraint, ItemRank::Status, ItemRank::NextAction] {
        assert_eq!(tells(rank).unwrap().source, "handoff first", "{}", briefing.text);
    }
}

/// A session with this many instructions of the user, newest first, of about ten tokens each.
fn instructed(instructions: usize) -> Material {
    let line = |rank, what, text: String| BriefItem {
        rank,
        heading: what,
        text,
        form: ItemForm::Line,
        source: "session 1f3a09c2".to_owned(),
        is_page_subject: true,
        show: ["midstride", "dismiss"].map(str::to_owned).to_vec(),
        ..BriefItem::default()
    };
    let rule = |at: usize| {
        let text = format!("\"Never touch the folder of number {at}.\" (i-{at:06})");
        line(ItemRank::Instruction, "The user's instruction", text)
    };
    let mut points: Vec<BriefItem> = (0..instructions).map(rule).collect();
    let long = "Make the market pages fast again, and keep the cache warm over deploys. ".repeat(6);
    points.push(line(ItemRank::Source, "Last session", "Claude Code 1f3a09c2".to_owned()));
    points.push(BriefItem {
        form: ItemForm::Quote,
        ..line(ItemRank::Goal, "Goal (the user)", long.clone())
    });
    let status = "3 files edited since the last commit, no push seen".to_owned();
    points.push(line(ItemRank::Status, "Status", status));
    points.push(BriefItem { form: ItemForm::Quote, ..line(ItemRank::NextAction, "Next", long) });
    for at in 0..80 {
        let said =
            format!("Report number {at}. {}", "The cache is warm after a deploy. ".repeat(4));
        points.push(BriefItem { form: ItemForm::Quote, ..line(ItemRank::Report, "Report", said) });
    }
    Material {
        tools: client("claude-code").profile().tools,
        occasion: BriefOccasion::Startup,
        role: None,
        branch: Some("main".to_owned()),
        startup: Vec::new(),
        items: points,
        unread: 0,
        show_all: ["midstride", "brief", "--budget", "20000"].map(str::to_owned).to_vec(),
        headline: None,
    }
}

#[test]
fn many_instructions_leave_space_for_the_work() {
    for (tokens, most) in [(500, 300), (1_000, 600)] {
        let budget = Budget { tokens, utf16_units: Some(10_000) };
        let briefing = compose(&instructed(120), budget);
        let tells = |rank| briefing.included.iter().filter(|told| told.rank == rank).count();
        for rank in [ItemRank::Status, ItemRank::NextAction, ItemRank::Goal] {
            assert_eq!(tells(rank), 1, "{}", briefing.text);
        }
        let is_rule = |line: &&str| line.contains("Never touch");
        let rules: Vec<&str> = briefing.text.lines().filter(is_rule).collect();
        let cost = tokens::estimate(&rules.join("\n"));
        assert!((most * 3 / 4..=most).contains(&cost), "{cost}: {}", briefing.text);
        assert!(rules[0].contains("number 0."), "the newest one: {}", briefing.text);
        let left = 120 - rules.len();
        let counted = format!("Omitted: {left} instructions (listed by midstride dismiss)");
        assert!(briefing.text.contains(&counted), "{}", briefing.text);
    }
}

#[test]
fn instructions_that_fit_are_never_omitted() {
    let budget = Budget { tokens: 500, utf16_units: Some(10_000) };
    let omits = |instructions: usize| {
        let briefing = compose(&instructed(instructions), budget);
        briefing.omitted.iter().any(|one| one.rank == ItemRank::Instruction)
    };
    assert!((1..=12).all(|instructions| !omits(instructions)));
    // If there is nothing else to say, instructions get the whole page.
    let mut alone = instructed(20);
    alone.items.retain(|point| point.rank == ItemRank::Instruction);
    let briefing = compose(&alone, budget);
    assert!(briefing.omitted.is_empty(), "{}", briefing.text);
}

#[test]
fn very_large_material_is_briefed_in_time() {
    let point = |at: usize| BriefItem {
        rank: KINDS[at % 14].0,
        heading: KINDS[at % 14].1,
        text: "word ".repeat(at % 2_000),
        source: format!("handoff number-{at}"),
        show: vec!["midstride".into(), "show".into(), format!("number-{at}")],
        ..BriefItem::default()
    };
    let material = Material {
        tools: StartupTools::UNKNOWN,
        occasion: BriefOccasion::Resume,
        role: None,
        branch: None,
        startup: Vec::new(),
        items: (0..10_000).map(point).collect(),
        unread: 0,
        show_all: Vec::new(),
        headline: None,
    };
    let briefing = holds(&material, Budget { tokens: 8_000, utf16_units: Some(10_000) });
    assert!(briefing.included.len() > 20, "{}", briefing.included.len());
}

#[test]
fn an_item_with_a_tab_is_recognized_on_the_page() {
    let item = |text: &str| BriefItem {
        rank: ItemRank::Landmine,
        heading: "Landmine",
        text: text.to_owned(),
        source: "handoff market".to_owned(),
        is_page_subject: true,
        ..BriefItem::default()
    };
    let material = Material {
        tools: StartupTools::UNKNOWN,
        occasion: BriefOccasion::Startup,
        role: None,
        branch: None,
        startup: Vec::new(),
        items: vec![item("left\tright, and more"), item("left\tright")],
        unread: 0,
        show_all: vec!["midstride".to_owned()],
        headline: None,
    };
    let briefing = holds(&material, Budget { tokens: 400, utf16_units: None });
    let names: Vec<String> = briefing.repeated.iter().map(OmittedItem::text).collect();
    assert_eq!(names, ["left right"], "{}", briefing.text);
    // The page keeps the width of the tab.
    assert!(briefing.text.contains("> left  right, and more\n"), "{}", briefing.text);
}
