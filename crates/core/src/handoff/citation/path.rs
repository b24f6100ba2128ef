//! Recognizes paths by their form, and expands `src/{a,b}.rs`.

use std::borrow::Cow;

/// Characters that occur in a path, or that show that a word is not one.
pub(super) fn is_path_char(c: char) -> bool {
    c.is_alphanumeric() || "_-./@+~#:[]*?<>{}$%\\…–".contains(c)
}

/// The end of the word that starts at `from`. Alternatives in braces belong to the word.
pub(super) fn word_end(text: &str, from: usize) -> usize {
    let mut end = from;
    while let Some(c) = text[end..].chars().next().filter(|c| is_path_char(*c)) {
        let group = if c == '{' { group_length(&text[end..]) } else { None };
        end += group.unwrap_or(c.len_utf8());
    }
    end
}

/// Alternatives longer than this are not a list of names.
const GROUP_BYTES_MAX: usize = 200;

/// The length of `{a,b}` at the start of a text.
fn group_length(text: &str) -> Option<usize> {
    let close = text.bytes().take(GROUP_BYTES_MAX).position(|byte| byte == b'}')?;
    let inner = &text[1..close];
    let is_name = |c: char| c.is_alphanumeric() || "_-./@+[], ".contains(c);
    (inner.contains(',') && inner.chars().all(is_name)).then_some(close + 1)
}

/// A word without emphasis, brackets and sentence punctuation around it.
pub(super) fn trim_word(word: &str) -> &str {
    let mut word = word.trim_matches(['*', '<', '>', '–', '…', '?']);
    if let Some(inner) = word.strip_prefix('[') {
        word = inner.strip_suffix(']').unwrap_or(inner);
    }
    if word.matches(']').count() > word.matches('[').count() {
        word = word.trim_end_matches(']');
    }
    let word = word.trim_end_matches(['.', ':', '#', '?', '*', '-', '+']);
    word.strip_prefix("./").unwrap_or(word)
}

/// One word names at most this many paths.
const ALTERNATIVES_MAX: usize = 32;

/// The paths that a word names: one, or one for each alternative in braces. Empty if the
/// alternatives cannot be read.
pub(super) fn expand_path(word: &str) -> Vec<Cow<'_, str>> {
    if !word.contains('{') {
        return vec![Cow::Borrowed(word)];
    }
    let mut paths = vec![String::new()];
    let mut rest = word;
    while let Some((before, group, after)) = split_group(rest) {
        let names: Vec<&str> = group.split(',').map(str::trim).collect();
        if names.len() * paths.len() > ALTERNATIVES_MAX {
            return Vec::new();
        }
        let join = |path: &String| -> Vec<String> {
            names.iter().map(|name| format!("{path}{before}{name}")).collect()
        };
        paths = paths.iter().flat_map(join).collect();
        rest = after;
    }
    paths.into_iter().map(|path| Cow::Owned(path + rest)).collect()
}

/// Splits at the first group: what is before it, its inside, and what is behind it.
fn split_group(word: &str) -> Option<(&str, &str, &str)> {
    let open = word.find('{')?;
    let length = group_length(&word[open..])?;
    // `${a,b}` is a variable.
    let is_variable = word[..open].ends_with('$');
    let group = &word[open + 1..open + length - 1];
    (!is_variable).then_some((&word[..open], group, &word[open + length..]))
}

/// File names without an extension. They count as paths only inside a folder.
const EXTENSIONLESS_FILES: [&str; 6] =
    ["Makefile", "Dockerfile", "Justfile", "justfile", "Rakefile", "LICENSE"];

/// Whether a word has the form of a path.
pub(super) fn is_path(path: &str, at_lines: bool) -> bool {
    let not_in_paths = |c: char| "*?<>{}$%\\…–:#".contains(c);
    let trimmed = path.trim_end_matches('/');
    if path.contains(not_in_paths) || path.contains("...") || path.contains("//") {
        return false;
    }
    if path.starts_with('~') || !path.contains(char::is_alphabetic) {
        return false;
    }
    let (folder, name) = trimmed.rsplit_once('/').unwrap_or(("", trimmed));
    if path.ends_with('/') {
        // `/api/users/` is a URL path.
        return !at_lines && !path.starts_with('/') && !name.contains('@');
    }
    if folder.is_empty() && (path.starts_with('/') || name.contains('@')) {
        return false;
    }
    let Some((stem, ending)) = name.rsplit_once('.') else {
        return (at_lines || EXTENSIONLESS_FILES.contains(&name)) && !folder.is_empty();
    };
    let is_hidden = stem.is_empty();
    let plausible = ending.starts_with(|c: char| c.is_ascii_alphabetic())
        && ending.len() <= 12
        && ending.chars().all(|c| c.is_ascii_alphanumeric() || (is_hidden && "-_".contains(c)));
    let is_product_name = ending == "js" && stem.starts_with(char::is_uppercase);
    plausible
        && (!folder.is_empty()
            || at_lines
            || is_hidden
            || (is_known_extension(ending) && !is_product_name))
}

/// Extensions that make a bare name a file. Inside a folder, any plausible extension does.
const EXTENSIONS: &[&str] = &[
    "rs", "py", "ts", "tsx", "js", "jsx", "mjs", "go", "java", "kt", "c", "h", "cc", "cpp", "hpp",
    "cs", "rb", "php", "swift", "scala", "sql", "sh", "toml", "yaml", "yml", "json", "md", "html",
    "css", "scss", "vue", "svelte", "ex", "exs", "erl", "lua", "zig", "proto", "tf", "xml", "lock",
    "ini", "cfg", "conf", "env", "txt", "rst", "ipynb", "r", "jl", "dart", "m", "mm", "pl",
];

/// Whether this extension makes a bare name a file.
pub(crate) fn is_known_extension(ending: &str) -> bool {
    EXTENSIONS.iter().any(|known| known.eq_ignore_ascii_case(ending))
}
