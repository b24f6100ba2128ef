//! Tests that need something outside the repository are ignored, and `scripts/test` finds them by
//! their names.

use super::tree::Tree;
use syn::visit::{self, Visit};

/// What a test may need, and the word in the path of every test that needs it.
const NEEDS: [(&str, &str); 6] = [
    ("needs MIDSTRIDE_CLIENTS", "real_clients"),
    ("needs MIDSTRIDE_CORPUS", "corpus"),
    ("needs strace", "under_strace"),
    ("needs strace to log sockets", "socket_filter"),
    ("needs bash, zsh and fish", "in_a_shell"),
    ("needs tmux", "in_a_terminal_of_tmux"),
];

/// The tests of a file: their paths, and why each is ignored.
struct Tests {
    module: Vec<String>,
    found: Vec<(String, Option<String>)>,
}

impl<'ast> Visit<'ast> for Tests {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.module.push(item.ident.to_string());
        visit::visit_item_mod(self, item);
        self.module.pop();
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        let attribute = |name| item.attrs.iter().find(|one| one.path().is_ident(name));
        if attribute("test").is_some() {
            let path = format!("{}::{}", self.module.join("::"), item.sig.ident);
            let reason = attribute("ignore").map(|ignore| match &ignore.meta {
                syn::Meta::NameValue(syn::MetaNameValue {
                    value: syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(reason), .. }),
                    ..
                }) => reason.value(),
                syn::Meta::Path(_) | syn::Meta::List(_) | syn::Meta::NameValue(_) => {
                    "no reason".to_owned()
                }
            });
            self.found.push((path, reason));
        }
    }
}

/// Every test of the workspace.
fn tests(tree: &Tree) -> Vec<(String, Option<String>)> {
    let mut all = Vec::new();
    for (path, text) in tree.below("crates/", ".rs") {
        let inside = path.splitn(4, '/').nth(3).unwrap_or_default();
        let module = inside.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
        let mut tests = Tests { module, found: Vec::new() };
        tests.visit_file(&syn::parse_file(text).unwrap());
        all.extend(tests.found);
    }
    all
}

/// The tests whose names and reasons do not fit.
fn violations(tree: &Tree) -> Vec<String> {
    let expected = |path: &str| {
        NEEDS.iter().find(|(_, word)| path.contains(word)).map(|(reason, _)| (*reason).to_owned())
    };
    let tests = tests(tree).into_iter();
    let odd = tests.filter(|(path, reason)| *reason != expected(path));
    odd.map(|(path, reason)| format!("{path} is ignored: {reason:?}")).collect()
}

#[test]
fn tests_with_outside_needs_are_ignored_and_named() {
    let tree = Tree::read();
    let ignored = tests(&tree).iter().filter(|(_, reason)| reason.is_some()).count();
    assert!(ignored > 80, "{ignored}");
    assert_eq!(violations(&tree), Vec::<String>::new());
}

#[test]
fn a_test_that_is_ignored_without_a_known_need_is_caught() {
    for test in ["#[test]\n#[ignore]\nfn slow() {}", "#[test]\nfn corpus_files_are_read() {}"] {
        let changed = Tree::read().with("crates/core/tests/odd.rs", test);
        assert_eq!(violations(&changed).len(), 1, "{test}");
    }
}
