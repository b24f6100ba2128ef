//! Decisions are made again after a conflict, and an unknown outcome is found out.

use midstride_core::text::id::BlobHash;
use midstride_core::work::event::Envelope;
use midstride_ledger::conformance::event;
use midstride_ledger::{
    Append, AppendDecision, AppendError, Blob, Cursor, ExpectedVersion, Lease, LeaseError, Ledger,
    LedgerError, LedgerRecord, LedgerWatch, MemoryLedger, Page, StreamId, Version, decide,
};
use std::cell::Cell;
use std::sync::Mutex;

/// A ledger whose appends answer something else, in this order, as long as there is an answer left.
struct Unreliable {
    ledger: MemoryLedger,
    answers: Mutex<Vec<Answer>>,
}

#[derive(Clone, Copy)]
enum Answer {
    /// It was recorded, but the reply was lost.
    NoReply,
    /// It was not recorded, but the engine cannot tell.
    NotSent,
    /// Another writer was faster.
    Overtaken,
}

impl Ledger for Unreliable {
    fn append_all(&self, appends: &[Append<'_>]) -> Vec<Result<Version, AppendError>> {
        let answer = self.answers.lock().unwrap().pop();
        let ambiguous = || {
            let lost = AppendError::Ambiguous("the connection was lost".to_owned());
            appends.iter().map(|_| Err(lost.clone())).collect()
        };
        match answer {
            None => self.ledger.append_all(appends),
            Some(Answer::NotSent) => ambiguous(),
            Some(Answer::NoReply) => {
                self.ledger.append_all(appends);
                ambiguous()
            }
            Some(Answer::Overtaken) => {
                for append in appends {
                    let other = [event("other")];
                    self.ledger.append(append.stream, append.expected, &other).unwrap();
                }
                self.ledger.append_all(appends)
            }
        }
    }

    fn read_page(
        &self,
        stream: &StreamId,
        after: Option<Version>,
        max: usize,
    ) -> Result<Vec<LedgerRecord>, LedgerError> {
        self.ledger.read_page(stream, after, max)
    }

    fn read_all(&self, after: &Cursor, max: usize) -> Result<Page, LedgerError> {
        self.ledger.read_all(after, max)
    }

    fn read_prefix_page(
        &self,
        prefix: &str,
        after: &Cursor,
        max: usize,
    ) -> Result<Page, LedgerError> {
        self.ledger.read_prefix_page(prefix, after, max)
    }

    fn last_per_stream_page(
        &self,
        prefix: &str,
        after: &Cursor,
        max: usize,
    ) -> Result<Page, LedgerError> {
        self.ledger.last_per_stream_page(prefix, after, max)
    }

    fn watch(&self) -> Result<Box<dyn LedgerWatch>, LedgerError> {
        self.ledger.watch()
    }

    fn acquire_lease(&self, name: &str) -> Result<Lease, LeaseError> {
        self.ledger.acquire_lease(name)
    }

    fn store_blob(&self, blob: &Blob<'_>) -> Result<(), LedgerError> {
        self.ledger.store_blob(blob)
    }

    fn get_blob(&self, hash: &BlobHash) -> Result<Option<Vec<u8>>, LedgerError> {
        self.ledger.get_blob(hash)
    }
}

/// Decides to append one event, and returns how often it was decided and what the stream has then.
fn run(answers: &[Answer], tries: usize) -> (Result<(), AppendError>, usize, Vec<String>) {
    let answers = answers.iter().rev().copied().collect();
    let ledger = Unreliable { ledger: MemoryLedger::default(), answers: Mutex::new(answers) };
    let (decided, left) = (Cell::new(0), Cell::new(tries));
    let stream = StreamId::mission();
    let may_retry = || left.replace(left.get().saturating_sub(1)) > 0;
    let result = decide(&ledger, may_retry, || {
        decided.set(decided.get() + 1);
        let version = ledger.read(&stream, None).unwrap().last().map(|record| record.version);
        let expected = ExpectedVersion::after(version);
        let events = vec![event("mine")];
        Ok::<_, AppendError>(AppendDecision::new(stream.clone(), expected, events, ()))
    });
    let records = ledger.read(&stream, None).unwrap();
    let ids = records.into_iter().flat_map(|record| record.events).map(|it: Envelope| it.id);
    (result, decided.get(), ids.collect())
}

#[test]
fn a_decision_is_made_again_after_a_conflict() {
    let (result, decided, ids) = run(&[Answer::Overtaken, Answer::Overtaken], 5);
    assert_eq!((result, decided), (Ok(()), 3));
    assert_eq!(ids, ["other", "other", "mine"]);
}

#[test]
fn an_unknown_outcome_is_found_out_and_recorded_once() {
    for answers in [
        &[Answer::NoReply][..],
        &[Answer::NotSent],
        &[Answer::NotSent, Answer::NoReply, Answer::NotSent],
    ] {
        let (result, decided, ids) = run(answers, 5);
        assert_eq!((result, decided), (Ok(()), 1));
        assert_eq!(ids, ["mine"]);
    }
    let (result, decided, ids) = run(&[Answer::NotSent, Answer::Overtaken], 5);
    assert_eq!((result, decided), (Ok(()), 2));
    assert_eq!(ids, ["other", "mine"]);
}

#[test]
fn retries_end() {
    let (result, decided, ids) = run(&[Answer::Overtaken; 9], 3);
    assert!(matches!(result, Err(AppendError::Conflict { .. })), "{result:?}");
    assert_eq!((decided, ids.len()), (4, 4));
}

#[test]
fn an_engine_that_always_fails_ends_the_decision() {
    let (result, decided, ids) = run(&[Answer::NotSent; 99], usize::MAX);
    assert!(matches!(result, Err(AppendError::Ambiguous(_))), "{result:?}");
    assert_eq!((decided, ids.len()), (1, 0));
}

#[test]
fn nothing_to_record_appends_nothing() {
    let ledger = MemoryLedger::default();
    let nothing = || Ok::<_, AppendError>(AppendDecision::nothing(7));
    assert_eq!(decide(&ledger, || true, nothing), Ok(7));
    let stream = StreamId::mission();
    let no_events = || {
        let expected = ExpectedVersion::NoStream;
        Ok::<_, AppendError>(AppendDecision::new(stream.clone(), expected, Vec::new(), 8))
    };
    assert_eq!(decide(&ledger, || true, no_events), Ok(8));
    assert!(ledger.read_with_prefix("").unwrap().is_empty());
}
