//! Commits and rewritten histories, all written by `git fast-import` in one process.

use super::world::{File, Tree};
use super::{Commit, DriftingRepo};
use midstride_core::text::id::CommitId;
use std::io::Write as _;
use std::process::Stdio;

/// The time of the first commit, which is before the fixed time of a sandbox.
const FIRST_SECOND: usize = 1_700_000_000;

impl DriftingRepo {
    /// Creates the first files and commits.
    pub(super) fn begin(&mut self) {
        self.sandbox.git(&["init", "--quiet", "--initial-branch=main"]);
        // midstride reads private documents only in a folder that it created.
        self.store().workspace().make_private().expect("the folder is ours");
        let config = self.file_of(Vec::new());
        self.put(".midstride/config.toml", Some(config));
        for _ in 0..self.random.between(3, 5) {
            let (path, file) = (self.new_path(), self.new_file());
            if self.random.percent(15) {
                // A copy that exists from the start must not count as a new name of the other file.
                let lines = file.lines.clone().iter().map(|line| self.same_text(line)).collect();
                let twin = File { family: file.family, ..self.file_of(lines) };
                let beside = self.new_path();
                self.put(&beside, Some(twin));
            }
            self.put(&path, Some(file));
        }
        self.commit();
    }

    pub(super) fn commit(&mut self) {
        let tree = self.tree.clone();
        self.tell("commit");
        self.rewrite(self.history.len(), vec![tree]);
    }

    /// Squashes several commits into one.
    pub(super) fn squash(&mut self) {
        let from = self.random.below(self.history.len());
        let tree = self.history[self.history.len() - 1].tree.clone();
        self.tell(format!("squash from {from}"));
        self.rewrite(from, vec![tree]);
        self.perhaps_prune();
    }

    /// Rebases the newest commits onto a new commit.
    pub(super) fn rebase(&mut self) {
        let from = self.random.below(self.history.len()).max(1).min(self.history.len());
        let (path, file) = (self.new_path(), self.new_file());
        let mut trees: Vec<Tree> = vec![self.history[from - 1].tree.clone()];
        trees.extend(self.history[from..].iter().map(|commit| commit.tree.clone()));
        for tree in &mut trees {
            tree.insert(path.clone(), file.clone());
        }
        self.tell(format!("rebase from {from} onto a new {path}"));
        self.put(&path, Some(file));
        self.rewrite(from, trees);
        self.perhaps_prune();
    }

    fn perhaps_prune(&mut self) {
        if self.random.percent(70) {
            self.prune();
        }
    }

    /// Deletes everything that no branch reaches.
    fn prune(&mut self) {
        self.tell("prune");
        self.sandbox.git(&["reflog", "expire", "--expire=now", "--all"]);
        self.sandbox.git(&["prune", "--expire=now"]);
        self.commits = self.history.iter().map(|c| (c.id.clone(), c.tree.clone())).collect();
        let files = self.history.iter().flat_map(|commit| commit.tree.values());
        self.kept = files.map(File::text).collect();
    }

    /// Replaces the commits from an index on with commits of these trees.
    fn rewrite(&mut self, from: usize, trees: Vec<Tree>) {
        self.history.truncate(from);
        let stream = self.stream(&trees);
        let marks = self.sandbox.home().join("marks");
        let mut import = self.sandbox.command("git");
        // Write loose objects, because they can be pruned one by one.
        import.args(["-c", "fastimport.unpackLimit=100000", "fast-import", "--quiet", "--force"]);
        import.arg(format!("--export-marks={}", marks.display())).stdin(Stdio::piped());
        let mut import = import.spawn().expect("git starts");
        let mut input = import.stdin.take().expect("it is piped");
        input.write_all(&stream).expect("git reads");
        drop(input);
        assert!(import.wait().expect("it ends").success(), "{}", String::from_utf8_lossy(&stream));
        self.sandbox.git(&["read-tree", "HEAD"]);
        let marks = std::fs::read_to_string(marks).expect("git wrote it");
        let id = |number: usize| {
            let mark = format!(":{} ", number + 1);
            let line = marks.lines().find_map(|line| line.strip_prefix(&mark));
            CommitId::new(line.expect("every commit has a mark"))
        };
        for (number, tree) in trees.into_iter().enumerate() {
            self.kept.extend(tree.values().map(File::text));
            self.commits.insert(id(number), tree.clone());
            self.history.push(Commit { id: id(number), tree });
        }
    }

    fn stream(&self, trees: &[Tree]) -> Vec<u8> {
        let mut stream = b"reset refs/heads/main\n\n".to_vec();
        for (number, tree) in trees.iter().enumerate() {
            // Give every commit a unique message, so that equal trees still make different commits.
            let message =
                format!("commit {}\n", self.last_id + u64::try_from(number).expect("small"));
            let second = FIRST_SECOND + 60 * (self.history.len() + number);
            let from = match (number, self.history.last()) {
                (0, Some(parent)) => format!("from {}\n", parent.id),
                _ => String::new(),
            };
            stream.extend(
                format!(
                    "commit refs/heads/main\nmark :{}\ncommitter tester <t@example.org> {second} +0000\n\
                     data {}\n{message}{from}deleteall\n",
                    number + 1,
                    message.len()
                )
                .bytes(),
            );
            for (path, file) in tree {
                let text = file.text();
                stream.extend(
                    format!("M 100644 inline {path}\ndata {}\n{text}\n", text.len()).bytes(),
                );
            }
        }
        stream
    }
}
