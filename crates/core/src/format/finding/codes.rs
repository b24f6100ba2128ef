//! The table of all finding codes: code, severity, title, why it matters, how to fix it.
//!
//! A code is never reused for another meaning. The letter is the family: H parsing the document,
//! S stages and their rules, L the lifecycle of a handoff, C content, R references, G generated
//! documents, A silenced findings, P pull requests, D the current state of the code, V proofs, X secrets.

use super::Severity::{self, Error, Hint, Warning};
use std::fmt;

/// The rule behind a code.
#[derive(Debug)]
pub struct FindingRule {
    /// The stable code, such as `S003`.
    pub code: &'static str,
    /// The severity of its findings.
    pub severity: Severity,
    /// The rule in a few words.
    pub title: &'static str,
    /// Why it matters.
    pub why: &'static str,
    /// How to fix it.
    pub fix: &'static str,
}

macro_rules! codes {
    ($($name:ident = $code:literal $severity:ident $title:literal
        why $why:literal
        fix $fix:literal)*) => {
        /// The code of a finding.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code { $(#[doc = $title] $name),* }

        impl Code {
            /// Every code, in the order of the table.
            pub const ALL: &[Code] = &[$(Code::$name),*];

            /// The rule of the code.
            pub fn rule(self) -> &'static FindingRule {
                match self { $(Code::$name => {
                    const RULE: FindingRule = FindingRule {
                        code: $code, severity: $severity, title: $title, why: $why, fix: $fix,
                    };
                    &RULE
                }),* }
            }
        }
    };
}

impl Code {
    /// Whether the document alone is enough to check this rule, without other documents, the code
    /// or the session.
    pub(crate) fn is_document_local(self) -> bool {
        let compared = [
            Self::DuplicateId,
            Self::SessionNotCovered,
            Self::FailureNotExplained,
            Self::SecretInDocument,
        ];
        !compared.contains(&self) && !self.rule().code.starts_with('D')
    }

    /// Finds a code by name, ignoring case.
    pub fn parse(text: &str) -> Option<Code> {
        Self::ALL.iter().copied().find(|code| code.rule().code.eq_ignore_ascii_case(text))
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.rule().code)
    }
}

codes! {
    NotUtf8 = "H001" Error "the file is not UTF-8"
        why "Other tools read handoffs as UTF-8. midstride shows the rest of the document but does not edit it, because it could not write the invalid bytes back."
        fix "Convert the file, for example with `iconv -f latin1 -t utf-8`."
    NoHeader = "H002" Hint "a note without a handoff header"
        why "midstride lists and shows the note but cannot determine its status, open questions or recipients."
        fix "Add a `handoff:` header with at least `id`, `title` and `status`, or run `midstride new --from PATH` to create a handoff from the note."
    HeaderNotClosed = "H003" Error "the header is not closed"
        why "A header starts and ends with a `---` line. Without the closing one, other tools treat the whole document as the header, or none of it."
        fix "Add a `---` line between the header and the text."
    Syntax = "H004" Error "part of the header is not valid YAML"
        why "No tool can read this part. midstride still reads the rest of the header."
        fix "Fix the marked line. Quote text that contains a colon and a space, or that starts with a special character."
    DuplicateKey = "H005" Error "a key appears twice"
        why "Tools disagree on which value to use. midstride uses the first one and refuses to edit either."
        fix "Merge the two values, or delete one."
    ConflictMarker = "H006" Error "unresolved merge conflict"
        why "The document contains both sides between `<<<<<<<` and `>>>>>>>`, so a reader cannot tell which one is right."
        fix "Run `midstride merge PATH` to merge everything that can be merged automatically. Then choose one side of each remaining conflict and delete the conflict markers."
    Tab = "H007" Warning "the header is indented with tabs"
        why "YAML does not allow tabs in indentation. midstride reads them as spaces, but other tools fail."
        fix "Run `midstride fmt` to replace the tabs with spaces."
    LooseForm = "H008" Hint "a value is not in the standard form"
        why "midstride understands the value, but other tools may not. Examples are a single value instead of a list, an uppercase status, and a time without seconds or a time zone."
        fix "Run `midstride check --fix` to rewrite it in the standard form."
    UnreadableValue = "H009" Error "invalid value"
        why "The field does not accept this value, so midstride treats the field as missing."
        fix "Use one of the values listed in the message. `midstride schema` lists them all."
    UnknownKey = "H010" Warning "a key is probably misspelled"
        why "midstride keeps unknown keys but ignores them. This key was probably meant to be a known one, because it is spelled almost like a known key, it is a common guess for one, or the entry lacks a required key."
        fix "Rename the key as the message suggests. If you added the key on purpose, silence this finding."
    NewerFormat = "H011" Warning "the document has a newer format"
        why "A newer version of midstride wrote this document. This version can show the document, but editing it could lose data."
        fix "Update midstride."
    HeaderInSection = "H012" Hint "the handoff fields are in a section"
        why "midstride reads the fields from the `Handoff` section and may misread them. A header is unambiguous."
        fix "Run `midstride fmt` to turn the section into a header."
    HeaderTooLarge = "H013" Error "the header is too large"
        why "midstride reads the header at the start of every session and skips headers larger than 1 MiB."
        fix "Move the material into the body or into another file, and link to it."
    NotePartlyUnreadable = "H014" Hint "part of a note cannot be read"
        why "The note contains bytes that are not UTF-8, or another tool's header that midstride cannot parse. midstride reads the rest."
        fix "If the note is yours, fix the marked line."
    BadId = "H015" Error "invalid id"
        why "The id is used as a file name and typed on the command line. It may contain only a-z, 0-9, `.`, `_` and `-`."
        fix "Choose another id. The `uid` still identifies the handoff."
    InvalidStartupStep = "H016" Error "invalid startup step"
        why "Before doing anything else, a session follows the steps under `boot`. A step loads a skill, reads a project file, restores a task or sets a constraint. All other entries are ignored, shell commands in particular."
        fix "In one line, name a skill, a path under the project root, a task or a constraint. If a command proves a claim, put it under `proofs`. midstride runs it only after you approve it."
    MissingField = "S001" Error "a required field is missing"
        why "The next session needs this field. A document's kind or stage defines its required fields. (Rule 1 of `midstride advance`.)"
        fix "Add the field. If there are no open questions or assumptions, say so with an empty list: `[]`."
    EmptyField = "S002" Error "a required field is empty"
        why "An empty field looks complete, but the next session learns nothing from it. (Rule 1 of `midstride advance`.)"
        fix "Fill it in."
    BlockingQuestion = "S003" Warning "a blocking question is open"
        why "Work done before the question is answered may have to be redone. The document is otherwise valid, but it does not advance. (Rule 2 of `midstride advance`.)"
        fix "Answer it with `midstride answer`, or set `blocking: false`."
    AssumptionUnvalidated = "S004" Error "a low-confidence assumption is not validated"
        why "The author doubts the assumption and asks for validation, so work that builds on it may be wrong. (Rule 3 of `midstride advance`.)"
        fix "Validate it and set `validated: true` or `validated: failed`. If it needs no validation, set `validation_needed: false`."
    AssumptionUnchecked = "S005" Warning "an assumption is not validated"
        why "The assumption needs validation, and its confidence is medium or not stated. This does not block advancing. (Rule 3 of `midstride advance`.)"
        fix "Validate it and set `validated: true` or `validated: failed`."
    UpstreamNotFound = "S006" Error "an upstream artifact does not exist"
        why "The document is derived from an artifact that does not exist. (Rule 4 of `midstride advance`.)"
        fix "Correct the path, or add the artifact. A path is relative to the pipeline folder, the document's folder or the project root."
    UpstreamIncomplete = "S007" Error "an upstream artifact is incomplete"
        why "The upstream document has errors or an open blocking question, so work derived from it may be wrong. (Rule 4 of `midstride advance`.)"
        fix "Complete the upstream document first."
    CapabilityMissing = "S008" Error "no decision is recorded for a platform capability"
        why "This stage records a decision for every platform capability in the pipeline, including those that do not apply. A decision that is missing here would be noticed too late. (Rule 5 of `midstride advance`.)"
        fix "Add the capability with `applies: true` or `applies: false` and a `rationale`."
    CapabilityUnexplained = "S009" Warning "a capability decision without a rationale"
        why "Without a rationale, the next stage cannot tell a decision from a guess."
        fix "Add a `rationale`."
    NoUpstream = "S010" Warning "a stage document without an upstream"
        why "Without an upstream, readers cannot find the decisions and questions that this document builds on."
        fix "List the upstream under `dependencies.upstream`. `midstride new --from` does this for you."
    UnknownStage = "S011" Error "unknown stage"
        why "A document's stage defines its required fields."
        fix "Use a known stage, or define this one under `[stages]` in `.midstride/config.toml`."
    AssumptionDisproved = "S012" Warning "a disproved assumption"
        why "A check showed that the assumption is wrong. Review the decisions, steps and stages that rely on it before you advance. (Rule 3 of `midstride advance`.)"
        fix "Revise what relies on it, then move the assumption to `wrong_turns` with the reason."
    QuestionUnclear = "S013" Warning "a question does not say whether it blocks"
        why "The next session needs to know which questions to answer first. Without `blocking`, midstride assumes that the question can wait. (Rule 2 of `midstride advance`.)"
        fix "Add `blocking: true` or `blocking: false`."
    AssumptionUnrated = "S014" Warning "an assumption without a confidence"
        why "A low-confidence assumption must be validated before work continues. Without `confidence`, the next session does not know which assumptions to validate. (Rule 3 of `midstride advance`.)"
        fix "Add `confidence: high`, `medium` or `low`."
    ResolvedWithoutCommit = "L001" Warning "resolved without a commit or an outcome"
        why "A resolved handoff is history. Its commit or outcome shows readers where to look next."
        fix "Add `resolution:` with the `commit`, or with an `outcome` if no code changed."
    SupersededWithoutSuccessor = "L002" Warning "superseded without a successor"
        why "Readers of a superseded handoff need to know which one to read instead."
        fix "Name the successor under `superseded_by`."
    AbandonedWithoutReason = "L003" Warning "abandoned without a reason"
        why "Without the reason, the next session may start the same work again."
        fix "Add `resolution:` with a `reason`."
    ClosedButOpen = "L004" Warning "a closed handoff has an open status"
        why "The document has a resolution or a successor, but the inbox still lists it as open work."
        fix "Set `status` to `resolved`, `superseded` or `abandoned`. If the handoff is open, delete `resolution` and `superseded_by`."
    ResolvedButBlocked = "L005" Error "a blocking review is marked resolved"
        why "The next stage treats a resolved review as one that passed."
        fix "Record the new verdict under `decisions_made` once the review passes. Until then, set `status: in_progress`, or close the review as superseded or abandoned."
    DecisionWithoutRationale = "C001" Warning "a decision without a rationale"
        why "Without the reason, the next session debates the decision again."
        fix "Add a `rationale`, and the alternatives you considered."
    RootCauseWithoutPlace = "C002" Hint "a root cause without a file"
        why "Without a file and line, the next session has to find the code again."
        fix "Name the file and line, such as `src/market.py:120`."
    StepWithoutCheck = "C003" Hint "a plan step without a check"
        why "Without a check, the next session cannot tell whether the step is done."
        fix "Say what must be true afterward, or give a command that checks it."
    RevisedWithoutLesson = "C004" Hint "revised without recording what was wrong"
        why "Later sessions repeat mistakes that are not recorded. Knowing what failed is as useful as knowing what works."
        fix "Record what you tried and why it was wrong under `wrong_turns`, or what may still go wrong under `landmines`."
    Length = "C005" Hint "a very long document"
        why "The next session reads the whole handoff. Beyond 400 lines, important points are easy to miss. There is no minimum length."
        fix "Move details into other files and link to them."
    Placeholder = "C006" Warning "a placeholder was left in"
        why "A placeholder looks like content, but says nothing."
        fix "Replace it with the content, or delete it."
    EmptySection = "C007" Warning "an empty section"
        why "A heading without text looks complete, but says nothing."
        fix "Fill in the section, or delete its heading."
    SummaryRepeatsTitle = "C008" Warning "the summary repeats the title"
        why "The next session reads the summary first. The summary should add something to the title."
        fix "Say in one to three sentences what is wrong or needed, and what the status is."
    VaguePointer = "C009" Warning "a vague reference"
        why "\"See the design doc\" makes the next session search for a document that the author had open."
        fix "Name the file, section or link."
    MissingSection = "C010" Warning "the main section is missing"
        why "An investigation without a diagnosis or a plan, or a session without next steps, hands nothing over."
        fix "Add one of the sections listed in the message. Any heading with the same meaning works."
    SessionNotCovered = "C011" Warning "the handoff does not cover its session"
        why "The captured session has a failing command, a reverted edit, a correction by the user or an open task that the handoff does not mention. The next session will run into the same problem again."
        fix "Quote or paraphrase a correction as a constraint, say what an open task is waiting for, and say why a command fails or an edit was reverted."
    FailureNotExplained = "C012" Hint "a failure or a reverted edit is not explained"
        why "The handoff mentions the failure or the reverted edit but does not say why it happened. An explanation of a failure must mention something from the output, such as a test, a file or part of the message, and add information to it. An explanation of a reverted edit must say more than that the edit was reverted."
        fix "Say why it happened, and name the test, file or message that shows it."
    VagueSummary = "C013" Warning "a generic summary or next step"
        why "\"Stuff was done\" fits any work, so the next session learns nothing from it."
        fix "Name what you worked on and what to do next: the feature, the file, the command."
    UntouchedDraft = "C014" Error "an untouched draft"
        why "The document contains only what `midstride new` or `midstride advance` wrote, so it hands nothing over. midstride runs the other checks once you start filling it in."
        fix "Fill in the fields and sections listed in the message."
    CitationMoved = "D001" Hint "cited lines have moved"
        why "The cited lines are now elsewhere in the file, so a reader who looks them up finds different code."
        fix "Run `midstride check --fix` to update the line numbers."
    CitationChanged = "D002" Warning "cited code has changed"
        why "The statement is about an earlier version of this code and may no longer be true."
        fix "Read the code and revise the statement. If it is still true, run `midstride review` with the verdict `held` to accept the code as it is now."
    CitationRenamed = "D003" Warning "a cited file was renamed"
        why "The cited path no longer exists."
        fix "Write the new path."
    CitationDeleted = "D004" Warning "cited code was deleted"
        why "The statement is about code that no longer exists. The work may be done, or the code may be elsewhere."
        fix "Revise the statement, or resolve the handoff if the work is done."
    CitationNotChecked = "D005" Hint "a citation was not checked"
        why "midstride could not compare the citation with the code, so it would not notice a change. The message says why."
        fix "Spell out more of an ambiguous path, correct a path that does not exist, or commit a handoff that has no record of the cited code. Run `git fetch --unshallow` only if the clone lacks a commit, and `git submodule update --init` only if it lacks a submodule."
    MaybeDone = "D006" Hint "an open handoff may be done"
        why "A handoff that has not changed for a month, or that cites files changed by later commits, is often finished or out of date."
        fix "Read the commits, then resolve the handoff with `midstride resolve`, or revise it."
    LiteralGone = "D007" Hint "a cited file no longer contains what the statement mentions"
        why "When the statement was written, the file matched the identifier, number, version or line count that the statement mentions. The work may be done, or the statement may be out of date."
        fix "Read the file, then update the statement, or resolve the handoff if the work is done."
    CitedLinesMissing = "D008" Warning "cited lines do not exist"
        why "The cited file does not exist or does not have that many lines. A reader who looks up the cited lines finds nothing."
        fix "Correct the path or the line number."
    OtherRepository = "D009" Warning "a document does not match this repository"
        why "Almost none of the paths that it cites ever existed here, and neither do the commits that it names or the files whose lines it cites. It may have been copied from another repository, and a session that trusts it looks for code that is not there."
        fix "Move the document to its repository, or keep a note out of briefings with `midstride dismiss PATH`."
    DuplicateId = "R001" Error "two handoffs have the same id"
        why "A reference to the id could mean either handoff."
        fix "Change the id of one of them."
    UnknownReference = "R002" Warning "a reference to an unknown handoff"
        why "No handoff has this id, so the reference points nowhere."
        fix "Correct the id, or add the handoff."
    FileNameDiffers = "R003" Hint "the file name differs from the id"
        why "Users and tools look up a handoff by its file name. This one can be found only by reading every document."
        fix "Rename the file, or correct the id."
    StartupFileMissing = "R004" Warning "a startup file is not in the project"
        why "A session reads this file before it does anything else. The briefing omits a file that is missing or that is outside the project because of a symlink, so the next session starts without it."
        fix "Correct the path (relative to the project root), replace the symlink with the file, or delete the entry."
    GeneratedStale = "G001" Warning "a generated document is out of date"
        why "The source has changed since this document was generated from it."
        fix "Regenerate the document."
    GeneratedOrphan = "G002" Warning "the source of a generated document does not exist"
        why "Without the source, midstride cannot tell whether the document is up to date."
        fix "Correct the source path, or delete the document."
    AllowWithoutReason = "A001" Warning "a finding is silenced without a reason"
        why "Readers cannot tell whether an exception without a reason still applies, so midstride ignores it."
        fix "Write the reason after the code, for example `# midstride: allow C005 the appendix is needed`."
    AllowUnused = "A002" Hint "an unused exception"
        why "The silenced finding no longer occurs. If it occurs again, the exception would hide it."
        fix "Delete the comment."
    AllowUnknown = "A003" Warning "an unknown code is silenced"
        why "No finding has this code, so the comment has no effect."
        fix "Correct the code; `midstride explain` lists all codes."
    PrWithoutContext = "P001" Error "the pull request has no handoff context"
        why "The implementation stage produces code, so its handoff is the pull request description."
        fix "Add a `## Handoff Context` section. `midstride show ID --as pr` prints one."
    PrFieldMissing = "P002" Error "a field is missing from the handoff context"
        why "Reviewers need to know the feature, its design, and which parts of the design the pull request implements."
        fix "Add the field shown in the message."
    PrItemIncomplete = "P003" Warning "an entry in the handoff context is incomplete"
        why "A decision needs a rationale, a deviation needs a reason and an impact, and a question needs context."
        fix "Add the field shown in the message."
    PrDesignNotFound = "P004" Error "the pull request's design does not exist"
        why "Reviewers compare the pull request with the design that it names."
        fix "Correct the path."
    InvalidProof = "V001" Warning "midstride cannot run a proof"
        why "`midstride verify` runs a proof only if the proof says what to run, where to run it, and which result to expect. Until then, the claim is unproven."
        fix "Write `run:` with the command and `expect:` with an exit code, a string, or a mapping of `exit`, `contains`, `matches`, `min` and `max`."
    SecretInDocument = "X001" Error "the document contains a secret"
        why "Everyone who gets the document also gets the secret, and git keeps it in the history."
        fix "Revoke the secret, then run `midstride check --fix` to redact it here. If it is not a secret, silence this finding."
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_parsed_in_any_case() {
        let mut seen = std::collections::HashSet::new();
        for code in Code::ALL {
            let rule = code.rule();
            assert!(seen.insert(rule.code), "{} is given twice", rule.code);
            assert_eq!(Code::parse(&rule.code.to_lowercase()), Some(*code));
            for text in [rule.why, rule.fix] {
                assert!(text.ends_with(['.', ')']), "{}: {text}", rule.code);
            }
        }
    }
}
