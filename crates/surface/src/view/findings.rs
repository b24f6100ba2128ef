//! Renders findings: for users, as JSON, as SARIF, and as GitHub annotations.

mod github;
mod human;
mod json;
mod sarif;

pub use github::github;
pub use human::human;
pub(crate) use json::findings_json;
pub use json::{FindingJson, json, json_for_findings};
pub use sarif::sarif;

use super::{Surface, citation, count, heading, sanitize, shell_word};
use midstride::verbs::DocumentCheck;
use midstride_core::format::document::Document;
use midstride_core::format::finding::{Code, Finding, FindingFix, Severity};
use midstride_core::handoff::lifecycle;

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
        Some(FindingFix::Hint(advice)) => advice.clone(),
        Some(FindingFix::Command(words)) => format!("run `{}`", shell_command(words)),
        Some(FindingFix::Edit(_)) => "run `midstride check --fix`".to_owned(),
        None => as_fragment(finding.code.rule().fix),
    }
}

/// The hint for a finding over MCP.
fn fix_hint_for_tools(document: &Document, finding: &Finding) -> String {
    match (finding.code, lifecycle::answer_target(document, finding)) {
        (Code::BlockingQuestion, Some(which)) => {
            format!("call `answer` with which `{which}`, or `revise` with `blocking: false`")
        }
        (_, Some(which)) => {
            format!("validate it, then call `answer` with which `{which}` and `holds`")
        }
        (Code::MaybeDone, None) => "read the commits, then call `resolve` or `revise`".to_owned(),
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
        format!("{severity}[{code}] in line {number}: {message}; {help}")
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

/// Whether a finding is only counted. When several documents are checked, notes without a header
/// are not listed one by one, because they need not be midstride's.
fn is_counted(checks: &[DocumentCheck], finding: &Finding) -> bool {
    checks.len() > 1 && finding.code == Code::NoHeader
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
pub fn summary(checks: &[DocumentCheck], is_quiet: bool) -> String {
    let total = |severity| checks.iter().map(|one| one.verdict.count(severity)).sum::<usize>();
    let (errors, warnings, advice) =
        (total(Severity::Error), total(Severity::Warning), total(Severity::Advice));
    let silenced: usize = checks.iter().map(|one| one.verdict.silenced.len()).sum();
    let looked = format!("{} checked", count(checks.len(), "document"));
    let mut parts = Vec::new();
    if errors > 0 {
        parts.push(count(errors, "error"));
    }
    if warnings > 0 {
        parts.push(count(warnings, "warning"));
    }
    if advice > 0 {
        parts.push(format!("{} of advice", count(advice, "piece")));
    }
    let found = match (parts.is_empty(), is_quiet) {
        (false, _) => parts.join(", "),
        (true, false) => "nothing found".to_owned(),
        // Hints were not checked in quiet mode, so do not claim "nothing found".
        (true, true) => "no errors, no warnings".to_owned(),
    };
    let silenced = if silenced > 0 { format!(", {silenced} silenced") } else { String::new() };
    let all = checks.iter().flat_map(|one| &one.verdict.findings);
    let notes = match all.filter(|finding| is_counted(checks, finding)).count() {
        0 => String::new(),
        notes => format!(
            "\n{} without a handoff header, see `midstride explain H002`",
            count(notes, "note")
        ),
    };
    format!("{looked}: {found}{silenced}{notes}")
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
