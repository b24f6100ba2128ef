//! Sections of a body, recognised by what they mean.
//!
//! Real handoffs share almost no heading, so none is demanded by name: one table says which words
//! stand for which meaning, in the languages we have met.

use crate::markdown::Heading;
use crate::span::{At, Span, line_end};

/// What a section is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Meaning {
    /// What this is about.
    Summary,
    /// What was found out.
    Diagnosis,
    /// Why it is so.
    RootCauses,
    /// What to do.
    Plan,
    /// Where to go on.
    Continuation,
    /// Where the work stands.
    State,
    /// What was tried and was wrong.
    WrongTurns,
    /// What will bite.
    Landmines,
    /// What was decided.
    Decisions,
    /// What is not known yet.
    Questions,
    /// What is taken for granted.
    Assumptions,
    /// How to see that it works.
    Verification,
    /// What to read, what was changed.
    References,
    /// A header written as a section.
    Handoff,
}

/// Words at the start of a heading → meaning. The first row that fits wins, so longer ones stand
/// before shorter ones.
#[rustfmt::skip] // a line per language, not per word
const ALIASES: &[(Meaning, &[&str])] = &[
    (Meaning::WrongTurns, &[
        "wrong turn", "dead end", "what was wrong", "what didn't work", "what did not work",
        "what failed", "failed approach", "rejected", "tried and",
        "irrwege", "was nicht ging", "impasses", "callejones sin salida", "vicoli ciechi",
        "тупики", "что не сработало", "行き止まり", "走过的弯路",
    ]),
    (Meaning::Landmines, &[
        "landmine", "context landmine", "gotcha", "pitfall", "trap", "watch out", "caveat",
        "important reminder", "known issue", "known hard limit", "known limitation", "risks",
        "stolperfallen", "fallstricke", "pièges", "trampas", "insidie", "подводные камни",
        "注意", "陷阱",
    ]),
    (Meaning::RootCauses, &[
        "root cause", "cause", "why it is slow", "why it happens",
        "ursache", "ursachen", "causes profondes", "causa", "causas", "причина", "причины",
        "原因", "根因",
    ]),
    (Meaning::Questions, &[
        "open question", "question", "unresolved", "unknowns", "to clarify",
        "offene fragen", "fragen", "questions ouvertes", "preguntas", "domande", "вопросы",
        "открытые вопросы", "未解決", "待解决",
    ]),
    (Meaning::Continuation, &[
        "continuation", "next step", "action item", "immediate next", "next action", "start here",
        "where to start", "what's next", "whats next", "what next", "next session", "resume",
        "how to resume", "how to continue", "to do next", "todo", "to do", "remaining",
        "nächste schritte", "wie es weitergeht", "prochaines étapes", "suite", "próximos pasos",
        "prossimi passi", "следующие шаги", "дальше", "次のステップ", "下一步",
    ]),
    (Meaning::References, &["plan document", "plan file"]),
    (Meaning::Plan, &[
        "plan", "implementation plan", "fix plan", "proposed fix", "proposed solution",
        "implementation step", "steps", "approach", "solution",
        "umsetzung", "vorgehen", "piano", "план", "計画", "计划",
    ]),
    (Meaning::Diagnosis, &[
        "diagnosis", "finding", "key finding", "learnings", "what was learned", "what we learned",
        "analysis", "investigation", "measurement", "observation", "evidence",
        "diagnose", "befund", "befunde", "diagnostic", "diagnóstico", "diagnosi", "диагноз",
        "диагностика", "診断", "诊断",
    ]),
    (Meaning::Decisions, &[
        "decision", "key decision", "architecture decision", "decided",
        "entscheidung", "entscheidungen", "décision", "décisions", "decisiones", "decisioni",
        "решения", "決定", "决定",
    ]),
    (Meaning::Assumptions, &[
        "assumption", "annahme", "annahmen", "hypothèses", "supuestos", "допущения", "前提", "假设",
    ]),
    (Meaning::Verification, &[
        "verification", "verify", "how to verify", "testing", "test plan", "acceptance",
        "validation", "prüfung", "vérification", "verificación", "проверка", "検証", "验证",
    ]),
    (Meaning::State, &[
        "state", "status", "current state", "current status", "where we are", "where it stands",
        "recent change", "what was done", "what was accomplished", "what was built", "task(s)",
        "progress", "completed", "done",
        "stand", "état", "estado", "stato", "состояние", "статус", "現状", "现状", "进度",
    ]),
    (Meaning::References, &[
        "reference", "critical reference", "artifact", "key file", "files", "documentation",
        "related", "repository location", "links", "read this",
        "dateien", "fichiers", "archivos", "файлы", "ссылки", "参考",
    ]),
    (Meaning::Summary, &[
        "summary", "tl;dr", "tldr", "overview", "context", "background", "goal", "purpose",
        "problem", "zusammenfassung", "überblick", "résumé", "resumen", "riepilogo", "кратко",
        "概要", "摘要",
    ]),
    (Meaning::Handoff, &["handoff"]),
];

impl Meaning {
    /// What a heading means, if it is a known one.
    pub fn of(title: &str) -> Option<Self> {
        let title = plain(title);
        ALIASES
            .iter()
            .find(|(_, aliases)| aliases.iter().any(|alias| starts_with_words(&title, alias)))
            .map(|(meaning, _)| *meaning)
            // A title like "Handoff: market pages" names the document, it holds no header.
            .filter(|meaning| *meaning != Self::Handoff || title == "handoff")
    }

    /// The heading midstride writes for it.
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

/// Lower case, without numbering and decoration in front.
fn plain(title: &str) -> String {
    let lower = title.to_lowercase().replace('\u{2019}', "'");
    let from = |c: char| c.is_alphabetic();
    let start = lower.find(from).unwrap_or(0);
    lower[start..].trim_end_matches([':', ' ', '.']).to_owned()
}

/// Whether `title` starts with `alias`, or with its plural, as whole words.
fn starts_with_words(title: &str, alias: &str) -> bool {
    title.strip_prefix(alias).is_some_and(|rest| {
        let rest = rest.strip_prefix('s').unwrap_or(rest);
        rest.is_empty() || !rest.starts_with(|c: char| c.is_alphanumeric() && c.is_ascii())
    })
}

/// A heading with what stands below it.
#[derive(Clone, Debug)]
pub struct Section {
    /// From 1 to 6.
    pub level: u8,
    /// The heading's text and the bytes of its line.
    pub title: At<String>,
    /// What it is about.
    pub meaning: Option<Meaning>,
    /// From the heading to the next one of its level or above: subsections included.
    pub at: Span,
    /// What stands below the heading before any other heading.
    pub own: Span,
}

/// The sections of a body that ends at `end`.
pub fn sections(text: &str, headings: &[Heading], end: usize) -> Vec<Section> {
    let start = |heading: &Heading| heading.title.at.start;
    (0..headings.len())
        .map(|index| {
            let heading = &headings[index];
            let later = &headings[index + 1..];
            let next = later.first().map_or(end, start);
            let close = later.iter().find(|other| other.level <= heading.level).map_or(end, start);
            let own_start = line_end(text, heading.title.at.end.saturating_sub(1)).min(next);
            Section {
                level: heading.level,
                title: heading.title.clone(),
                meaning: Meaning::of(&heading.title.value),
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
    fn headings_are_recognised_by_meaning() {
        let cases = [
            ("Diagnosis", Some(Meaning::Diagnosis)),
            ("2. Root causes (by impact)", Some(Meaning::RootCauses)),
            ("🚀 Next Steps (post-merge)", Some(Meaning::Continuation)),
            ("Action Items & Next Steps", Some(Meaning::Continuation)),
            ("Nächste Schritte", Some(Meaning::Continuation)),
            ("次のステップ", Some(Meaning::Continuation)),
            ("What didn\u{2019}t work", Some(Meaning::WrongTurns)),
            ("Ursachen", Some(Meaning::RootCauses)),
            ("Следующие шаги", Some(Meaning::Continuation)),
            ("Handoff", Some(Meaning::Handoff)),
            ("Handoff: market pages", None),
            ("Plan", Some(Meaning::Plan)),
            ("Plan documents", Some(Meaning::References)),
            ("Planning poker", None),
            ("Statement", None),
            ("Grid commander", None),
        ];
        for (title, meaning) in cases {
            assert_eq!(Meaning::of(title), meaning, "{title}");
        }
    }

    #[test]
    fn what_midstride_writes_it_recognises() {
        for (meaning, _) in ALIASES {
            assert_eq!(Meaning::of(meaning.heading()), Some(*meaning));
        }
    }

    #[test]
    fn a_section_holds_its_subsections() {
        let text = "# A\none\n## B\ntwo\n# C\n";
        let blocks = crate::markdown::read(text, Span::new(0, text.len()));
        let sections = sections(text, &blocks.headings, text.len());
        assert_eq!(sections[0].at.of(text), "# A\none\n## B\ntwo\n");
        assert_eq!(sections[0].own.of(text), "one\n");
        assert_eq!(sections[1].own.of(text), "two\n");
        assert_eq!(sections[2].own.of(text), "");
    }
}
