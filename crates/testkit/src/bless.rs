//! Checks generated documentation pages.

use crate::repository_root;

/// Asserts that a page matches what the program generates. `MIDSTRIDE_BLESS=1` rewrites the page.
#[track_caller]
pub fn assert_page(path: &str, made: &str) {
    let file = repository_root().join(path);
    if std::env::var_os("MIDSTRIDE_BLESS").is_some() {
        std::fs::write(&file, made).expect("the page can be written");
        return;
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        kept == made,
        "{path} is not what the program makes now; MIDSTRIDE_BLESS=1 cargo test writes it anew"
    );
}
