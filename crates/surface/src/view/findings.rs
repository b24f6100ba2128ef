//! Renders findings: for users, as JSON, as SARIF, and as GitHub annotations.

mod github;
mod human;
mod json;
mod sarif;

pub use github::github;
pub use human::human;
pub use json::{FindingJson, json, json_for_findings};
pub(crate) use json::{findings_json, severity_json};
pub use sarif::sarif;

use super::{Surface, citation, count, heading, sanitize, shell_word};
use midstride::verbs::DocumentCheck;
use midstride_core::format::document::Document;
use midstride_core::format::finding::{Code, Finding, FindingFix, Severity};
use midstride_core::handoff::lifecycle;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The hint for a finding, worded for a surface.
fn fix_hint_on(surface: Surface, document: &Document, finding: &Finding) -> String {
    match surface {
        Surface::Terminal => fix_hint(finding),
        Surface::Tools => fix_hint_for_tools(document, finding),
    }
}

/// The hint for a finding in the terminal.
fn fix_hint(finding: &Finding) -> String {
    match &finding.fix {
        Some(FindingFix::Hint(hint)) => hint.clone(),
        Some(FindingFix::Command(words)) => format!("run `{}`", shell_command(words)),
        Some(FindingFix::Edit(_)) => "run `midstride check --fix`".to_owned(),
        None => as_fragment(finding.code.rule().fix),
    }
}

/// The hint for a finding over MCP.
fn fix_hint_for_tools(document: &Document, finding: &Finding) -> String {
    match (finding.code, lifecycle::answer_target(document, finding)) {
        (Code::BlockingQuestion, Some(which)) => {
            format!("call `answer` with `which: {which}`, or `revise` with `blocking: false`")
        }
        (_, Some(which)) => {
            format!("validate it, then call `answer` with `which: {which}` and `holds`")
        }
        (Code::MaybeDone, None) => "read the commits, then call `resolve` or `revise`".to_owned(),
        (Code::UntouchedDraft, None) => "fill it in and call `revise`".to_owned(),
        (_, None) => match &finding.fix {
            Some(FindingFix::Edit(_)) => "call `revise`, or run `midstride fmt`".to_owned(),
            Some(FindingFix::Hint(_) | FindingFix::Command(_)) | None => fix_hint(finding),
        },
    }
}

/// The maximum number of findings in the one-line form; `check` shows all.
const LINES_MAX: usize = 10;

/// Findings in one line each, where they are not the main output.
pub fn lines(document: &Document, findings: &[Finding], surface: Surface) -> Vec<String> {
    let line = |finding: &Finding| {
        let (severity, code) = (finding.severity(), finding.code);
        let number = document.position(finding.at.start).line;
        let (message, help) = (sanitize(&finding.message), fix_hint_on(surface, document, finding));
        format!("{severity}[{code}] on line {number}: {message}; {help}")
    };
    let more = findings.len().saturating_sub(LINES_MAX);
    let lines = findings.iter().take(LINES_MAX).map(line);
    lines.chain((more > 0).then(|| format!("and {more} more"))).collect()
}

/// A command line with its words quoted for a shell.
pub(crate) fn shell_command(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| shell_word(word)).collect();
    words.join(" ")
}

/// Lowercases a single sentence and drops its period, to match the other hints.
fn as_fragment(text: &str) -> String {
    let Some(sentence) = text.strip_suffix('.').filter(|rest| !rest.contains(". ")) else {
        return text.to_owned();
    };
    let mut letters = sentence.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// What becomes of hints where findings are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HintDisplay {
    /// Hints were dropped before, on request.
    Omitted,
    /// The summary counts them by code and names what shows them.
    Counted {
        /// What shows them, such as `-v`.
        show_with: &'static str,
    },
    /// Each hint is listed like any other finding.
    Listed,
}

/// The citations of all documents.
pub fn citations(checks: &[DocumentCheck]) -> String {
    let mut out = String::new();
    for one in checks.iter().filter(|one| !one.citations.is_empty()) {
        out.push_str(&format!("{}\n", one.path.display()));
        for cited in &one.citations {
            out.push_str(&citation::line(one.document(), cited));
        }
        out.push('\n');
    }
    out
}

/// A one-line summary of all documents.
pub fn summary(checks: &[DocumentCheck], hints: HintDisplay) -> String {
    let total = |severity| checks.iter().map(|one| one.verdict.count(severity)).sum::<usize>();
    let counted = [(Severity::Error, "error"), (Severity::Warning, "warning")];
    let counted = counted.map(|(severity, noun)| (total(severity), noun));
    let mut parts: Vec<String> = Vec::new();
    parts.extend(counted.iter().filter(|(total, _)| *total > 0).map(|(n, noun)| count(*n, noun)));
    parts.extend(hint_summary(checks, hints));
    let found = match (parts.is_empty(), hints) {
        (false, _) => parts.join(", "),
        // Hints were not looked at, so do not claim that there are none.
        (true, HintDisplay::Omitted) => "no errors or warnings".to_owned(),
        (true, HintDisplay::Counted { .. } | HintDisplay::Listed) => "no problems".to_owned(),
    };
    let silenced: usize = checks.iter().map(|one| one.verdict.silenced.len()).sum();
    let silenced = if silenced > 0 { format!(", {silenced} silenced") } else { String::new() };
    format!("{} checked: {found}{silenced}", count(checks.len(), "document"))
}

/// The number of hints. If they are not listed, their codes, and what shows them:
/// `12 hints (D007 ×9, C003 ×3); show them with -v`.
fn hint_summary(checks: &[DocumentCheck], display: HintDisplay) -> Option<String> {
    let all = checks.iter().flat_map(|one| &one.verdict.findings);
    let mut kinds: BTreeMap<Code, usize> = BTreeMap::new();
    for finding in all.filter(|finding| finding.severity() == Severity::Hint) {
        *kinds.entry(finding.code).or_default() += 1;
    }
    let total = kinds.values().sum();
    let HintDisplay::Counted { show_with } = display else {
        return (total > 0).then(|| count(total, "hint"));
    };
    let mut kinds: Vec<(Code, usize)> = kinds.into_iter().collect();
    kinds.sort_by_key(|(_, number)| Reverse(*number));
    let kinds: Vec<String> = kinds
        .iter()
        .map(|(code, number)| match number {
            1 => code.to_string(),
            _ => format!("{code} ×{number}"),
        })
        .collect();
    let them = if total == 1 { "it" } else { "them" };
    let counted = format!("{} ({})", count(total, "hint"), kinds.join(", "));
    (total > 0).then(|| format!("{counted}; show {them} with {show_with}"))
}

/// All codes, one per line.
pub fn code_index() -> String {
    let line = |code: &Code| {
        let rule = code.rule();
        format!("{}  {:<8} {}\n", rule.code, rule.severity.to_string(), rule.title)
    };
    Code::ALL.iter().map(line).collect()
}

/// Explains a code.
pub fn explanation(code: Code) -> String {
    let rule = code.rule();
    let title = heading(&format!("{} ({}): {}", rule.code, rule.severity, rule.title));
    format!(
        "{title}\n{}\n\nFix: {}\n\nTo silence it in one document, write a comment with the reason:\n  # midstride: allow {} REASON          in the header\n  <!-- midstride: allow {} REASON -->   in the text\n",
        rule.why, rule.fix, rule.code, rule.code
    )
}

/// The documentation page about findings, `docs/findings.md`.
pub fn page() -> String {
    let mut out = String::from(
        "# Findings\n\n`midstride reference findings` generates this page from the program; a test checks it.\n\n\
         A code never changes its meaning. `midstride explain CODE` shows its entry in the terminal.\n\
         To silence a finding in one document, write `# midstride: allow CODE REASON` in the header or\n\
         `<!-- midstride: allow CODE REASON -->` in the text.\n",
    );
    for code in Code::ALL {
        let rule = code.rule();
        out.push_str(&format!(
            "\n## {}: {}\n\n*{}.* {}\n\n**Fix.** {}\n",
            rule.code,
            rule.title,
            capitalize(&rule.severity.to_string()),
            rule.why,
            rule.fix
        ));
    }
    out
}

fn capitalize(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
