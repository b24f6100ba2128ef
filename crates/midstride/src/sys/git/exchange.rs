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
pub struct Exchanged {
    /// Texts that the other repository did not have.
    pub sent: usize,
    /// Texts that were not here.
    pub received: usize,
    /// How many handoffs have texts there now.
    pub handoffs: usize,
    /// Handoffs whose texts may not go yet.
    pub kept_back: usize,
    /// References there that keep something else than texts; they were left alone.
    pub odd: Vec<String>,
}

/// What may go to another repository.
pub struct Exchange<'a> {
    /// The references that are exchanged lie below this.
    pub prefix: &'a str,
    /// What the references below this keep alive never leaves.
    pub private: &'a str,
    /// Whether a reference that the other repository does not have may go there.
    pub may_go: &'a dyn Fn(&str) -> bool,
    /// What is taken away on both sides.
    pub forgotten: &'a BTreeSet<String>,
}

/// One reference here and there.
#[derive(Clone, Debug, Default)]
struct Pair {
    here: Option<String>,
    there: Option<String>,
}

/// A reference that has to change to have both sides' texts.
pub(super) struct Step {
    pub(super) name: String,
    pub(super) before: Option<String>,
    pub(super) after: String,
}

impl Repository {
    /// Brings references here and in another repository to the union of both.
    pub fn exchange(&self, remote: &str, what: &Exchange<'_>) -> Result<Exchanged, GitError> {
        let mut done = Exchanged::default();
        let mut last = None;
        for _ in 0..TRIES_MAX {
            self.fetch_references(remote, what)?;
            let pairs = self.pairs(remote, what.prefix)?;
            match self.meet(remote, what, pairs, &mut done) {
                Ok(()) => return Ok(done),
                // Whoever changed a reference meanwhile is fetched and met again.
                Err(error) if error.is_overtaken() => last = Some(error),
                Err(error) => return Err(error),
            }
        }
        Err(last.expect("there is at least one try"))
    }

    fn fetch_references(&self, remote: &str, what: &Exchange<'_>) -> Result<(), GitError> {
        let wanted = format!("+{}/*:{FETCHED}/{remote}/*", what.prefix);
        // What was forgotten may come once more, and must not come in a pack: it could not be taken
        // out of that.
        let loose: &[&str] = if what.forgotten.is_empty() { &[] } else { &["-c", LOOSE] };
        let options = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--prune"];
        let from = ["--end-of-options", remote, &wanted];
        self.run(&[loose, &options[..], &from].concat(), b"").map(|_| ())
    }

    fn pairs(&self, remote: &str, prefix: &str) -> Result<BTreeMap<String, Pair>, GitError> {
        let fetched = format!("{FETCHED}/{remote}");
        let format = "--format=%(objectname) %(refname)";
        let listed = self.run(&["for-each-ref", format, prefix, &fetched], b"")?;
        let mut pairs: BTreeMap<String, Pair> = BTreeMap::new();
        for line in String::from_utf8_lossy(&listed).lines() {
            let Some((id, reference)) = line.split_once(' ') else { continue };
            let below = |folder: &str| reference.strip_prefix(folder)?.strip_prefix('/');
            if let Some(name) = below(prefix) {
                pairs.entry(name.to_owned()).or_default().here = Some(id.to_owned());
            } else if let Some(name) = below(&fetched) {
                pairs.entry(name.to_owned()).or_default().there = Some(id.to_owned());
            }
        }
        Ok(pairs)
    }

    fn meet(
        &self,
        remote: &str,
        what: &Exchange<'_>,
        pairs: BTreeMap<String, Pair>,
        done: &mut Exchanged,
    ) -> Result<(), GitError> {
        let (mut here, mut there) = (Vec::new(), Vec::new());
        let (mut sent, mut received) = (0, 0);
        done.odd.clear();
        (done.handoffs, done.kept_back) = (0, 0);
        let private = self.kept_below(&[what.private])?.into_iter();
        let private: BTreeSet<String> = private.flat_map(|(_, kept)| kept.ids).collect();
        for (name, pair) in pairs {
            if pair.there.is_none() && !(what.may_go)(&name) {
                done.kept_back += 1;
                continue;
            }
            if pair.here == pair.there {
                done.handoffs += 1;
                continue;
            }
            let kept = |tree: Option<&String>| {
                tree.map_or(Ok(BTreeSet::new()), |tree| self.blobs_of(tree))
            };
            let (Ok(ours), Ok(theirs)) = (kept(pair.here.as_ref()), kept(pair.there.as_ref()))
            else {
                done.odd.push(name);
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
                [(&mut here, pair.here, &mine), (&mut there, pair.there, &given)]
            {
                if before.is_none() && all.is_empty() {
                    continue;
                }
                let after = self.tree_of(all)?;
                if before.as_ref() != Some(&after) {
                    side.push(Step { name: format!("{}/{name}", what.prefix), before, after });
                }
            }
        }
        self.update(&here)?;
        done.received += received;
        for steps in there.chunks(PUSHED_AT_ONCE) {
            self.push(remote, steps)?;
        }
        done.sent += sent;
        Ok(())
    }

    /// Changes references here, all or none, if nobody else did meanwhile.
    fn update(&self, steps: &[Step]) -> Result<(), GitError> {
        let line = |step: &Step| match &step.before {
            Some(before) => format!("update {} {} {before}\n", step.name, step.after),
            None => format!("create {} {}\n", step.name, step.after),
        };
        let lines: String = steps.iter().map(line).collect();
        self.run(&["update-ref", "--stdin"], lines.as_bytes()).map(|_| ())
    }

    /// Changes references there, if nobody else did meanwhile.
    pub(super) fn push(&self, remote: &str, steps: &[Step]) -> Result<(), GitError> {
        let mut words: Vec<String> =
            ["push", "--quiet", "--no-verify", "--atomic"].map(str::to_owned).to_vec();
        for Step { name, before, .. } in steps {
            let before = before.as_deref().unwrap_or_default();
            words.push(format!("--force-with-lease={name}:{before}"));
        }
        words.extend(["--end-of-options".to_owned(), remote.to_owned()]);
        words.extend(steps.iter().map(|Step { name, after, .. }| format!("{after}:{name}")));
        self.run(&words, b"").map(|_| ())
    }
}

impl GitError {
    /// Whether somebody else changed a reference at the same moment.
    pub fn is_overtaken(&self) -> bool {
        let signs = ["stale info", "cannot lock ref", "reference already exists", "but expected"];
        match self {
            Self::Refused { message, .. } => signs.iter().any(|sign| message.contains(sign)),
            Self::NotStarted(_) | Self::File(_) => false,
        }
    }
}
