//! The table of all finding codes: code, severity, title, why it matters, how to fix it.
//!
//! A code is never reused for another meaning. The letter is the family: H parsing the document,
//! S stages and their rules, L the lifecycle of a handoff, C content, R references, G generated
//! documents, A silenced findings, P pull requests, D the current state of the code, V proofs, X secrets.

use super::Severity::{self, Advice, Error, Warning};
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
        why "Every other tool in the chain reads UTF-8. midstride shows the rest of the document, and changes nothing in it, because it could not write the strange bytes back."
        fix "Convert the file, for instance with `iconv -f latin1 -t utf-8`, and check it again."
    NoHeader = "H002" Advice "a note without a handoff header"
        why "A note is read, listed and shown, but a program cannot tell its status, its open questions or whom it is for."
        fix "Put a `handoff:` header on top; `midstride schema` describes it and `midstride new` writes one."
    HeaderNotClosed = "H003" Error "the header is not closed"
        why "The header starts with `---` and must end with a line `---`. Without it other readers take the whole document for the header, or none of it."
        fix "Add a line `---` between the header and the text."
    Syntax = "H004" Error "a block of the header is not YAML"
        why "What stands in this block is lost to every reader. The other blocks are still read."
        fix "Mend the place shown. Text with a colon and a space, or one that starts with a sign, belongs in quotes."
    DuplicateKey = "H005" Error "a key is written twice"
        why "Readers disagree about which one counts. midstride takes the first and refuses to edit either."
        fix "Join the two, or delete the one that is not meant."
    ConflictMarker = "H006" Error "a merge was left unfinished"
        why "Both sides stand in the document between `<<<<<<<` and `>>>>>>>`; nobody can tell which one is meant."
        fix "`midstride merge PATH` joins what can be joined; decide for one side in the rest, and delete the marker lines."
    Tab = "H007" Warning "the header is indented with tabs"
        why "YAML knows no tabs in indentation. midstride reads them as spaces; other readers stop."
        fix "Replace the tabs by spaces; `midstride fmt` does it."
    LooseForm = "H008" Advice "a value is written loosely"
        why "It is understood, but not every tool is as patient: a single text where a list is meant, a status in capitals, a time without seconds or zone."
        fix "`midstride fmt` or `midstride check --fix` writes it in the strict form."
    UnreadableValue = "H009" Error "a value cannot be understood"
        why "The field takes another kind of value, so this one counts as missing."
        fix "Write one of the values the message names; `midstride schema` lists them all."
    UnknownKey = "H010" Warning "a key is probably misspelt"
        why "Unknown keys are kept and ignored. One that is nearly a known key is probably meant to be it."
        fix "Correct the spelling, or silence this finding if the key is your own."
    NewerFormat = "H011" Warning "the document is of a newer format"
        why "It was written by a newer midstride. It can be shown; changing it could lose what this version does not know."
        fix "Update midstride."
    HeaderInSection = "H012" Advice "the header stands in a section"
        why "Its values are read from the `Handoff` section, as far as they can be recognised there. A header says them without guessing."
        fix "`midstride fmt` makes a header of it."
    HeaderTooLarge = "H013" Error "the header is too large"
        why "A header is read at the start of every session. Over 1 MiB it is not read at all."
        fix "Move the material into the body or into a file of its own, and refer to it."
    NotePartlyUnreadable = "H014" Advice "a part of a note cannot be read"
        why "The note has bytes that are not UTF-8, or a header of another tool that does not parse. The rest is read."
        fix "Mend the place shown, if the note is yours."
    BadId = "H015" Error "the id is not a slug"
        why "The id is a file name and is typed by people, so it is made of a-z, 0-9, `.`, `_` and `-`."
        fix "Choose a slug; the uid keeps the identity of the handoff."
    InvalidStartupStep = "H016" Error "an entry of `boot` is no boot action"
        why "Boot actions are what a session does before anything else, on the word of a document: load a skill, read a file of the project, restore a task, keep to something. Nobody acts on anything else, least of all on a shell command."
        fix "Name a skill, a path beneath the root, a task or a constraint in one line. A command that shows something belongs under `proofs`, where it runs only once a person has allowed it."
    MissingField = "S001" Error "a required field is missing"
        why "Whoever takes this handoff over needs the field; the stage or kind of the document says which ones. (Rule 1 for advancing.)"
        fix "Add the field. Where there is nothing to say, say so: an empty list states that there are none."
    EmptyField = "S002" Error "a required field says nothing"
        why "A field that is there and empty passes for complete and is not. (Rule 1 for advancing.)"
        fix "Fill it in."
    BlockingQuestion = "S003" Warning "a blocking question is open"
        why "Work that goes on before it is answered may have to be thrown away. The document is fine; the pipeline does not advance. (Rule 2.)"
        fix "Answer it: put the answer under `answer`, or decide that it does not block."
    AssumptionUnvalidated = "S004" Error "a low-confidence assumption was not validated"
        why "The author doubts it and asks for validation; building on it is a bet. (Rule 3.)"
        fix "Validate it and set `validated: true` or `validated: failed`, or say why no validation is needed."
    AssumptionUnchecked = "S005" Warning "an assumption of medium or unstated confidence was not validated"
        why "It asks for validation and nobody did it yet. It does not block. (Rule 3.)"
        fix "Validate it and set `validated: true` or `validated: failed`."
    UpstreamNotFound = "S006" Error "an upstream artifact does not exist"
        why "The document says it was derived from something that is not there. (Rule 4.)"
        fix "Correct the path, which counts from the pipeline's folder, the document's folder or the root; or add the artifact."
    UpstreamIncomplete = "S007" Error "an upstream artifact is not complete"
        why "It has errors or an open blocking question, so what was derived from it may not hold. (Rule 4.)"
        fix "Complete the upstream document first."
    CapabilityMissing = "S008" Error "a platform capability has no decision"
        why "Each capability is decided at this stage, even if it does not apply; an omission is found too late. (Rule 5.)"
        fix "Add the capability with `applies: true` or `applies: false` and a rationale."
    CapabilityUnexplained = "S009" Warning "a capability decision has no rationale"
        why "The next stage cannot tell a decision from a guess."
        fix "Add a `rationale`."
    NoUpstream = "S010" Warning "a stage document names no upstream"
        why "Without it nobody finds the decisions and questions this document builds on."
        fix "Name it under `dependencies.upstream`; `midstride new --from` fills it in."
    UnknownStage = "S011" Error "the stage is not known"
        why "What a document must contain depends on its stage."
        fix "Use a known stage, or define this one under `[stages]` in `.midstride/config.toml`."
    AssumptionDisproved = "S012" Warning "an assumption was disproved"
        why "Somebody looked, and it does not hold. Decisions, steps and later stages that rely on it have to be looked at again before the pipeline advances. (Rule 3.)"
        fix "Revise what relies on it, then move the assumption to `wrong_turns` with the reason."
    QuestionUnclear = "S013" Warning "a question does not say whether it blocks"
        why "The next session must know which questions to answer first. Without `blocking` the question counts as one that can wait. (Rule 2.)"
        fix "Add `blocking: true` or `blocking: false`."
    AssumptionUnrated = "S014" Warning "an assumption does not say how sure it is"
        why "A low-confidence assumption has to be validated before the work goes on; without `confidence` it looks like a sure one. (Rule 3.)"
        fix "Add `confidence: high`, `medium` or `low`."
    ResolvedWithoutCommit = "L001" Warning "resolved, but not by what"
        why "A resolved handoff is history; its commit is where a reader looks next."
        fix "Add `resolution:` with the `commit`, or with an `outcome` where no code changed."
    SupersededWithoutSuccessor = "L002" Warning "superseded, but by nothing"
        why "A reader who lands here has to be sent on."
        fix "Name the successor under `superseded_by`."
    AbandonedWithoutReason = "L003" Warning "abandoned without a reason"
        why "Without the reason the next session starts the same work again."
        fix "Add `resolution:` with a `reason`."
    ClosedButOpen = "L004" Warning "the end is recorded, the status is open"
        why "The inbox lists it as work to do, though the document says it is over."
        fix "Set the status to resolved, superseded or abandoned; or take the record of the end out."
    ResolvedButBlocked = "L005" Error "a review that blocks is marked resolved"
        why "The next stage takes a resolved review for one that passed."
        fix "Record the new verdict under `decisions_made` once it passes; until then set the status to in_progress, or end it as superseded or abandoned."
    DecisionWithoutRationale = "C001" Warning "a decision without its reason"
        why "A decision without a reason is taken again by the next session."
        fix "Add a `rationale`, and the alternatives that were considered."
    RootCauseWithoutPlace = "C002" Advice "a root cause without a place in the code"
        why "The next session has to find the place again."
        fix "Name the file and line: `src/market.py:120`."
    StepWithoutCheck = "C003" Advice "a plan step without a way to tell it is done"
        why "A step that cannot be checked is believed to be done."
        fix "Say what must hold afterwards, or the command that shows it."
    RevisedWithoutLesson = "C004" Advice "revised, and no wrong turn recorded"
        why "A correction whose reason is not kept is made again. What was wrong is worth as much as what is right."
        fix "Record what was tried and why it was wrong under `wrong_turns`, or what will bite under `landmines`."
    Length = "C005" Advice "unusually short or long"
        why "Most useful handoffs have 50 to 150 lines: enough for diagnosis, wrong turns and plan, and still read in one go."
        fix "Add what a successor would ask, or move detail into files and refer to them."
    Placeholder = "C006" Warning "a placeholder was left in"
        why "It looks like content and is none."
        fix "Replace it with what is meant, or delete it."
    EmptySection = "C007" Warning "a section is empty"
        why "A heading promises something that is not there."
        fix "Fill the section or delete its heading."
    SummaryRepeatsTitle = "C008" Warning "the summary says what the title says"
        why "The summary is what a successor reads first; it should add to the title."
        fix "Say in one to three sentences what is wrong or wanted, and where the work stands."
    VaguePointer = "C009" Warning "a pointer that leads nowhere"
        why "\"See the design doc\" makes the next session search for what this one had open."
        fix "Name the file, section or link."
    MissingSection = "C010" Warning "the heart of the document is missing"
        why "An investigation without findings, or a session without a continuation, hands nothing over."
        fix "Add the section the message names; any heading with that meaning will do."
    SessionNotCovered = "C011" Warning "the handoff does not cover its session"
        why "A command that still fails, a reverted edit, a correction by the user and an open task are what the next session runs into again. The captured session has them; the handoff does not name them."
        fix "Quote or paraphrase a correction as a constraint, say what an open task is waiting for, and say why a command fails or an edit was reverted."
    FailureNotExplained = "C012" Advice "a failure or a reverted edit is named, and not explained"
        why "A list of what failed does not say why. A failure is explained where a sentence names something of what it printed, such as a test, a file or a part of the message, and adds to it. A reverted edit is explained where a sentence says more than that it was reverted."
        fix "Say why it happened, and name the test, file or message that shows it."
    VagueSummary = "C013" Warning "a summary or next step that says nothing"
        why "\"Stuff was done\" fits any work, so the next session learns nothing from it."
        fix "Name what was worked on and what to do next: the feature, the file, the command."
    CitationMoved = "D001" Advice "a cited place has moved"
        why "The lines that were cited stand elsewhere in the file; whoever looks them up finds something else."
        fix "`midstride check --fix` writes where they are now."
    CitationChanged = "D002" Warning "a cited place has changed"
        why "What is said here was said about other code; it may not hold any more."
        fix "Look at the place and revise what is said about it. If it still holds, say so: `midstride review` with the verdict `held` takes the code as it is now."
    CitationRenamed = "D003" Warning "a cited file has another name"
        why "Whoever follows the path finds nothing there."
        fix "Write the new path."
    CitationDeleted = "D004" Warning "a cited place is gone"
        why "What is said here is about code that is not there any more; the work may be done, or have moved on."
        fix "Revise what is said, or resolve the handoff if it is done."
    CitationNotChecked = "D005" Advice "a cited place was not checked"
        why "The code that was cited is not known, so a change would not be noticed: the document is not committed, the clone lacks it, the name is ambiguous, or there is no such place."
        fix "Fetch what is missing with `git fetch --unshallow` or `git submodule update --init`, commit the document, or correct the place."
    MaybeDone = "D006" Advice "perhaps this is done"
        why "An open handoff that nobody touched for a month, or whose files later commits changed, is often finished or overtaken."
        fix "Look at the commits; then resolve it with `midstride resolve`, or revise it."
    LiteralGone = "D007" Advice "a cited file no longer has what the statement names"
        why "An identifier, a number, a version or a number of lines that the sentence gives was in the file when it was written. The work may be done, or the statement may be stale."
        fix "Look at the file, then update the statement, or resolve the handoff if it is done."
    DuplicateId = "R001" Error "one id, two handoffs"
        why "Two different handoffs carry the same id; a reference to it could mean either."
        fix "Give one of them another id."
    UnknownReference = "R002" Warning "a reference to a handoff that is not there"
        why "A reader who follows it finds nothing."
        fix "Correct the id, or add the handoff."
    FileNameDiffers = "R003" Advice "the file is not named after its id"
        why "It is found only by reading every document."
        fix "Rename the file, or correct the id."
    StartupFileMissing = "R004" Warning "a boot action reads what is not in the project"
        why "A session reads it before anything else. A briefing leaves out what is gone and what a link leads out of the project to, so the next session starts without it and is not told."
        fix "Correct the path, which counts from the root of the project; put the file into the project in place of the link; or delete the entry."
    GeneratedStale = "G001" Warning "the source changed since this was generated"
        why "The document shows what its source said earlier."
        fix "Generate it again."
    GeneratedOrphan = "G002" Warning "the source of a generated document is gone"
        why "Nobody can tell whether it still holds."
        fix "Correct the path of the source, or delete the document."
    AllowWithoutReason = "A001" Warning "a finding is silenced without a reason"
        why "Without a reason nobody can tell whether it still applies, so it does not count."
        fix "Write it behind the code: `# midstride: allow C005 the appendix is wanted`."
    AllowUnused = "A002" Advice "nothing to silence"
        why "The finding does not occur any more; the exception would hide the next one."
        fix "Delete the comment."
    AllowUnknown = "A003" Warning "an unknown code is silenced"
        why "It silences nothing."
        fix "Correct the code; `midstride explain` lists them."
    PrWithoutContext = "P001" Error "the pull request has no handoff context"
        why "Implementation produces code, so its handoff is the description of the pull request."
        fix "Add a section `## Handoff Context`; `midstride show ID --as pr` writes it."
    PrFieldMissing = "P002" Error "the handoff context lacks a field"
        why "A reviewer needs to know the feature, its design, and which parts of it this carries out."
        fix "Add the line the message names."
    PrItemIncomplete = "P003" Warning "an entry of the handoff context is incomplete"
        why "A decision needs its rationale, a deviation its reason and impact, a question its context."
        fix "Add the line the message names."
    PrDesignNotFound = "P004" Error "the design named in the pull request does not exist"
        why "A reviewer cannot compare the change with it."
        fix "Correct the path."
    InvalidProof = "V001" Warning "a proof cannot be run as it is written"
        why "`midstride verify` runs a proof only where it is clear what to run, where, and what must come of it; otherwise the claim stays a word."
        fix "Write `run:` with the command and `expect:` with an exit code, a text, or a mapping of `exit`, `contains`, `matches`, `min`, `max`."
    SecretInDocument = "X001" Error "a secret is in the document"
        why "Everyone who gets the document gets the secret, and git keeps it in the history."
        fix "Change the secret where it is used, then run `midstride check --fix`, which redacts it here. If it is not a secret, silence the finding."
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
