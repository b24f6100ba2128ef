//! Lets midstride update moved citations.

use super::DriftingRepo;
use super::cited::Stood;
use super::document::Kind;
use super::truth::Expected;
use midstride::verbs;

impl DriftingRepo {
    /// Updates the moved citations of a document through midstride.
    pub(super) fn follow(&mut self) {
        let number = self.random.below(self.papers.len());
        let mut paper = self.papers[number].clone();
        let expected = self.truth_of(&paper, &self.tree);
        if paper.kind != Kind::Anchored || expected.iter().any(Expected::is_doubtful) {
            return;
        }
        self.tell(format!("follow {}", paper.name));
        let store = self.store();
        let stored = store.workspace().find(&paper.name).expect("it is there");
        verbs::update_moved_citations(&store, &stored).expect("it is followed");
        let mut expected = &expected[..];
        for cited in paper.statements.iter_mut().map(|statement| &mut statement.cited) {
            for list in cited.chunk_by_mut(|_, next| next.joined) {
                let (truths, rest) = expected.split_at(list.len());
                expected = rest;
                // A list is updated whole or not at all.
                if !truths.iter().all(Expected::is_located) {
                    continue;
                }
                for (cited, truth) in list.iter_mut().zip(truths) {
                    if let Some(first) = truth.moved_to() {
                        *cited = cited.at(first);
                        cited.stood = Some(Stood::at(&self.tree, ".midstride/handoffs", cited));
                    }
                }
            }
        }
        let text = self.sandbox.read(&paper.path());
        for statement in &paper.statements {
            assert!(text.contains(&statement.text(paper.bullet)), "{}:\n{text}", statement.tag);
        }
        self.take_up(&paper.path());
        self.papers[number] = paper;
    }
}
