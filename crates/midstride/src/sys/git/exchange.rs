//! Exchanges stored texts with another repository. Each reference points to a tree of blobs, and
//! both sides end up with the union of the two trees, minus forgotten blobs.

use super::objects::LOCK_WAIT;
use super::run::GitReach;
use super::{GitError, Repository};
use crate::sys::clock::Deadline;
use midstride_core::text::id::BlobHash;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of attempts when concurrent pushes interfere.
const TRIES_MAX: usize = 10;
/// Maximum number of references in one push, because the length of a command line is limited.
const PUSHED_AT_ONCE: usize = 200;
/// Makes git store fetched objects loose, regardless of their number.
const LOOSE: &str = "fetch.unpackLimit=1000000000";
/// Keeps git from running hooks and other programs of a repository on this machine.
const RECEIVE_PACK: &str = "--receive-pack=git -c core.hooksPath=/dev/null \
    -c core.alternateRefsCommand=true -c core.fsmonitor=false -c receive.autogc=false \
    -c gc.auto=0 -c maintenance.auto=false receive-pack";
/// The prefix under which fetched references are recorded. They are never pushed.
pub(super) const FETCHED: &str = "refs/midstride-fetched";

/// The result of an exchange.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExchangeReport {
    /// The number of texts that the other repository did not have.
    pub sent: usize,
    /// The number of texts that were missing here.
    pub received: usize,
    /// The number of handoffs with texts in the other repository.
    pub handoffs: usize,
    /// The number of handoffs whose texts may not be sent yet.
    pub held_back: usize,
    /// References in the other repository that hold something other than texts. They are left
    /// unchanged.
    pub unrecognized: Vec<String>,
}

/// What to exchange with another repository.
pub struct RefExchange<'a> {
    /// The prefix of the references to exchange.
    pub prefix: &'a str,
    /// Whether a reference that the other repository does not have may be sent.
    pub may_send: &'a dyn Fn(&str) -> bool,
    /// Blobs to remove on both sides.
    pub forgotten: &'a BTreeSet<BlobHash>,
    /// Blobs that stay on the sides that have them. They are not sent.
    pub withheld: &'a BTreeSet<BlobHash>,
}

/// A reference on both sides.
#[derive(Clone, Debug, Default)]
struct RefPair {
    local: Option<String>,
    remote: Option<String>,
    /// Whether one of them points to something other than a tree of texts.
    is_other: bool,
}

/// A reference update that adds the texts of both sides.
pub(super) struct RefUpdate {
    pub(super) name: String,
    pub(super) before: Option<String>,
    pub(super) after: String,
}

impl Repository {
    /// Brings the references of both repositories to their union.
    pub fn exchange(
        &self,
        remote: &str,
        exchange: &RefExchange<'_>,
    ) -> Result<ExchangeReport, GitError> {
        let mut done = ExchangeReport::default();
        let deadline = Deadline::after(LOCK_WAIT);
        let mut tries = 0;
        loop {
            tries += 1;
            self.fetch_references(remote, exchange)?;
            let pairs = self.pairs(remote, exchange.prefix)?;
            match self.merge_references(remote, exchange, pairs, &mut done) {
                Ok(()) => return Ok(done),
                // Another process changed a reference, or a killed git left its lock: fetch again and
                // retry.
                Err(error)
                    if error.is_concurrent_update()
                        && (tries < TRIES_MAX || !deadline.has_passed()) =>
                {
                    self.remove_stale_locks_below(exchange.prefix)?;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Fetches into references that only `sync` uses.
    pub(super) fn fetch(&self, remote: &str, words: &[&str], place: &str) -> Result<(), GitError> {
        let fetch = || self.run_within(GitReach::Remote(remote), words, b"");
        self.repeat_while_locked(&[place], fetch).map(drop)
    }

    fn fetch_references(&self, remote: &str, exchange: &RefExchange<'_>) -> Result<(), GitError> {
        let wanted = format!("+{}/*:{FETCHED}/{remote}/*", exchange.prefix);
        // A fetch may bring a forgotten blob back. It must not arrive in a pack, because it could
        // not be removed from there.
        let loose: &[&str] = if exchange.forgotten.is_empty() { &[] } else { &["-c", LOOSE] };
        let options = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--prune"];
        let from = ["--end-of-options", remote, &wanted];
        let asked = [loose, &options[..], &from].concat();
        self.fetch(remote, &asked, FETCHED)
    }

    fn pairs(&self, remote: &str, prefix: &str) -> Result<BTreeMap<String, RefPair>, GitError> {
        let fetched = format!("{FETCHED}/{remote}");
        let format = "--format=%(objectname) %(objecttype) %(refname)";
        let mut pairs: BTreeMap<String, RefPair> = BTreeMap::new();
        for line in self.list_references(format, &[prefix, &fetched])? {
            let mut words = line.splitn(3, ' ');
            let (Some(id), Some(kind), Some(reference)) =
                (words.next(), words.next(), words.next())
            else {
                continue;
            };
            let below = |folder: &str| reference.strip_prefix(folder)?.strip_prefix('/');
            let (name, is_local) = match (below(prefix), below(&fetched)) {
                (Some(name), _) => (name, true),
                (None, Some(name)) => (name, false),
                (None, None) => continue,
            };
            let pair = pairs.entry(name.to_owned()).or_default();
            let side = if is_local { &mut pair.local } else { &mut pair.remote };
            *side = Some(id.to_owned());
            pair.is_other |= kind != "tree";
        }
        Ok(pairs)
    }

    fn merge_references(
        &self,
        remote: &str,
        exchange: &RefExchange<'_>,
        pairs: BTreeMap<String, RefPair>,
        done: &mut ExchangeReport,
    ) -> Result<(), GitError> {
        let (mut here, mut there) = (Vec::new(), Vec::new());
        let (mut sent, mut received) = (0, 0);
        done.unrecognized.clear();
        (done.handoffs, done.held_back) = (0, 0);
        let mut differing = Vec::new();
        for (name, pair) in pairs {
            if pair.remote.is_none() && !(exchange.may_send)(&name) {
                done.held_back += 1;
            } else if pair.local == pair.remote {
                done.handoffs += 1;
            } else if pair.is_other {
                done.unrecognized.push(name);
            } else {
                done.handoffs += 1;
                differing.push((name, pair));
            }
        }
        let sides = differing.iter().flat_map(|(_, pair)| [&pair.local, &pair.remote]);
        let texts = self.texts_of_trees(&sides.flatten().collect::<Vec<_>>())?;
        let texts_of = |tree: &Option<String>| {
            tree.as_ref().and_then(|tree| texts.get(tree)).cloned().unwrap_or_default()
        };
        for (name, pair) in differing {
            let (ours, theirs) = (texts_of(&pair.local), texts_of(&pair.remote));
            let lasting = |id: &&BlobHash| !exchange.forgotten.contains(*id);
            let mine: BTreeSet<BlobHash> = ours.union(&theirs).filter(lasting).cloned().collect();
            let public = |id: &&BlobHash| theirs.contains(*id) || !exchange.withheld.contains(*id);
            let given: BTreeSet<BlobHash> = mine.iter().filter(public).cloned().collect();
            sent += given.difference(&theirs).count();
            received += mine.difference(&ours).count();
            for (side, before, all) in
                [(&mut here, pair.local, &mine), (&mut there, pair.remote, &given)]
            {
                if before.is_none() && all.is_empty() {
                    continue;
                }
                let after = self.store_tree(all)?;
                if before.as_ref() != Some(&after) {
                    side.push(RefUpdate {
                        name: format!("{}/{name}", exchange.prefix),
                        before,
                        after,
                    });
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

    /// Updates local references, all or none, unless they changed in the meantime.
    fn update_references(&self, steps: &[RefUpdate]) -> Result<(), GitError> {
        let line = |step: &RefUpdate| match &step.before {
            Some(before) => format!("update {} {} {before}\n", step.name, step.after),
            None => format!("create {} {}\n", step.name, step.after),
        };
        let lines: String = steps.iter().map(line).collect();
        self.run(&["update-ref", "--stdin"], lines.as_bytes()).map(|_| ())
    }

    /// Updates references in the other repository, unless they changed in the meantime.
    pub(super) fn push(&self, remote: &str, steps: &[RefUpdate]) -> Result<(), GitError> {
        let mut words: Vec<String> = ["push", "--quiet", "--atomic"].map(str::to_owned).to_vec();
        words.extend(self.receive_option(remote)?);
        for RefUpdate { name, before, .. } in steps {
            let before = before.as_deref().unwrap_or_default();
            words.push(format!("--force-with-lease={name}:{before}"));
        }
        words.extend(["--end-of-options".to_owned(), remote.to_owned()]);
        words.extend(steps.iter().map(|RefUpdate { name, after, .. }| format!("{after}:{name}")));
        self.run_within(GitReach::Remote(remote), &words, b"").map(|_| ())
    }

    /// The option for a remote on this machine, where git would run the hooks and programs of that
    /// repository as this user. They run elsewhere only on another machine.
    fn receive_option(&self, remote: &str) -> Result<Option<String>, GitError> {
        let urls = self.run(&["remote", "get-url", "--push", "--all", remote], b"")?;
        let urls = String::from_utf8_lossy(&urls).into_owned();
        let local = urls.lines().filter(|url| is_on_this_machine(url)).count();
        match local {
            0 => Ok(None),
            _ if local == urls.lines().count() => Ok(Some(RECEIVE_PACK.to_owned())),
            _ => Err(GitError::MixedRemote { remote: remote.to_owned() }),
        }
    }
}

/// Whether git opens a URL as a path: it has no scheme, or `file`, and no host before a colon.
fn is_on_this_machine(url: &str) -> bool {
    if let Some((scheme, _)) = url.split_once("://") {
        return scheme.eq_ignore_ascii_case("file");
    }
    url.split_once(':').is_none_or(|(host, _)| host.contains('/'))
}

impl GitError {
    /// Whether a concurrent update of a reference caused the error.
    pub(crate) fn is_concurrent_update(&self) -> bool {
        let signs = ["stale info", "cannot lock ref", "reference already exists", "but expected"];
        match self {
            Self::Refused { message, .. } => signs.iter().any(|sign| message.contains(sign)),
            Self::NotStarted(_)
            | Self::Died(_)
            | Self::Unreadable { .. }
            | Self::RepositoryProgram { .. }
            | Self::MixedRemote { .. }
            | Self::File(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_on_this_machine;

    #[test]
    fn remotes_on_this_machine_are_recognized() {
        for url in ["/srv/hub.git", "../hub.git", "hub.git", "file:///srv/hub.git", "./a:b"] {
            assert!(is_on_this_machine(url), "{url}");
        }
        for url in ["https://a.example/x", "git@a.example:x.git", "ssh://a/x", "hg::/srv/x"] {
            assert!(!is_on_this_machine(url), "{url}");
        }
    }
}
