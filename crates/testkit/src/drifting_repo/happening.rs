//! The events that change files.

use super::DriftingRepo;
use super::world::File;

impl DriftingRepo {
    pub(super) fn let_something_happen(&mut self) {
        match self.random.below(100) {
            0..40 => self.edit(),
            40..50 => self.rename(),
            50..54 => self.delete(),
            54..59 => self.quote(),
            59..61 => self.delete_with_paper(),
            61..64 => self.create(),
            64..76 => self.commit(),
            76..82 => self.squash(),
            82..87 => self.rebase(),
            87..91 => self.revise(),
            91..93 => self.reformat(),
            93..98 => self.follow(),
            _ => self.write_paper(),
        }
    }

    fn some_file(&mut self) -> (String, File) {
        let mut code = self.code();
        let cited = self.cited_paths();
        if !cited.is_empty() && self.random.percent(75) {
            code = cited;
        }
        let path = self.random.pick(&code).clone();
        let file = self.tree[&path].clone();
        (path, file)
    }

    /// The files that documents cite.
    fn cited_paths(&self) -> Vec<String> {
        let cited = self.papers.iter().flat_map(|paper| &paper.statements).flat_map(|s| &s.cited);
        let named: Vec<&str> = cited
            .map(|one| one.path.trim_start_matches("../"))
            .filter(|p| !p.ends_with('/'))
            .collect();
        let is_named = |path: &String| named.iter().any(|name| path.ends_with(name));
        self.code().into_iter().filter(is_named).collect()
    }

    fn edit(&mut self) {
        let (path, mut file) = self.some_file();
        let what = self.change(&mut file);
        self.tell(format!("{what} in {path}"));
        self.put(&path, Some(file));
    }

    fn change(&mut self, file: &mut File) -> String {
        let count = file.lines.len();
        let few = self.random.between(1, 3);
        let at = self.random.below(count + 1);
        match self.random.below(6) {
            0 | 1 => {
                let new = self.new_lines(few);
                let at = if self.random.percent(40) { 0 } else { at };
                let said = format!("{} new lines at {at}", new.len());
                file.lines.splice(at..at, new);
                said
            }
            2 if count > 8 => {
                let at = at.min(count - few);
                file.lines.drain(at..at + few);
                format!("{few} lines gone at {at}")
            }
            3 if count > 12 => {
                let length = self.random.between(2, 6);
                let from = self.random.below(count - length + 1);
                let block: Vec<_> = file.lines.drain(from..from + length).collect();
                let to = self.random.below(file.lines.len() + 1);
                file.lines.splice(to..to, block);
                file.shuffled |= to != from;
                format!("{length} lines from {from} to {to}")
            }
            _ => {
                let at = at.min(count.saturating_sub(1));
                let new = self.new_line();
                file.lines.splice(at..(at + 1).min(count), [new]);
                format!("other line at {at}")
            }
        }
    }

    fn rename(&mut self) {
        let (path, mut file) = self.some_file();
        if file.quotes {
            return;
        }
        let flipped = |c: char| {
            if c.is_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() }
        };
        let (folder, name) = path.rsplit_once('/').expect("all lie in folders");
        let (stem, ending) = name.rsplit_once('.').expect("all have an ending");
        let other_case =
            format!("{folder}/{}.{ending}", stem.chars().map(flipped).collect::<String>());
        let new = match self.random.percent(25) && !self.tree.contains_key(&other_case) {
            true => other_case,
            false => self.new_path(),
        };
        let mut told = format!("rename {path} to {new}");
        if self.random.percent(50) {
            told += &format!(", {}", self.change(&mut file));
        }
        self.tell(told);
        self.put(&path, None);
        self.put(&new, Some(file));
    }

    /// Deletes a file; another file may take its path.
    fn delete(&mut self) {
        if self.code().len() < 3 {
            return;
        }
        let (path, _) = self.some_file();
        self.put(&path, None);
        let again = self.random.percent(30);
        self.tell(format!("delete {path}{}", if again { " and write another there" } else { "" }));
        if again {
            let file = self.new_file();
            self.put(&path, Some(file));
        }
    }

    /// Deletes or renames a file, and writes another of a different kind that quotes it, such as a
    /// log.
    fn quote(&mut self) {
        let (path, mut file) = self.some_file();
        if self.code().len() < 3 || file.quotes {
            return;
        }
        let mut lines = self.new_lines(2);
        for line in &file.lines {
            let line = self.same_text(line);
            lines.push(line);
        }
        let quoting = File { quotes: true, ..self.file_of(lines) };
        let (stem, ending) = path.rsplit_once('.').expect("all have an ending");
        // No other file has or had this ending.
        let log = format!("{stem}_{}.json", self.new_id());
        let renamed = format!("{stem}_{}.{ending}", self.new_id());
        self.put(&path, None);
        if self.random.percent(50) {
            let what = self.change(&mut file);
            self.tell(format!("rename {path} to {renamed}, {what}, quoted by {log}"));
            self.put(&renamed, Some(file));
        } else {
            self.tell(format!("delete {path}, quoted by {log}"));
        }
        self.put(&log, Some(quoting));
    }

    /// Deletes a file in the commit that adds a document about it.
    fn delete_with_paper(&mut self) {
        let (path, _) = self.some_file();
        if self.code().len() > 3 {
            self.write_born_stale_paper(&path);
        }
    }

    /// Creates a file, if possible at a path that a document already cites.
    fn create(&mut self) {
        let cited =
            self.papers.iter().flat_map(|paper| &paper.statements).flat_map(|one| &one.cited);
        let is_free = |path: &&String| {
            path.contains('/')
                && !path.starts_with("..")
                && !path.ends_with('/')
                && !self.tree.contains_key(*path)
        };
        let named: Vec<String> = cited.map(|one| &one.path).filter(is_free).cloned().collect();
        let path =
            if named.is_empty() { self.new_path() } else { self.random.pick(&named).clone() };
        let file = self.new_file();
        self.tell(format!("create {path}"));
        self.put(&path, Some(file));
    }
}
