//! Which new file can be a renamed one.

use crate::format::document::Document;
use std::path::Path;

/// Extensions of files that a rename turns into each other while most lines stay the same.
const FAMILIES: [&[&str]; 14] = [
    &["js", "jsx", "ts", "tsx", "mjs", "cjs", "mts", "cts", "vue", "svelte"],
    &["c", "h", "cc", "cpp", "cxx", "hpp", "hh", "hxx", "m", "mm"],
    &["md", "mdx", "markdown", "rst", "txt", "adoc"],
    &["py", "pyi", "pyx", "ipynb"],
    &["html", "htm", "xhtml", "hbs", "ejs", "jinja", "j2", "njk", "erb", "twig"],
    &["css", "scss", "sass", "less", "styl", "pcss"],
    &["sh", "bash", "zsh", "fish", "ksh"],
    &["yml", "yaml"],
    &["json", "jsonc", "json5"],
    &["java", "kt", "kts", "groovy", "gradle", "scala"],
    &["ex", "exs", "heex"],
    &["rb", "rake", "gemspec"],
    &["conf", "cfg", "ini", "toml", "env", "properties"],
    &["sql", "ddl"],
];

/// Whether a file with other content can be the renamed one, by the paths alone. A log that quotes
/// a page is not the page.
pub fn is_same_family(from: &str, to: &str) -> bool {
    let ending = |path: &str| {
        let ending = Path::new(path).extension().unwrap_or_default();
        ending.to_string_lossy().to_ascii_lowercase()
    };
    let (from, to) = (ending(from), ending(to));
    from == to
        || FAMILIES
            .iter()
            .any(|family| family.contains(&from.as_str()) && family.contains(&to.as_str()))
}

/// Whether the newer text is a handoff that was made of the older one, which is a note. The note
/// was not renamed.
pub fn is_handoff_of_note(note: &str, handoff: &str) -> bool {
    let has_header = |text: &str| Document::parse(text.as_bytes()).handoff_header().is_some();
    // Most files do not contain the word, and parsing costs more.
    handoff.contains("handoff:") && has_header(handoff) && !has_header(note)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_renamed_file_keeps_its_family() {
        assert!(is_same_family("src/a.js", "lib/b.TSX"));
        assert!(is_same_family("Makefile", "build/Makefile"));
        assert!(!is_same_family("site/index.html", "logs/run.log"));
        assert!(!is_same_family("site/index.html", "logs/run"));
        assert!(!is_same_family("src/a.rs", "docs/a.md"));
    }

    #[test]
    fn a_note_does_not_become_the_handoff_made_of_it() {
        let note = "# Rows\n\nThe rows are slow.\n";
        let handoff = format!("---\nhandoff:\n  id: rows\n---\n{note}");
        assert!(is_handoff_of_note(note, &handoff));
        assert!(!is_handoff_of_note(&handoff, &handoff));
        assert!(!is_handoff_of_note(note, note));
    }
}
