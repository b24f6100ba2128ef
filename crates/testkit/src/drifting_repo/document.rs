//! Documents that cite files in every form.

use super::DriftingRepo;
use super::cited::{Cited, Stood};
use super::world::Line;
use midstride::journal::RevisionInfo;
use midstride::verbs::{self, NewHandoff};
use midstride_core::text::id::CommitId;
use std::fmt::Write as _;

/// How the baseline of a document is known.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// midstride wrote the document and recorded anchors.
    Anchored,
    /// The document was written by hand and committed.
    Blamed,
    /// The document was written by hand, is outside git, and names a commit.
    AtCommit(CommitId),
}

#[derive(Clone)]
pub(super) struct Paper {
    pub(super) kind: Kind,
    /// The id of the document, or its path if it was written by hand.
    pub(super) name: String,
    /// The commit that the document was started at.
    pub(super) begun: CommitId,
    pub(super) statements: Vec<Statement>,
    pub(super) bullet: char,
}

#[derive(Clone)]
pub(super) struct Statement {
    /// A word that no other statement contains.
    pub(super) tag: String,
    /// The identity of the statement's line.
    pub(super) line: u64,
    form: Form,
    pub(super) cited: Vec<Cited>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Landmine,
    Item,
    Row,
    Paragraph,
}

impl Statement {
    pub(super) fn text(&self, bullet: char) -> String {
        let shown = |cited: &Cited| match cited.written.contains('#') {
            true => format!("[there]({})", cited.written),
            false => format!("`{}`", cited.written),
        };
        let mut places: Vec<String> = Vec::new();
        for cited in &self.cited {
            match places.last_mut().filter(|_| cited.joined) {
                Some(list) => *list = format!("`{}`", cited.join(list.trim_matches('`'))),
                None => places.push(shown(cited)),
            }
        }
        let places = places.join(" and ");
        let (tag, line) = (&self.tag, self.line);
        match self.form {
            Form::Landmine => format!("    - \"{tag} edition {line} trips over {places}\""),
            Form::Item => format!("{bullet} {tag} edition {line} is about {places}"),
            Form::Row => format!("| {tag} edition {line} | {places} |"),
            Form::Paragraph => format!("{tag} edition {line} tells of {places}."),
        }
    }
}

impl Paper {
    /// The folder that relative paths start from, below the root.
    pub(super) fn folder(&self) -> &str {
        match self.kind {
            Kind::Anchored => ".midstride/handoffs",
            Kind::Blamed => self.name.rsplit_once('/').map_or("", |(folder, _)| folder),
            Kind::AtCommit(_) => ".git/midstride/handoffs",
        }
    }

    pub(super) fn path(&self) -> String {
        match self.kind {
            Kind::Anchored => format!(".midstride/handoffs/{}.md", self.name),
            Kind::Blamed => self.name.clone(),
            Kind::AtCommit(_) => format!(".git/midstride/handoffs/{}.md", self.name),
        }
    }

    fn in_form(&self, form: Form) -> impl Iterator<Item = (Option<u64>, String)> + '_ {
        let of_form = move |statement: &&Statement| statement.form == form;
        let text = |one: &Statement| (Some(one.line), one.text(self.bullet));
        self.statements.iter().filter(of_form).map(text)
    }

    /// The lines of the document, with their identities where they have one.
    fn lines(&self) -> Vec<(Option<u64>, String)> {
        let plain = |text: &str| (None, text.to_owned());
        let mut lines: Vec<(Option<u64>, String)> =
            ["---", "handoff:", "  status: planned"].map(plain).into();
        if self.kind == Kind::Blamed {
            lines.push((None, format!("  id: {}", self.name.replace(['/', '.'], "-"))));
        } else {
            lines.push((None, format!("  id: {}", self.name)));
        }
        lines.push((None, format!("  title: What became of {}", self.tag_of_title())));
        if let Kind::AtCommit(commit) = &self.kind {
            lines.push((None, format!("  at_commit: {commit}")));
        }
        lines.push(plain("  landmines:"));
        lines.extend(self.in_form(Form::Landmine));
        lines.extend(["---", "", "## Diagnosis", ""].map(plain));
        lines.extend(self.in_form(Form::Item));
        lines.extend(["", "| what | where |", "|---|---|"].map(plain));
        lines.extend(self.in_form(Form::Row));
        for paragraph in self.in_form(Form::Paragraph) {
            lines.push(plain(""));
            lines.push(paragraph);
        }
        lines
    }

    fn tag_of_title(&self) -> String {
        self.name.chars().filter(char::is_ascii_digit).collect()
    }

    pub(super) fn text(&self) -> String {
        self.lines().iter().fold(String::new(), |mut text, (_, line)| {
            let _ = writeln!(text, "{line}");
            text
        })
    }
}

impl DriftingRepo {
    pub(super) fn write_papers(&mut self) {
        for _ in 0..self.random.between(1, 2) {
            self.write_paper();
        }
    }

    pub(super) fn write_paper(&mut self) {
        let head = self.history.last().expect("there is always a commit").id.clone();
        let number = self.new_id();
        let (kind, name) = match self.random.below(7) {
            0 | 6 => (Kind::AtCommit(head.clone()), format!("private-{number}")),
            1 | 2 => (Kind::Blamed, format!("docs/handoffs/note-{number}.md")),
            _ => (Kind::Anchored, format!("finding-{number}")),
        };
        let mut paper = self.new_paper(kind, name, head);
        self.tell(format!("paper {} in {}", paper.name, paper.folder()));
        match paper.kind {
            Kind::Anchored => self.make(&mut paper),
            Kind::Blamed => self.lay_down(&paper),
            Kind::AtCommit(_) => {
                self.sandbox.write(&paper.path(), paper.text());
            }
        }
        let is_blamed = paper.kind == Kind::Blamed;
        self.papers.push(paper);
        if is_blamed || self.random.percent(50) {
            self.commit();
        }
    }

    fn new_paper(&mut self, kind: Kind, name: String, begun: CommitId) -> Paper {
        let mut paper = Paper { kind, name, begun, statements: Vec::new(), bullet: '-' };
        for form in [Form::Landmine, Form::Item, Form::Item, Form::Row, Form::Paragraph] {
            let statement = self.new_statement(&paper, form);
            paper.statements.push(statement);
        }
        paper
    }

    /// Writes a document about a file in the very commit that deletes the file.
    pub(super) fn write_born_stale_paper(&mut self, path: &str) {
        let head = self.history.last().expect("there is always a commit").id.clone();
        let name = format!("docs/handoffs/note-{}.md", self.new_id());
        let mut paper = self.new_paper(Kind::Blamed, name, head);
        let lines = self.random.percent(50).then_some((1, 2));
        let cited = Cited::new(path.to_owned(), lines, false);
        let statement = self.random.below(paper.statements.len());
        let places = &mut paper.statements[statement].cited;
        if places.iter().all(|one| one.written != cited.written) {
            places.push(cited);
        }
        self.tell(format!("paper {} about {path}, which goes with it", paper.name));
        self.lay_down(&paper);
        self.put(path, None);
        self.papers.push(paper);
        self.commit();
    }

    /// Creates the document through midstride.
    fn make(&mut self, paper: &mut Paper) {
        let wanted = NewHandoff {
            text: Some(paper.text()),
            id: Some(paper.name.clone()),
            ..NewHandoff::default()
        };
        verbs::new(&self.store(), &wanted).expect("the handoff is made");
        for statement in &mut paper.statements {
            self.take_down(".midstride/handoffs", statement);
        }
        self.take_up(&paper.path());
    }

    fn take_down(&self, folder: &str, statement: &mut Statement) {
        for cited in &mut statement.cited {
            cited.stood = Some(Stood::at(&self.tree, folder, cited));
        }
    }

    /// Records a file that midstride or the sandbox wrote, without line identities.
    pub(super) fn take_up(&mut self, path: &str) {
        let text = self.sandbox.read(path);
        let lines = text.lines().map(|line| Line { id: 0, text: line.to_owned() }).collect();
        let file = self.file_of(lines);
        assert_eq!(file.text(), text, "a document ends with its last line");
        self.tree.insert(path.to_owned(), file);
    }

    /// Writes a document that is maintained by hand to the working tree.
    pub(super) fn lay_down(&mut self, paper: &Paper) {
        let line = |(id, text): (Option<u64>, String)| Line { id: id.unwrap_or(0), text };
        let lines = paper.lines().into_iter().map(line).collect();
        let file = self.file_of(lines);
        self.put(&paper.name, Some(file));
    }

    fn new_statement(&mut self, paper: &Paper, form: Form) -> Statement {
        let tag = format!("T{}x", self.new_id());
        self.edition(paper, tag, form)
    }

    /// A new statement with the given tag; its text was never used before.
    fn edition(&mut self, paper: &Paper, tag: String, form: Form) -> Statement {
        let mut cited: Vec<Cited> = Vec::new();
        for _ in 0..self.random.between(1, 3) {
            let code = self.code();
            let beside = cited.last().and_then(|last| self.whole_path(&last.path));
            let whole = match beside.filter(|_| self.random.percent(50)) {
                Some(same) => same,
                None => self.random.pick(&code).clone(),
            };
            let new = self.new_citation(paper, &whole);
            if cited.iter().all(|old| old.written != new.written) {
                cited.push(new);
            }
        }
        if self.random.percent(40) {
            self.extend_list(&mut cited);
        }
        Statement { tag, line: self.new_id(), form, cited }
    }

    /// Makes a list of the last citation: more lines of its file, or alternatives of its name.
    fn extend_list(&mut self, cited: &mut Vec<Cited>) {
        let Some(last) = cited.last().cloned().filter(|last| !last.written.contains('#')) else {
            return;
        };
        let is_new =
            |cited: &[Cited], new: &Cited| cited.iter().all(|one| one.written != new.written);
        if let Some((_, mut end)) = last.lines {
            for _ in 0..self.random.between(1, 3) {
                let first = end + self.random.between(1, 4);
                end = first + self.random.below(3);
                let new = Cited::new(last.path.clone(), Some((first, end)), false);
                if is_new(cited, &new) {
                    cited.push(Cited { joined: true, ..new });
                }
            }
            return;
        }
        let Some((folder, name)) = last.path.rsplit_once('/') else { return };
        let Some((_, ending)) = name.rsplit_once('.') else { return };
        let is_sibling = |path: &&String| {
            let name = path.strip_prefix(folder).and_then(|name| name.strip_prefix('/'));
            name.is_some_and(|name| !name.contains('/') && name.ends_with(&format!(".{ending}")))
        };
        let siblings: Vec<String> = self.code().iter().filter(is_sibling).cloned().collect();
        let path = match siblings.is_empty() || self.random.percent(30) {
            true => format!("{folder}/other_{}.{ending}", self.new_id()),
            false => self.random.pick(&siblings).clone(),
        };
        let new = Cited::new(path, None, false);
        if is_new(cited, &new) {
            cited.push(Cited { joined: true, ..new });
        }
    }

    /// The file that a path in any of its forms refers to.
    fn whole_path(&self, written: &str) -> Option<String> {
        let end = written.trim_start_matches("../");
        self.code().into_iter().find(|path| path.ends_with(end))
    }

    fn new_citation(&mut self, paper: &Paper, whole: &str) -> Cited {
        let as_link = self.random.percent(30);
        let kind = self.random.below(100);
        if kind < 8 {
            let lines = (kind < 4).then_some((3, 5));
            return Cited::new(self.new_path(), lines, as_link);
        }
        if kind < 16
            && let Some((folder, _)) = whole.rsplit_once('/')
        {
            return Cited::new(format!("{folder}/"), None, false);
        }
        let path = self.form_of(whole, paper);
        if kind < 20 {
            return Cited::new(path, Some((900, 905)), as_link);
        }
        if kind < 40 {
            return Cited::new(path, None, false);
        }
        let count = self.tree[whole].lines.len();
        let length = self.random.between(1, 5).min(count).max(1);
        let length = if self.random.percent(40) { 1 } else { length };
        let first = self.random.between(1, (count + 1 - length).max(1));
        Cited::new(path, (count > 0).then_some((first, first + length - 1)), as_link)
    }

    /// Writes a path in one of the possible forms.
    fn form_of(&mut self, whole: &str, paper: &Paper) -> String {
        let outside = matches!(paper.kind, Kind::AtCommit(_));
        match self.random.below(6) {
            0 if !outside => {
                let up = "../".repeat(paper.folder().split('/').count());
                format!("{up}{whole}")
            }
            // The bare file name is unambiguous, because every name contains a unique number.
            1 => whole.rsplit('/').next().unwrap_or(whole).to_owned(),
            _ => whole.to_owned(),
        }
    }

    /// Replaces a statement of a document.
    pub(super) fn revise(&mut self) {
        let number = self.random.below(self.papers.len());
        let mut paper = self.papers[number].clone();
        let which = self.random.below(paper.statements.len());
        let old = paper.statements[which].clone();
        let mut new = self.edition(&paper, old.tag.clone(), old.form);
        self.tell(format!("revise {} of {}", old.tag, paper.name));
        match paper.kind {
            Kind::Anchored => {
                let (old, new_text) = (old.text(paper.bullet), new.text(paper.bullet));
                self.change_text(&paper, |text| text.replace(&old, &new_text));
                self.take_down(paper.folder(), &mut new);
                paper.statements[which] = new;
            }
            Kind::Blamed => {
                paper.statements[which] = new;
                self.lay_down(&paper);
            }
            Kind::AtCommit(_) => {}
        }
        self.papers[number] = paper;
    }

    /// Rewrites a document with other list markers, without changing what it says.
    pub(super) fn reformat(&mut self) {
        let number = self.random.below(self.papers.len());
        let mut paper = self.papers[number].clone();
        if paper.kind != Kind::Anchored {
            return;
        }
        self.tell(format!("reformat {}", paper.name));
        let old = paper.bullet;
        paper.bullet = if old == '-' { '*' } else { '-' };
        let (before, after) = (format!("\n{old} T"), format!("\n{} T", paper.bullet));
        if self.random.percent(50) {
            self.change_text(&paper, |text| text.replace(&before, &after));
        } else {
            let text = self.sandbox.read(&paper.path()).replace(&before, &after);
            self.sandbox.write(&paper.path(), text);
            self.take_up(&paper.path());
        }
        self.papers[number] = paper;
    }

    /// Revises a document through midstride.
    fn change_text(&mut self, paper: &Paper, change: impl Fn(String) -> String) {
        let store = self.store();
        let stored = store.workspace().find(&paper.name).expect("it is there");
        let text = stored.document.text().to_owned();
        let next = change(text.clone());
        assert_ne!(next, text, "something is said anew");
        let why = RevisionInfo::by_text("something else is so", None);
        verbs::revise(&store, &stored, &next, &why).expect("it is revised");
        self.take_up(&paper.path());
    }
}
