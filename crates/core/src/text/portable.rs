//! Removes what only means something on one machine: absolute paths and ids of sessions. The rest of
//! a text can then be read anywhere.

/// Folders at the top of a file system. A path in another one may be the route of a URL.
const TOP_FOLDERS: [&str; 24] = [
    "Applications",
    "Library",
    "System",
    "Users",
    "Volumes",
    "bin",
    "data",
    "dev",
    "etc",
    "home",
    "lib",
    "media",
    "mnt",
    "nix",
    "opt",
    "private",
    "proc",
    "root",
    "run",
    "sbin",
    "srv",
    "tmp",
    "usr",
    "var",
];

/// The names in a text that only mean something on one machine.
#[derive(Clone, Debug, Default)]
pub struct MachineNames {
    /// The roots of the repository: its working trees, and the folders of its sessions.
    pub roots: Vec<String>,
    /// The user's home folder.
    pub home: Option<String>,
    /// The ids of sessions, whole and short.
    pub sessions: Vec<String>,
}

impl MachineNames {
    /// The text with paths below a root made relative, other paths reduced to their file name, and
    /// ids of sessions replaced.
    pub fn remove_from(&self, text: &str) -> String {
        let mut out = text.replace("file://", "");
        let mut sessions: Vec<&String> = self.sessions.iter().filter(|id| !id.is_empty()).collect();
        sessions.sort_by_key(|id| std::cmp::Reverse(id.len()));
        for id in sessions {
            out = replace_word(&out, id, "(a session)");
        }
        let mut roots: Vec<&str> =
            self.roots.iter().map(|root| root.trim_end_matches('/')).collect();
        // A working tree can be inside another one.
        roots.sort_by_key(|root| std::cmp::Reverse(root.len()));
        for root in roots.into_iter().filter(|root| root.len() > 1) {
            out = relative_to(&out, root);
            let home = self.home.as_deref().and_then(|home| root.strip_prefix(home));
            if let Some(below) = home.filter(|below| below.starts_with('/')) {
                out = relative_to(&out, &format!("~{below}"));
            }
        }
        self.reduce_paths(&out)
    }

    /// Reduces every absolute path to its file name.
    fn reduce_paths(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find(['/', '~', '\\']) {
            let before = &rest[..at];
            let start = self.path_start(before, &rest[at..]);
            let Some(start) = start else {
                let end = at + 1;
                out.push_str(&rest[..end]);
                rest = &rest[end..];
                // The other parts of a relative path or a URL are not absolute.
                let end = rest.find(ends_path).unwrap_or(rest.len());
                let end =
                    rest[..end].find(['=', ':']).filter(|_| !before_is_url(&out)).unwrap_or(end);
                out.push_str(&rest[..end]);
                rest = &rest[end..];
                continue;
            };
            out.push_str(&rest[..start]);
            let path = &rest[start..];
            let end = path.find(ends_path).unwrap_or(path.len());
            let whole = path[..end].trim_end_matches(['/', '.', ':', '\\']);
            let name = whole.rsplit(['/', '\\']).next().unwrap_or_default();
            out.push_str(if name == "~" { "the home directory" } else { name });
            rest = &path[whole.len()..];
            rest = rest.strip_prefix(['/', '\\']).unwrap_or(rest);
        }
        out.push_str(rest);
        out
    }

    /// Where an absolute path starts, if one does at `path`; `before` is the text up to there.
    fn path_start(&self, before: &str, path: &str) -> Option<usize> {
        let is_home = |home: &String| home.len() > 1 && path.starts_with(&format!("{home}/"));
        if self.home.as_ref().is_some_and(is_home) {
            return Some(before.len());
        }
        let last = before.chars().next_back();
        if path.starts_with('\\') {
            // `C:\`
            let drive = before.strip_suffix(':')?;
            return drive.ends_with(|c: char| c.is_ascii_alphabetic()).then(|| drive.len() - 1);
        }
        if last.is_some_and(|c| c.is_alphanumeric() || "_-./~\\".contains(c)) {
            return None;
        }
        if path.starts_with("~/") {
            return Some(before.len());
        }
        let top = path.strip_prefix('/')?;
        let (top, _) = top.split_once('/')?;
        let roots = self.roots.iter().chain(&self.home);
        let mut tops = roots.filter_map(|root| root.strip_prefix('/')?.split('/').next());
        (TOP_FOLDERS.contains(&top) || tops.any(|known| known == top)).then_some(before.len())
    }
}

/// Whether a path cannot contain this character without quotes.
fn ends_path(c: char) -> bool {
    c.is_whitespace() || "\"'`()[]{}<>|;,*".contains(c)
}

/// Whether the text ends inside the scheme of a URL.
fn before_is_url(text: &str) -> bool {
    text.ends_with(":/")
}

/// Makes the paths below a folder relative to it.
fn relative_to(text: &str, folder: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(folder) {
        out.push_str(&rest[..at]);
        rest = &rest[at + folder.len()..];
        let is_inside = out.ends_with(|c: char| c.is_alphanumeric() || "_-.".contains(c));
        match rest.chars().next() {
            // `/work/app` is neither `/srv/work/app` nor `/work/app2`.
            _ if is_inside => out.push_str(folder),
            Some('/') => rest = rest[1..].trim_start_matches('/'),
            Some(c) if c.is_alphanumeric() || "_-".contains(c) => out.push_str(folder),
            _ => out.push('.'),
        }
    }
    out.push_str(rest);
    out
}

/// Replaces each occurrence of a word that is not a part of another one.
fn replace_word(text: &str, word: &str, by: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    while let Some(at) = rest.find(word) {
        out.push_str(&rest[..at]);
        rest = &rest[at + word.len()..];
        let is_whole = !out.ends_with(is_part) && !rest.starts_with(is_part);
        out.push_str(if is_whole { by } else { word });
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_ids_of_a_machine_are_removed() {
        let names = MachineNames {
            roots: vec!["/home/ada/shop".to_owned(), "/work/trees/shop".to_owned()],
            home: Some("/home/ada".to_owned()),
            sessions: vec!["5e550001-4c00-7000".to_owned(), "5e550001".to_owned()],
        };
        for (text, expected) in [
            ("Look at /home/ada/shop/src/cache.ts:14.", "Look at src/cache.ts:14."),
            ("cd /home/ada/shop && npm test", "cd . && npm test"),
            ("In ~/shop/src and /work/trees/shop/src", "In src and src"),
            ("/home/ada/shop2/x.ts, `/home/ada/notes.md`", "x.ts, `notes.md`"),
            ("-I/home/ada/include/z.h", "-Iz.h"),
            ("~/.config/app.toml and /etc/app/app.toml", "app.toml and app.toml"),
            ("log=/var/log/app.log; path:/tmp/x/", "log=app.log; path:x"),
            ("GET /api/users, src/home/page.ts", "GET /api/users, src/home/page.ts"),
            ("https://x.org/home/ada?a=/tmp/y", "https://x.org/home/ada?a=/tmp/y"),
            ("file:///home/ada/a.md C:\\Users\\ada\\b.md", "a.md b.md"),
            ("and/or 1/2 a ~ b / c \\d", "and/or 1/2 a ~ b / c \\d"),
            (
                "(5e550001, 2026) 5e550001-4c00-7000 5e5500012",
                "((a session), 2026) (a session) 5e5500012",
            ),
        ] {
            assert_eq!(names.remove_from(text), expected, "{text}");
        }
    }
}
