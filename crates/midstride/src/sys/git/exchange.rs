//! Kept texts that go to another repository and come from there. A reference to a tree of blobs
//! meets another one by union: nothing is taken away on either side but what somebody forgot.

use super::{GitError, Repository};
use std::collections::{BTreeMap, BTreeSet};

/// Somebody else may push at the same moment, again and again; not for ever.
const TRIES_MAX: usize = 10;
/// How many references one push names; a command line has an end.
const PUSHED_AT_ONCE: usize = 200;
/// Makes git keep fetched objects one by one, however many there are.
const LOOSE: &str = "fetch.unpackLimit=1000000000";
/// Where the other repository's references are noted here. They are never pushed.
pub(super) const FETCHED: &str = "refs/midstride-fetched";

/// What went where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExchangeReport {
    /// Texts that the other repository did not have.
    pub sent: usize,
    /// Texts that were not here.
    pub received: usize,
    /// How many handoffs have texts there now.
    pub handoffs: usize,
    /// Handoffs whose texts may not go yet.
    pub held_back: usize,
    /// References there that keep something else than texts; they were left alone.
    pub unrecognized: Vec<String>,
}

/// What may go to another repository.
pub struct RefExchange<'a> {
    /// The references that are exchanged lie below this.
    pub prefix: &'a str,
    /// What the references below this keep alive never leaves.
    pub private: &'a str,
    /// Whether a reference that the other repository does not have may go there.
    pub may_send: &'a dyn Fn(&str) -> bool,
    /// What is taken away on both sides.
    pub forgotten: &'a BTreeSet<String>,
}

/// One reference here and there.
#[derive(Clone, Debug, Default)]
struct RefPair {
    local: Option<String>,
    remote: Option<String>,
}

/// A reference that has to change to have both sides' texts.
pub(super) struct RefUpdate {
    pub(super) name: String,
    pub(super) before: Option<String>,
    pub(super) after: String,
}

impl Repository {
    /// Brings references here and in another repository to the union of both.
    pub fn exchange(
        &self,
        remote: &str,
        what: &RefExchange<'_>,
    ) -> Result<ExchangeReport, GitError> {
        let mut done = ExchangeReport::default();
        let mut last = None;
        for _ in 0..TRIES_MAX {
            self.fetch_references(remote, what)?;
            let pairs = self.pairs(remote, what.prefix)?;
            match self.merge_references(remote, what, pairs, &mut done) {
                Ok(()) => return Ok(done),
                // Whoever changed a reference meanwhile is fetched and met again.
                Err(error) if error.is_concurrent_update() => last = Some(error),
                Err(error) => return Err(error),
            }
        }
        Err(last.expect("there is at least one try"))
    }

    fn fetch_references(&self, remote: &str, what: &RefExchange<'_>) -> Result<(), GitError> {
        let wanted = format!("+{}/*:{FETCHED}/{remote}/*", what.prefix);
        // What was forgotten may come once more, and must not come in a pack: it could not be taken
        // out of that.
        let loose: &[&str] = if what.forgotten.is_empty() { &[] } else { &["-c", LOOSE] };
        let options = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--prune"];
        let from = ["--end-of-options", remote, &wanted];
        self.run(&[loose, &options[..], &from].concat(), b"").map(|_| ())
    }

    fn pairs(&self, remote: &str, prefix: &str) -> Result<BTreeMap<String, RefPair>, GitError> {
        let fetched = format!("{FETCHED}/{remote}");
        let format = "--format=%(objectname) %(refname)";
        let listed = self.run(&["for-each-ref", format, prefix, &fetched], b"")?;
        let mut pairs: BTreeMap<String, RefPair> = BTreeMap::new();
        for line in String::from_utf8_lossy(&listed).lines() {
            let Some((id, reference)) = line.split_once(' ') else { continue };
            let below = |folder: &str| reference.strip_prefix(folder)?.strip_prefix('/');
            if let Some(name) = below(prefix) {
                pairs.entry(name.to_owned()).or_default().local = Some(id.to_owned());
            } else if let Some(name) = below(&fetched) {
                pairs.entry(name.to_owned()).or_default().remote = Some(id.to_owned());
            }
        }
        Ok(pairs)
    }

    fn merge_references(
        &self,
        remote: &str,
        what: &RefExchange<'_>,
        pairs: BTreeMap<String, RefPair>,
        done: &mut ExchangeReport,
    ) -> Result<(), GitError> {
        let (mut here, mut there) = (Vec::new(), Vec::new());
        let (mut sent, mut received) = (0, 0);
        done.unrecognized.clear();
        (done.handoffs, done.held_back) = (0, 0);
        let private = self.kept_blobs_below(&[what.private])?.into_iter();
        let private: BTreeSet<String> = private.flat_map(|(_, kept)| kept.ids).collect();
        for (name, pair) in pairs {
            if pair.remote.is_none() && !(what.may_send)(&name) {
                done.held_back += 1;
                continue;
            }
            if pair.local == pair.remote {
                done.handoffs += 1;
                continue;
            }
            let kept = |tree: Option<&String>| {
                tree.map_or(Ok(BTreeSet::new()), |tree| self.blobs_in_tree(tree))
            };
            let (Ok(ours), Ok(theirs)) = (kept(pair.local.as_ref()), kept(pair.remote.as_ref()))
            else {
                done.unrecognized.push(name);
                continue;
            };
            done.handoffs += 1;
            let lasting = |id: &&String| !what.forgotten.contains(*id);
            let mine: BTreeSet<String> = ours.union(&theirs).filter(lasting).cloned().collect();
            let public = |id: &&String| theirs.contains(*id) || !private.contains(*id);
            let given: BTreeSet<String> = mine.iter().filter(public).cloned().collect();
            sent += given.difference(&theirs).count();
            received += mine.difference(&ours).count();
            for (side, before, all) in
                [(&mut here, pair.local, &mine), (&mut there, pair.remote, &given)]
            {
                if before.is_none() && all.is_empty() {
                    continue;
                }
                let after = self.make_tree(all)?;
                if before.as_ref() != Some(&after) {
                    side.push(RefUpdate { name: format!("{}/{name}", what.prefix), before, after });
                }
            }
        }
        self.update_references(&here)?;
        done.received += received;
        for steps in there.chunks(PUSHED_AT_ONCE) {
            self.push(remote, steps)?;
        }
        done.sent += sent;
        Ok(())
    }

    /// Changes references here, all or none, if nobody else did meanwhile.
    fn update_references(&self, steps: &[RefUpdate]) -> Result<(), GitError> {
        let line = |step: &RefUpdate| match &step.before {
            Some(before) => format!("update {} {} {before}\n", step.name, step.after),
            None => format!("create {} {}\n", step.name, step.after),
        };
        let lines: String = steps.iter().map(line).collect();
        self.run(&["update-ref", "--stdin"], lines.as_bytes()).map(|_| ())
    }

    /// Changes references there, if nobody else did meanwhile.
    pub(super) fn push(&self, remote: &str, steps: &[RefUpdate]) -> Result<(), GitError> {
        let mut words: Vec<String> =
            ["push", "--quiet", "--no-verify", "--atomic"].map(str::to_owned).to_vec();
        for RefUpdate { name, before, .. } in steps {
            let before = before.as_deref().unwrap_or_default();
            words.push(format!("--force-with-lease={name}:{before}"));
        }
        words.extend(["--end-of-options".to_owned(), remote.to_owned()]);
        words.extend(steps.iter().map(|RefUpdate { name, after, .. }| format!("{after}:{name}")));
        self.run(&words, b"").map(|_| ())
    }
}

impl GitError {
    /// Whether somebody else changed a reference at the same moment.
    pub fn is_concurrent_update(&self) -> bool {
        let signs = ["stale info", "cannot lock ref", "reference already exists", "but expected"];
        match self {
            Self::Refused { message, .. } => signs.iter().any(|sign| message.contains(sign)),
            Self::NotStarted(_) | Self::File(_) => false,
        }
    }
}
