//! Sections of a body, classified by the meaning of their heading.
//!
//! Real handoffs share almost no headings, so no exact heading is required. One table maps words to
//! meanings, in all languages seen so far.

use crate::text::markdown::Heading;
use crate::text::span::{Span, Spanned, line_end};

/// What a section is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SectionMeaning {
    /// What the handoff is about.
    Summary,
    /// What was found.
    Diagnosis,
    /// Why the problem occurs.
    RootCauses,
    /// What to do.
    Plan,
    /// What to do next.
    Continuation,
    /// The current status.
    State,
    /// What was tried and was wrong.
    WrongTurns,
    /// Known pitfalls.
    Landmines,
    /// What was decided.
    Decisions,
    /// What is not known yet.
    Questions,
    /// What is assumed.
    Assumptions,
    /// How to verify the result.
    Verification,
    /// Documents to read and files that were changed.
    References,
    /// A header written as a section.
    Handoff,
}

/// How well a heading matches a meaning, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HeadingFit {
    /// The heading is the name, optionally with a remark: `Next steps (after the merge)`.
    Exact,
    /// The heading starts with the name: `Current state of main`.
    Start,
    /// The heading contains the name: `Suggested next steps`.
    Within,
    /// The heading starts with words that often, but not always, mean this: `Resume command`.
    Weak,
}

/// Maps the start of a heading to its meaning. The first matching row wins, so longer aliases come
/// before shorter ones. [`WEAK_ALIASES`] count only if no other row matches.
#[rustfmt::skip] // a line per language, not per word
const ALIASES: &[(SectionMeaning, &[&str])] = &[
    (SectionMeaning::WrongTurns, &[
        "wrong turn", "dead end", "what was wrong", "what didn't work", "what did not work",
        "what failed", "failed approach", "failed attempt", "rejected", "tried and",
        "approaches tried", "things tried", "what was tried", "what we tried", "mistakes",
        "irrwege", "was nicht ging", "impasses", "callejones sin salida", "vicoli ciechi",
        "o que não funcionou", "тупики", "что не сработало", "行き止まり", "走过的弯路",
    ]),
    (SectionMeaning::Landmines, &[
        "landmine", "context landmine", "gotcha", "pitfall", "trap", "watch out", "caveat",
        "important reminder", "known issue", "known bug", "known problem", "known hard limit",
        "known limitation", "known gap", "footgun", "risks", "warning",
        "stolperfallen", "fallstricke", "bekannte probleme", "pièges", "problèmes connus",
        "trampas", "problemas conocidos", "insidie", "problemi noti", "problemas conhecidos",
        "подводные камни", "известные проблемы", "注意", "既知の問題", "陷阱", "已知问题",
    ]),
    (SectionMeaning::RootCauses, &[
        "root cause", "cause", "why it is slow", "why it happens",
        "ursache", "ursachen", "causes profondes", "causa", "causas", "причина", "причины",
        "原因", "根因",
    ]),
    (SectionMeaning::Questions, &[
        "open question", "question", "unresolved", "unknowns", "to clarify", "open decision",
        "offene fragen", "fragen", "questions ouvertes", "preguntas", "domande", "вопросы",
        "открытые вопросы", "未解決", "未決", "待解决",
    ]),
    (SectionMeaning::Continuation, &[
        "continuation", "next step", "action item", "immediate next", "next action",
        "next safe action", "next up", "next task", "next priorities", "next move", "start here",
        "pick up here", "where to start", "what's next", "whats next", "what next", "next session",
        "to do next", "todo", "to-do", "to do", "remaining", "left to do", "still to do",
        "open item", "what's left", "what is left",
        "nächste schritte", "wie es weitergeht", "prochaines étapes", "suite", "próximos pasos",
        "próximos passos", "prossimi passi", "следующие шаги", "дальше", "次のステップ",
        "次にやること", "下一步", "待办",
    ]),
    (SectionMeaning::References, &["plan document", "plan file"]),
    (SectionMeaning::Plan, &[
        "plan", "implementation plan", "fix plan", "proposed fix", "proposed solution",
        "implementation step", "steps",
        "umsetzung", "vorgehen", "piano", "план", "計画", "计划",
    ]),
    (SectionMeaning::Diagnosis, &[
        "diagnosis", "finding", "key finding", "learnings", "key learning", "lessons",
        "what was learned", "what we learned", "analysis", "investigation", "measurement",
        "observation", "evidence",
        "diagnose", "befund", "befunde", "diagnostic", "diagnóstico", "diagnosi", "диагноз",
        "диагностика", "診断", "诊断",
    ]),
    (SectionMeaning::Decisions, &[
        "decision", "key decision", "architecture decision", "design decision", "decided",
        "entscheidung", "entscheidungen", "décision", "décisions", "decisiones", "decisioni",
        "decisões", "решения", "決定", "决定", "决策",
    ]),
    (SectionMeaning::Assumptions, &[
        "assumption", "annahme", "annahmen", "hypothèses", "supuestos", "допущения", "前提", "假设",
    ]),
    (SectionMeaning::Verification, &[
        "verification", "verify", "how to verify", "testing", "test plan", "acceptance",
        "validation", "prüfung", "vérification", "verificación", "проверка", "検証", "验证",
    ]),
    (SectionMeaning::State, &[
        "state", "status", "current state", "current status", "project status", "project state",
        "where we are", "where it stands", "where things stand", "where things are",
        "stand", "état", "estado", "stato", "состояние", "статус", "現状", "现状", "当前状态",
        "项目状态", "进度",
    ]),
    (SectionMeaning::References, &[
        "reference", "critical reference", "artifact", "key file", "files", "documentation",
        "related", "repository location", "links", "read this",
        "dateien", "fichiers", "archivos", "файлы", "ссылки", "参考",
    ]),
    (SectionMeaning::Summary, &[
        "summary", "session summary", "executive summary", "tl;dr", "tldr", "overview",
        "zusammenfassung", "überblick", "résumé", "resumen", "riepilogo", "resumo", "visão geral",
        "кратко", "概要", "摘要", "项目概览",
    ]),
    (SectionMeaning::Handoff, &["handoff"]),
];

/// Aliases that match anywhere in a heading.
#[rustfmt::skip] // a line per meaning
const ANYWHERE_ALIASES: &[(SectionMeaning, &[&str])] = &[
    (SectionMeaning::WrongTurns, &["wrong turn", "dead end", "failed approach", "didn't work", "did not work"]),
    (SectionMeaning::Continuation, &[
        "next step", "next action", "next up", "action item", "remaining work", "remaining task",
        "todo", "left to do", "still to do", "pick up here", "próximos passos", "下一步", "待办",
    ]),
    (SectionMeaning::Landmines, &["landmine", "gotcha", "pitfall", "footgun", "known issue", "known gap", "will bite"]),
    (SectionMeaning::RootCauses, &["root cause", "根因"]),
    (SectionMeaning::Questions, &["open question", "未解決", "決まっていないこと"]),
    (SectionMeaning::Decisions, &["decisions made", "key decision", "決まったこと", "决策"]),
    (SectionMeaning::State, &["current state", "current status", "状态"]),
];

/// Aliases that count only if nothing else matches.
#[rustfmt::skip] // a line per meaning
const WEAK_ALIASES: &[(SectionMeaning, &[&str])] = &[
    (SectionMeaning::Continuation, &[
        "resume command", "resume instruction", "resume prompt", "resume point", "resume here",
        "how to resume", "to resume", "how to continue", "resuming", "pending", "outstanding",
        "backlog", "not done", "what is not done", "what's not done", "what isn't done",
        "what's missing", "what is missing", "in-flight", "in flight", "follow-ups", "follow ups",
        "follow-up work", "follow-up item", "follow-up task", "future work", "first step", "o que falta", "cosa manca", "was fehlt",
    ]),
    (SectionMeaning::Plan, &["approach", "solution"]),
    (SectionMeaning::State, &[
        "recent change", "changes since", "what was done", "what we did", "what was accomplished",
        "what was built", "what was completed", "what was just completed", "what changed",
        "what is done", "what's done", "what is already done", "what just happened", "task(s)",
        "progress", "completed", "done", "accomplishment", "key outcome", "cosa abbiamo fatto",
        "was erledigt ist", "lo que se hizo", "o que foi feito", "ce qui a été fait", "完了したこと",
        "已完成",
    ]),
    (SectionMeaning::Summary, &[
        "context", "background", "goal", "purpose", "problem", "task", "objective", "mission",
        "what this is", "依頼",
    ]),
];

/// Words in a heading that mark its work as deferred.
const DEFERRAL_WORDS: [&str; 5] = ["out of scope", "later", "optional", "someday", "nice to have"];

impl SectionMeaning {
    /// The meaning of a heading, if it is known.
    pub fn from_title(title: &str) -> Option<Self> {
        Self::match_title(title).map(|(meaning, _)| meaning)
    }

    /// The meaning of a heading, and how well the heading matches it.
    pub(crate) fn match_title(title: &str) -> Option<(Self, HeadingFit)> {
        let title = normalize_title(title);
        let starts = |table: &'static [(Self, &[&str])]| {
            let has = |alias: &&str| starts_with_words(&title, alias);
            table.iter().find(|(_, aliases)| aliases.iter().any(has)).map(|(meaning, _)| *meaning)
        };
        // These count only on their own ("next" may have a remark). A longer title may be something
        // else, such as "Next.js migration".
        match (without_remark(&title), title.as_str()) {
            ("next", _) => return Some((Self::Continuation, HeadingFit::Exact)),
            (_, "resume") => return Some((Self::Continuation, HeadingFit::Weak)),
            _ => {}
        }
        // A title like "Handoff: market pages" names the document. It contains no header.
        let named = starts(ALIASES).filter(|one| *one != Self::Handoff || title == "handoff");
        let has = |name: &&str| contains_words(&title, name);
        let within = ANYWHERE_ALIASES.iter().find(|(_, names)| names.iter().any(has));
        let within = within.map(|(meaning, _)| (*meaning, HeadingFit::Within));
        // "Known gaps / next steps" is about what to do next.
        let continues = within.filter(|(meaning, _)| *meaning == Self::Continuation);
        if let (Some(Self::Landmines | Self::Questions | Self::Summary), Some(found)) =
            (named, continues)
        {
            return Some(found);
        }
        // Deferred or out-of-scope work is rarely the next step.
        let is_put_off = |words: &&str| contains_words(&title, words);
        if named == Some(Self::Continuation) && DEFERRAL_WORDS.iter().any(is_put_off) {
            return Some((Self::Continuation, HeadingFit::Weak));
        }
        if let Some(meaning) = named {
            let fit = if is_exact_alias(without_remark(&title), meaning) {
                HeadingFit::Exact
            } else {
                HeadingFit::Start
            };
            return Some((meaning, fit));
        }
        within.or_else(|| Some((starts(WEAK_ALIASES)?, HeadingFit::Weak)))
    }

    /// The heading that midstride writes for this meaning.
    pub fn heading(self) -> &'static str {
        match self {
            Self::Summary => "Summary",
            Self::Diagnosis => "Diagnosis",
            Self::RootCauses => "Root causes",
            Self::Plan => "Plan",
            Self::Continuation => "Continuation",
            Self::State => "State",
            Self::WrongTurns => "Wrong turns",
            Self::Landmines => "Landmines",
            Self::Decisions => "Decisions",
            Self::Questions => "Open questions",
            Self::Assumptions => "Assumptions",
            Self::Verification => "Verification",
            Self::References => "References",
            Self::Handoff => "Handoff",
        }
    }
}

/// Lowercases a title and removes leading numbering and decoration.
fn normalize_title(title: &str) -> String {
    let lower = title.to_lowercase().replace('\u{2019}', "'");
    let from = |c: char| c.is_alphabetic();
    let start = lower.find(from).unwrap_or(0);
    lower[start..].trim_end_matches([':', ' ', '.']).to_owned()
}

/// Removes a remark in brackets, after a colon or after a dash from a normalized title.
fn without_remark(title: &str) -> &str {
    let marks = ["(", "（", ":", "：", " — ", " – ", " - ", "["];
    let end = marks.iter().filter_map(|mark| title.find(mark)).min().unwrap_or(title.len());
    title[..end].trim_end()
}

fn is_exact_alias(title: &str, meaning: SectionMeaning) -> bool {
    let is_name = |alias: &&str| matches!(title.strip_prefix(alias), Some("" | "s"));
    ALIASES.iter().any(|(one, aliases)| *one == meaning && aliases.iter().any(is_name))
}

/// Whether `title` starts with `alias`, or with its plural, as whole words.
fn starts_with_words(title: &str, alias: &str) -> bool {
    title.strip_prefix(alias).is_some_and(|rest| {
        let rest = rest.strip_prefix('s').unwrap_or(rest);
        let is_letter = |c: char| c.is_alphanumeric() && c.is_ascii();
        let hyphened = rest.strip_prefix('-').is_some_and(|rest| rest.starts_with(is_letter));
        !rest.starts_with(is_letter) && !hyphened
    })
}

/// Whether `title` contains `name`, or its plural, as whole words.
fn contains_words(title: &str, name: &str) -> bool {
    let is_letter = |c: char| c.is_alphanumeric() && c.is_ascii();
    title
        .match_indices(name)
        .any(|(at, _)| !title[..at].ends_with(is_letter) && starts_with_words(&title[at..], name))
}

/// A heading and the text below it.
#[derive(Clone, Debug)]
pub struct Section {
    /// The heading level, from 1 to 6.
    pub level: u8,
    /// The text of the heading and the span of its line.
    pub title: Spanned<String>,
    /// The meaning of the section, if it is known.
    pub meaning: Option<SectionMeaning>,
    /// How well the heading matches the meaning.
    pub fit: Option<HeadingFit>,
    /// The span up to the next heading of the same or a higher level, including subsections.
    pub at: Span,
    /// The span of the text between this heading and the next heading of any level.
    pub own: Span,
}

/// Builds the sections of a body that ends at `end`.
pub fn sections(text: &str, headings: &[Heading], end: usize) -> Vec<Section> {
    let start = |heading: &Heading| heading.title.at.start;
    (0..headings.len())
        .map(|index| {
            let heading = &headings[index];
            let later = &headings[index + 1..];
            let next = later.first().map_or(end, start);
            let close = later.iter().find(|other| other.level <= heading.level).map_or(end, start);
            let own_start = line_end(text, heading.title.at.end.saturating_sub(1)).min(next);
            let (meaning, fit) = SectionMeaning::match_title(&heading.title.value).unzip();
            Section {
                level: heading.level,
                title: heading.title.clone(),
                meaning,
                fit,
                at: Span::new(start(heading), close),
                own: Span::new(own_start, next),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_classified_by_meaning() {
        let cases = [
            ("Diagnosis", Some(SectionMeaning::Diagnosis)),
            ("2. Root causes (by impact)", Some(SectionMeaning::RootCauses)),
            ("🚀 Next Steps (post-merge)", Some(SectionMeaning::Continuation)),
            ("Action Items & Next Steps", Some(SectionMeaning::Continuation)),
            ("Nächste Schritte", Some(SectionMeaning::Continuation)),
            ("次のステップ", Some(SectionMeaning::Continuation)),
            ("What didn\u{2019}t work", Some(SectionMeaning::WrongTurns)),
            ("Ursachen", Some(SectionMeaning::RootCauses)),
            ("Следующие шаги", Some(SectionMeaning::Continuation)),
            ("Handoff", Some(SectionMeaning::Handoff)),
            ("Handoff: market pages", None),
            ("Plan", Some(SectionMeaning::Plan)),
            ("Plan documents", Some(SectionMeaning::References)),
            ("Planning poker", None),
            ("Statement", None),
            ("Grid commander", None),
        ];
        for (title, meaning) in cases {
            assert_eq!(SectionMeaning::from_title(title), meaning, "{title}");
        }
    }

    #[test]
    fn a_heading_is_ranked_by_how_well_it_matches() {
        let cases = [
            ("Next Steps (Post-Merge)", Some((SectionMeaning::Continuation, HeadingFit::Exact))),
            (
                "3. Next steps: finish the import",
                Some((SectionMeaning::Continuation, HeadingFit::Exact)),
            ),
            ("Next session priorities", Some((SectionMeaning::Continuation, HeadingFit::Start))),
            ("Suggested next steps", Some((SectionMeaning::Continuation, HeadingFit::Within))),
            ("The remaining work", Some((SectionMeaning::Continuation, HeadingFit::Within))),
            ("Resume command", Some((SectionMeaning::Continuation, HeadingFit::Weak))),
            ("4. Resume: pass the token on", None),
            (
                "Remaining work (out of scope)",
                Some((SectionMeaning::Continuation, HeadingFit::Weak)),
            ),
            ("Next steps (later)", Some((SectionMeaning::Continuation, HeadingFit::Weak))),
            ("Known gaps / next steps", Some((SectionMeaning::Continuation, HeadingFit::Within))),
            ("State-layer redesign", None),
            (
                "Not done / known gaps (pick up here)",
                Some((SectionMeaning::Continuation, HeadingFit::Within)),
            ),
            ("Current state of `main`", Some((SectionMeaning::State, HeadingFit::Start))),
            ("Completed in this session", Some((SectionMeaning::State, HeadingFit::Weak))),
            ("Known issues & caveats", Some((SectionMeaning::Landmines, HeadingFit::Start))),
            (
                "What we tried that didn't work",
                Some((SectionMeaning::WrongTurns, HeadingFit::Start)),
            ),
            ("Problemas conhecidos", Some((SectionMeaning::Landmines, HeadingFit::Exact))),
            ("Next", Some((SectionMeaning::Continuation, HeadingFit::Exact))),
            ("Next.js migration", None),
            ("Context", Some((SectionMeaning::Summary, HeadingFit::Weak))),
            ("Mastodon", None),
        ];
        for (title, expected) in cases {
            assert_eq!(SectionMeaning::match_title(title), expected, "{title}");
        }
    }

    #[test]
    fn headings_written_by_midstride_are_recognized() {
        for (meaning, _) in ALIASES {
            assert_eq!(SectionMeaning::from_title(meaning.heading()), Some(*meaning));
        }
    }

    #[test]
    fn a_section_includes_its_subsections() {
        let text = "# A\none\n## B\ntwo\n# C\n";
        let blocks = crate::text::markdown::parse(text, Span::new(0, text.len()));
        let sections = sections(text, &blocks.headings, text.len());
        assert_eq!(sections[0].at.slice(text), "# A\none\n## B\ntwo\n");
        assert_eq!(sections[0].own.slice(text), "one\n");
        assert_eq!(sections[1].own.slice(text), "two\n");
        assert_eq!(sections[2].own.slice(text), "");
    }
}
