//! A citation, and what its location contained.

use super::world::{File, Tree};

#[derive(Clone)]
pub(super) struct Cited {
    pub(super) written: String,
    pub(super) path: String,
    /// The first and the last line.
    pub(super) lines: Option<(usize, usize)>,
    /// What was there when midstride recorded the citation.
    pub(super) stood: Option<Stood>,
    /// Whether it is written in one list with the citation before it: `a.rs:3,7` or `{a,b}.rs`.
    pub(super) joined: bool,
}

impl Cited {
    pub(super) fn new(path: String, lines: Option<(usize, usize)>, as_link: bool) -> Self {
        let written = match lines {
            None => path.clone(),
            Some((first, last)) if as_link && first == last => format!("{path}#L{first}"),
            Some((first, last)) if as_link => format!("{path}#L{first}-L{last}"),
            Some((first, last)) if first == last => format!("{path}:{first}"),
            Some((first, last)) => format!("{path}:{first}-{last}"),
        };
        Self { written, path, lines, stood: None, joined: false }
    }

    /// The same citation, starting at another line.
    pub(super) fn at(&self, first: usize) -> Self {
        let lines = self.lines.map(|(old, last)| (first, first + last - old));
        let new = Self::new(self.path.clone(), lines, self.written.contains('#'));
        Self { joined: self.joined, ..new }
    }

    /// Adds this citation to the written form of the ones before it.
    pub(super) fn join(&self, list: &str) -> String {
        if let Some((_, lines)) = self.written.rsplit_once(':') {
            return format!("{list},{lines}");
        }
        let (folder, name) = self.path.rsplit_once('/').expect("alternatives lie in a folder");
        let (stem, ending) = name.rsplit_once('.').expect("all have an ending");
        let (before, _) = list.rsplit_once('.').expect("all have an ending");
        let before = before.strip_suffix('}').unwrap_or(before);
        match before.rsplit_once('{') {
            Some(_) => format!("{before},{stem}}}.{ending}"),
            None => format!("{folder}/{{{},{stem}}}.{ending}", &before[folder.len() + 1..]),
        }
    }
}

/// What was at the cited location.
#[derive(Clone)]
pub(super) enum Stood {
    Nothing,
    Folder(String),
    File {
        path: String,
        file: File,
        lines: Option<(usize, usize)>,
    },
    /// No baseline is known; only the path as it is now.
    Unknown(Option<String>),
}

impl Stood {
    pub(super) fn at(tree: &Tree, folder: &str, cited: &Cited) -> Self {
        let Some(path) = resolved(tree, folder, &cited.path) else { return Self::Nothing };
        let Some(file) = tree.get(&path) else { return Self::Folder(path) };
        let too_few = cited.lines.is_some_and(|(_, last)| last > file.lines.len());
        match too_few {
            true => Self::Nothing,
            false => Self::File { path, file: file.clone(), lines: cited.lines },
        }
    }
}

/// Resolves a path: from the root, from the document's folder, or as the only path with this
/// ending.
pub(super) fn resolved(tree: &Tree, folder: &str, written: &str) -> Option<String> {
    let there = |path: String| {
        let inside = format!("{path}/");
        let is_there =
            tree.contains_key(&path) || tree.keys().any(|other| other.starts_with(&inside));
        is_there.then_some(path)
    };
    let from_top = plain(written).and_then(there);
    let from_folder = || plain(&format!("{folder}/{written}")).and_then(there);
    from_top.or_else(from_folder).or_else(|| {
        let end = format!("/{written}");
        let mut ending = tree.keys().filter(|path| path.ends_with(&end));
        ending.next().filter(|_| ending.next().is_none()).cloned()
    })
}

fn plain(path: &str) -> Option<String> {
    let mut parts = Vec::new();
    for part in path.split('/').filter(|part| !part.is_empty()) {
        if part == ".." {
            parts.pop()?;
        } else {
            parts.push(part);
        }
    }
    Some(parts.join("/"))
}
