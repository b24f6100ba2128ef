//! Derives the true status of a citation from the identities of files and lines.

use super::DriftingRepo;
use super::cited::{Cited, Stood, resolved};
use super::document::{Kind, Paper};
use super::world::{File, Tree};
use midstride_core::handoff::citation::LineRange;
use midstride_core::handoff::drift::{
    CitationCheck, CitationOutcome, CitationStatus, CodeLocation,
};
use midstride_core::text::id::CommitId;
use std::collections::BTreeSet;

/// The expected result of checking a citation.
#[derive(Clone, Debug)]
pub struct Expected {
    /// The tag of the statement, which is unique.
    pub tag: String,
    /// The location as it is written.
    pub place: String,
    /// How the baseline is found, and its commit if there is one.
    baseline: (&'static str, Option<CommitId>),
    /// The possible outcomes; more than one only if the truth cannot be determined.
    fates: Vec<CitationOutcome>,
}

/// The path of the cited file now.
#[derive(Clone, Copy)]
struct SameFile<'p> {
    path: &'p str,
    is_renamed: bool,
}

impl SameFile<'_> {
    fn location(self, lines: Option<LineRange>) -> CodeLocation {
        CodeLocation { path: self.path.to_owned(), lines }
    }

    /// The outcome for lines at their old position.
    fn in_place(self, lines: Option<LineRange>) -> CitationOutcome {
        let location = self.location(lines);
        match self.is_renamed {
            true => CitationOutcome::Renamed(location),
            false => CitationOutcome::Intact(location),
        }
    }

    /// The outcome for lines at another position.
    fn moved(self, lines: LineRange) -> CitationOutcome {
        let location = self.location(Some(lines));
        match self.is_renamed {
            true => CitationOutcome::Renamed(location),
            false => CitationOutcome::Moved(location),
        }
    }
}

impl Expected {
    /// Whether the result of a check is correct.
    pub fn agrees(&self, check: &CitationCheck) -> bool {
        let (found_by, commit) = check.origin.word_and_commit();
        let is_so = |fate: &CitationOutcome| match (fate, &check.outcome) {
            // The truth knows neither the lines that replaced the cited ones nor their text.
            (
                CitationOutcome::Changed { location: fate, .. },
                CitationOutcome::Changed { location: found, .. },
            ) => found.path == fate.path,
            (fate, found) => found == fate,
        };
        (found_by, commit.cloned()) == self.baseline && self.fates.iter().any(is_so)
    }

    /// The true status, if it is certain.
    pub fn verdict(&self) -> Option<CitationStatus> {
        self.fates.first().filter(|_| !self.is_doubtful()).map(CitationOutcome::status)
    }

    pub(super) fn is_doubtful(&self) -> bool {
        self.fates.len() > 1
    }

    /// Whether the location is still in its file.
    pub(super) fn is_located(&self) -> bool {
        let status = self.fates.first().map(CitationOutcome::status);
        matches!(status, Some(CitationStatus::Intact | CitationStatus::Moved))
    }

    /// The new first line, if the location moved.
    pub(super) fn moved_to(&self) -> Option<usize> {
        let fate = self.fates.first()?;
        let moved = fate.location().filter(|_| fate.status() == CitationStatus::Moved)?;
        moved.lines.map(|lines| lines.first)
    }
}

impl DriftingRepo {
    /// The truth about every citation of a document.
    pub(super) fn truth_of(&self, paper: &Paper, now: &Tree) -> Vec<Expected> {
        let all = paper.statements.iter().flat_map(|one| one.cited.iter().map(move |c| (one, c)));
        all.map(|(statement, cited)| {
            let (baseline, stood, before) = self.baseline(paper, statement.line, cited, now);
            let mut fates = self.fates(&stood, before, now);
            // A commit may be newer than the text its author saw, so a line that says nothing is
            // not followed from one.
            if let Stood::File { path, file, lines: Some(lines) } = &stood
                && matches!(baseline.0, "blame" | "at_commit")
                && file.is_blank(*lines)
            {
                fates = fates.into_iter().map(|fate| without_move(fate, path, *lines)).collect();
            }
            Expected { tag: statement.tag.clone(), place: cited.written.clone(), baseline, fates }
        })
        .collect()
    }

    /// How the baseline is found, what was at the cited location, and the files of that time.
    fn baseline<'r>(
        &'r self,
        paper: &Paper,
        line: u64,
        cited: &Cited,
        now: &'r Tree,
    ) -> ((&'static str, Option<CommitId>), Stood, Option<&'r Tree>) {
        let stood = |tree| Stood::at(tree, paper.folder(), cited);
        let unknown = || {
            Stood::Unknown(
                resolved(now, paper.folder(), &cited.path).filter(|_| cited.lines.is_none()),
            )
        };
        let head = self.history.last().expect("there is always a commit");
        match &paper.kind {
            Kind::Anchored => {
                let stood = cited.stood.clone().expect("it was taken down");
                (("anchor", None), stood, self.commits.get(&paper.begun))
            }
            Kind::AtCommit(commit) if *commit == head.id => {
                (("just_written", None), stood(now), None)
            }
            Kind::AtCommit(commit) => match self.commits.get(commit) {
                Some(tree) => (("at_commit", Some(commit.clone())), stood(tree), Some(tree)),
                None => (("none", None), unknown(), None),
            },
            Kind::Blamed => match self.writer_of(&paper.name, line) {
                Some((id, tree)) => {
                    let by = ("blame", Some(id.clone()));
                    let is_missing = resolved(tree, paper.folder(), &cited.path).is_none();
                    match self
                        .tree_before(&id)
                        .filter(|_| is_missing)
                        .map(|tree| (stood(tree), tree))
                    {
                        // The commit that added the citation removed the file.
                        Some((Stood::File { path, file, lines }, tree)) => {
                            (by, Stood::File { path, file, lines }, Some(tree))
                        }
                        Some((Stood::Folder(path), tree)) => (by, Stood::Folder(path), Some(tree)),
                        _ => (by, stood(tree), Some(tree)),
                    }
                }
                None => match head.tree.contains_key(&paper.name) {
                    true => (("just_written", None), stood(now), None),
                    false => (("none", None), unknown(), None),
                },
            },
        }
    }

    /// The files of the parent of a commit.
    fn tree_before(&self, id: &CommitId) -> Option<&Tree> {
        let at = self.history.iter().position(|commit| commit.id == *id)?;
        self.history.get(at.checked_sub(1)?).map(|commit| &commit.tree)
    }

    /// The commit that added a line to a file, and its tree.
    fn writer_of(&self, path: &str, line: u64) -> Option<(CommitId, &Tree)> {
        let has = |tree: &Tree| {
            tree.get(path).is_some_and(|file| file.lines.iter().any(|one| one.id == line))
        };
        let since = self.history.iter().rev().take_while(|commit| has(&commit.tree)).last();
        since.map(|commit| (commit.id.clone(), &commit.tree))
    }

    fn fates(&self, stood: &Stood, before: Option<&Tree>, now: &Tree) -> Vec<CitationOutcome> {
        let intact = |path: &str| vec![SameFile { path, is_renamed: false }.in_place(None)];
        match stood {
            Stood::Nothing => vec![CitationOutcome::NeverExisted],
            Stood::Unknown(Some(path)) => intact(path),
            Stood::Unknown(None) => vec![CitationOutcome::Unchecked],
            Stood::Folder(path) => {
                let inside = format!("{path}/");
                let is_there = now.keys().any(|other| other.starts_with(&inside));
                if is_there { intact(path) } else { vec![CitationOutcome::Deleted] }
            }
            Stood::File { path, file, lines } => match now.get(path) {
                Some(there) => {
                    self.in_file(file, *lines, SameFile { path, is_renamed: false }, there)
                }
                None => self.elsewhere((path, file), *lines, before, now),
            },
        }
    }

    /// What happened to a file that is no longer at its path.
    fn elsewhere(
        &self,
        (was, file): (&str, &File),
        lines: Option<(usize, usize)>,
        before: Option<&Tree>,
        now: &Tree,
    ) -> Vec<CitationOutcome> {
        let was_there = |path: &String| before.is_some_and(|before| before.contains_key(path));
        let known = self.kept.contains(&file.text());
        let mut fates = Vec::new();
        let itself = now.iter().find(|(_, other)| other.id == file.id);
        let mut doubtful = false;
        if let Some((path, there)) = itself {
            let alike = if known {
                alike(file, there)
            } else {
                usize::from(file.text() == there.text()) * 100
            };
            // The similarity limit is 50 percent. Close to it, git may count differently.
            // A file that was renamed and edited keeps its kind.
            let ending = |path: &str| path.rsplit('.').next().unwrap_or_default().to_owned();
            let is_same_kind = file.text() == there.text() || ending(was) == ending(path);
            // If git has the file under the new name as it was, that shows the rename of a file
            // that was edited later.
            let head = self.history.last().and_then(|commit| commit.tree.get(path));
            let was_committed = head.is_some_and(|head| head.text() == file.text());
            if (alike >= 35 && is_same_kind) || was_committed {
                let same = SameFile { path, is_renamed: true };
                fates.extend(self.in_file(file, lines, same, there));
            }
            // A path that the file had before it was cited is not a new name.
            doubtful = alike < 65 || was_there(path) || (was_committed && !is_same_kind);
            // A copy that no commit shows next to the new file may have become it instead.
            let stayed = |copy: &String| {
                let both = |tree: &Tree| tree.contains_key(copy) && tree.contains_key(path);
                self.history.iter().any(|commit| both(&commit.tree))
            };
            let trees = self.history.iter().map(|commit| &commit.tree).chain(before);
            let mut copies = trees.flatten().filter(|(copy, other)| {
                other.family == file.family && other.id != file.id && !now.contains_key(*copy)
            });
            doubtful |= copies.any(|(copy, _)| !stayed(copy));
        }
        // Two files with the same text and new names cannot be told apart.
        let twins = now.iter().filter(|(path, other)| {
            other.family == file.family && other.id != file.id && !was_there(path)
        });
        // The same holds if no commit shows that both existed.
        let untold =
            before.is_none() && !self.history.iter().any(|commit| commit.tree.contains_key(was));
        for (path, there) in twins.filter(|(path, _)| untold || self.is_new_name(path)) {
            let same = SameFile { path, is_renamed: true };
            fates.extend(self.in_file(file, lines, same, there));
            doubtful = true;
        }
        if fates.is_empty() || doubtful {
            fates.push(CitationOutcome::Deleted);
        }
        fates
    }

    /// Whether a path is not one of the initial ones.
    fn is_new_name(&self, path: &str) -> bool {
        !self.first_paths.contains(path)
    }

    fn in_file(
        &self,
        was: &File,
        lines: Option<(usize, usize)>,
        same: SameFile<'_>,
        now: &File,
    ) -> Vec<CitationOutcome> {
        let Some((first, last)) = lines else { return vec![same.in_place(None)] };
        let at = |place: usize| match place + 1 == first {
            true => same.in_place(Some(LineRange { first, last })),
            false => same.moved(LineRange { first, last }.starting_at(place + 1)),
        };
        let changed = || CitationOutcome::Changed { location: same.location(None), change: None };
        let cited = &was.lines[first - 1..last];
        let ids: Vec<u64> = cited.iter().map(|line| line.id).collect();
        let texts: Vec<&str> = cited.iter().map(|line| line.text.as_str()).collect();
        let place = now.place_of(&ids);
        let truth = place.map_or_else(changed, at);
        let mut fates = vec![truth];
        let only_one =
            was.count_of(&texts) == 1 && now.count_of(&texts) <= usize::from(place.is_some());
        // A line without letters or digits is never enough to identify a location.
        let says_something = texts.iter().any(|text| text.contains(char::is_alphanumeric));
        if (only_one && says_something) || self.is_held(was, now, (first, last)) {
            return fates;
        }
        // Equal lines without distinct neighbors: any of them is possible, or none.
        let windows = now.lines.windows(texts.len()).enumerate();
        let equal = windows.filter(|(_, window)| {
            window.iter().map(|line| line.text.as_str()).eq(texts.iter().copied())
        });
        fates.extend(equal.map(|(place, _)| at(place)));
        fates.push(changed());
        fates
    }

    /// Whether the lines still have the same neighbors, which tells them apart from equal lines.
    fn is_held(&self, was: &File, now: &File, (first, last): (usize, usize)) -> bool {
        let known = self.kept.contains(&was.text());
        let reach = if known && !now.shuffled { 1 } else { 2 };
        let (Some(from), to) = (first.checked_sub(1 + reach), last + reach) else { return false };
        let Some(wide) = was.lines.get(from..to) else { return false };
        let ids: Vec<u64> = wide.iter().map(|line| line.id).collect();
        let texts: Vec<&str> = wide.iter().map(|line| line.text.as_str()).collect();
        now.place_of(&ids).is_some() && was.count_of(&texts) == 1 && now.count_of(&texts) == 1
    }
}

/// The outcome for lines that say nothing and are not followed.
fn without_move(
    fate: CitationOutcome,
    was: &str,
    (first, last): (usize, usize),
) -> CitationOutcome {
    let cited = Some(LineRange { first, last });
    match fate {
        CitationOutcome::Renamed(there) if there.lines == cited => CitationOutcome::Renamed(there),
        CitationOutcome::Renamed(there) | CitationOutcome::Changed { location: there, .. }
            if there.path != was =>
        {
            CitationOutcome::Renamed(CodeLocation { lines: None, ..there })
        }
        CitationOutcome::Moved(_) | CitationOutcome::Changed { .. } => CitationOutcome::Unchecked,
        CitationOutcome::Intact(_)
        | CitationOutcome::Renamed(_)
        | CitationOutcome::Deleted
        | CitationOutcome::NeverExisted
        | CitationOutcome::Unchecked => fate,
    }
}

/// The similarity of two files, in percent of the larger text.
fn alike(was: &File, now: &File) -> usize {
    let ids: BTreeSet<u64> = was.lines.iter().map(|line| line.id).collect();
    let same = now.lines.iter().filter(|line| ids.contains(&line.id));
    let same: usize = same.map(|line| line.text.len() + 1).sum();
    same * 100 / was.text().len().max(now.text().len()).max(1)
}
