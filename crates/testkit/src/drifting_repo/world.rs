//! Files whose lines have identities.

use super::DriftingRepo;
use std::collections::BTreeMap;

/// Files by path.
pub(super) type Tree = BTreeMap<String, File>;

#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) id: u64,
    pub(super) text: String,
}

/// A file, which keeps its identity when it is renamed.
#[derive(Clone, Debug)]
pub(super) struct File {
    pub(super) id: u64,
    /// The same number for files that were created with the same text.
    pub(super) family: u64,
    /// Whether a block was moved within the file, which a comparison of two texts cannot detect
    /// reliably.
    pub(super) shuffled: bool,
    /// Whether it quotes another file. It keeps its ending, which shows that it is another file.
    pub(super) quotes: bool,
    pub(super) lines: Vec<Line>,
}

impl File {
    pub(super) fn text(&self) -> String {
        self.lines.iter().map(|line| format!("{}\n", line.text)).collect()
    }

    /// The index at which these consecutive lines start.
    pub(super) fn place_of(&self, ids: &[u64]) -> Option<usize> {
        let same = |window: &[Line]| window.iter().map(|line| line.id).eq(ids.iter().copied());
        self.lines.windows(ids.len().max(1)).position(same)
    }

    /// Whether lines have no letter or digit.
    pub(super) fn is_blank(&self, (first, last): (usize, usize)) -> bool {
        let cited = self.lines[first - 1..last].iter();
        !cited.flat_map(|line| line.text.chars()).any(char::is_alphanumeric)
    }

    /// How many times these texts occur as consecutive lines.
    pub(super) fn count_of(&self, texts: &[&str]) -> usize {
        let same = |window: &&[Line]| {
            window.iter().map(|line| line.text.as_str()).eq(texts.iter().copied())
        };
        self.lines.windows(texts.len().max(1)).filter(same).count()
    }
}

/// Folder and file names, including ones that need escaping and ones that sound like secrets.
const FOLDERS: [&str; 7] =
    ["src", "src/deep", "lib", "app/[slug]", "docs", "docs/handoffs", "größe"];
const NAMES: [&str; 6] = ["market", "Hub", "api_key", "password", "größe", "page"];
const ENDINGS: [&str; 4] = ["rs", "py", "tsx", "txt"];
/// Lines that occur everywhere.
const WEAK: [&str; 3] = ["}", "", "    }"];

impl DriftingRepo {
    /// A path that no file ever had.
    pub(super) fn new_path(&mut self) -> String {
        let id = self.new_id();
        let folder = *self.random.pick(&FOLDERS);
        let (name, ending) = (*self.random.pick(&NAMES), *self.random.pick(&ENDINGS));
        format!("{folder}/{name}_{id}.{ending}")
    }

    pub(super) fn new_line(&mut self) -> Line {
        let id = self.new_id();
        let text = match self.random.below(4) {
            0 => format!("fn step_number_{id}(given: u64) {{"),
            1 => format!("    // why it is so: reason {id} of the many reasons"),
            _ => format!("    let value_{id} = given.compute({id});"),
        };
        Line { id, text }
    }

    /// A new line with the same text.
    pub(super) fn same_text(&mut self, line: &Line) -> Line {
        Line { id: self.new_id(), text: line.text.clone() }
    }

    /// New lines with weak ones in between, never two of those in a row.
    pub(super) fn new_lines(&mut self, count: usize) -> Vec<Line> {
        let mut lines: Vec<Line> = Vec::new();
        for _ in 0..count {
            let line = self.new_line();
            lines.push(line);
            if self.random.percent(20) {
                let text = (*self.random.pick(&WEAK)).to_owned();
                let id = self.new_id();
                lines.push(Line { id, text });
            }
        }
        lines
    }

    /// A new file; some files contain a block twice.
    pub(super) fn new_file(&mut self) -> File {
        let count = self.random.between(6, 30);
        let mut lines = self.new_lines(count);
        if self.random.percent(30) {
            let first = self.random.below(lines.len() - 4);
            let block = lines[first..first + 3].to_vec();
            let between = self.new_lines(3);
            lines.extend(between);
            for line in &block {
                let line = self.same_text(line);
                lines.push(line);
            }
            let behind = self.new_lines(3);
            lines.extend(behind);
        }
        self.file_of(lines)
    }

    pub(super) fn file_of(&mut self, lines: Vec<Line>) -> File {
        let id = self.new_id();
        File { id, family: id, shuffled: false, quotes: false, lines }
    }

    /// The paths of the code files.
    pub(super) fn code(&self) -> Vec<String> {
        let is_code = |path: &&String| !path.starts_with(".midstride") && !path.contains("note-");
        self.tree.keys().filter(is_code).cloned().collect()
    }

    /// Writes a file to the working tree, or deletes it with the folders it leaves empty.
    pub(super) fn put(&mut self, path: &str, file: Option<File>) {
        match file {
            Some(file) => {
                self.sandbox.write(path, file.text());
                self.tree.insert(path.to_owned(), file);
            }
            None => {
                self.tree.remove(path);
                let whole = self.sandbox.root().join(path);
                std::fs::remove_file(&whole).expect("it was there");
                let above = whole.ancestors().skip(1).take_while(|a| *a != self.sandbox.root());
                // Folders that are not empty stay.
                let _ = above.map(std::fs::remove_dir).find(Result::is_err);
            }
        }
    }
}
