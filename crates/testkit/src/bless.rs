//! Pages of the documentation that are made by the program.

use crate::repository_root;

/// Holds a page against what the program makes of it; `MIDSTRIDE_BLESS=1` writes it anew.
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
