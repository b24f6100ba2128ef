//! Counts words in product code: what types are called, and which odd words are written.
//!
//! Product code is `crates/{core,ledger,midstride,surface,cli}/src` without tests: no `tests.rs`, no `tests/`,
//! nothing below `#[cfg(test)]`.

use super::tree::Tree;
use proc_macro2::{TokenStream, TokenTree};
use regex::{Regex, RegexBuilder};
use std::collections::BTreeMap;
use syn::visit::{self, Visit};

/// The crates whose code is shipped.
pub(super) const PRODUCT: [&str; 5] = ["core", "ledger", "midstride", "surface", "cli"];

/// Past participles that do not end in `ed`.
const IRREGULAR: &str = "Begun Bought Bound Broken Brought Built Caught Chosen Come Cut Done Drawn \
    Driven Eaten Fallen Felt Forgotten Forgone Found Given Gone Grown Heard Held Hidden Kept Known \
    Laid Learnt Led Left Lent Lost Made Meant Met Paid Put Ran Run Said Seen Sent Shown Shut Sought \
    Spent Split Spoken Spread Stood Struck Taken Taught Thought Thrown Told Torn Understood Was \
    Were Woken Won Worn Written";

/// Nouns that look like participles.
const NOUNS: &str = "Binding Building Ending Feed Finding Heading Listing Mapping Meaning Naming \
    Need Packing Rating Reading Seed Setting Shed Sibling Speed Spelling String Thing Timing \
    Warning Wording Writing";

/// Code whose strings are not shown: words to look for in texts of others, texts that older versions
/// stored, and SQL.
const NOT_SHOWN: [&str; 8] = [
    "crates/core/src/format/header/startup.rs",
    "crates/core/src/format/section.rs",
    "crates/core/src/handoff/check/content/vacuous.rs",
    "crates/core/src/session/author_notes/merge.rs",
    "crates/core/src/session/intent/",
    "crates/core/src/session/report/",
    "crates/core/src/text/words/",
    "crates/midstride/src/store/index/",
];

/// What is counted.
#[derive(Default)]
pub(super) struct Counts {
    /// How often each name is the name of a type.
    types: BTreeMap<String, usize>,
    /// Functions without `self` that are named `of`, and `new`.
    pub(super) of_constructors: usize,
    pub(super) new_constructors: usize,
    /// Odd words in text literals, doc comments and pages.
    pub(super) in_strings: usize,
    pub(super) in_doc_comments: usize,
    pub(super) in_pages: usize,
    pub(super) told: usize,
    pub(super) comment_lines: usize,
    pub(super) lines: usize,
}

impl Counts {
    /// Counts the product code and the pages of a tree.
    pub(super) fn new(tree: &Tree) -> Counts {
        let markers = Markers::parse(include_str!("marker-words.txt"));
        let told = Regex::new(r"(?i)told").expect("a word");
        let mut counts = Counts::default();
        for name in PRODUCT {
            let folder = format!("crates/{name}/src/");
            for (path, text) in tree.below(&folder, ".rs") {
                if path.ends_with("/tests.rs") || path.contains("/tests/") {
                    continue;
                }
                let file = syn::parse_file(text).unwrap_or_else(|error| panic!("{path}: {error}"));
                let is_shown = !NOT_SHOWN.iter().any(|hidden| path.starts_with(hidden));
                Counter { counts: &mut counts, markers: &markers, is_shown }.visit_file(&file);
                counts.told += told.find_iter(text).count();
                counts.lines += text.lines().filter(|line| !line.trim().is_empty()).count();
                let is_comment = |line: &&str| {
                    let line = line.trim_start();
                    line.starts_with("//") && !line.starts_with("///") && !line.starts_with("//!")
                };
                counts.comment_lines += text.lines().filter(is_comment).count();
            }
        }
        for (path, text) in tree.below("", ".md") {
            // The JSON page lists names of fields, which keep the words of their formats.
            if !path.starts_with("crates/") && path != "docs/json.md" {
                counts.in_pages += markers.count(text);
            }
        }
        counts
    }

    /// Types whose name another type has too, in thousandths of all types.
    pub(super) fn shared_names_per_mille(&self) -> usize {
        let all: usize = self.types.values().sum();
        self.types.values().filter(|uses| **uses > 1).sum::<usize>() * 1000 / all
    }

    /// Types that are called by nothing but a participle.
    pub(super) fn participles(&self) -> usize {
        self.types.iter().filter(|(name, _)| is_participle(name)).map(|(_, uses)| uses).sum()
    }

    /// The names that are shared or participles, with how often each is used.
    pub(super) fn odd_names(&self) -> Vec<String> {
        let odd = self.types.iter().filter(|(name, uses)| **uses > 1 || is_participle(name));
        odd.map(|(name, uses)| format!("{name} ×{uses}")).collect()
    }
}

fn is_participle(name: &str) -> bool {
    let is_one_word = name.chars().filter(char::is_ascii_uppercase).count() == 1;
    let lists = |list: &str| list.split_whitespace().any(|word| word == name);
    let looks_like_one = name.ends_with("ed") || name.ends_with("ing");
    is_one_word && (lists(IRREGULAR) || (looks_like_one && !lists(NOUNS)))
}

/// The odd words and their legitimate uses.
struct Markers {
    legitimate: Vec<Regex>,
    odd: Vec<Regex>,
}

impl Markers {
    fn parse(list: &str) -> Markers {
        let compile = |pattern: &str| {
            let built = RegexBuilder::new(pattern).case_insensitive(true).build();
            built.unwrap_or_else(|error| panic!("{pattern}: {error}"))
        };
        let lines = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let (legitimate, odd): (Vec<&str>, Vec<&str>) = lines.partition(|l| l.starts_with('!'));
        Markers {
            legitimate: legitimate.iter().map(|line| compile(&line[1..])).collect(),
            odd: odd.into_iter().map(compile).collect(),
        }
    }

    fn count(&self, text: &str) -> usize {
        let mut text = text.to_owned();
        for pattern in &self.legitimate {
            text = pattern.replace_all(&text, "").into_owned();
        }
        self.odd.iter().map(|pattern| pattern.find_iter(&text).count()).sum()
    }
}

struct Counter<'a> {
    counts: &'a mut Counts,
    markers: &'a Markers,
    is_shown: bool,
}

impl Counter<'_> {
    fn add_string(&mut self, text: &str) {
        // A literal of one word is a key, a command or a word to look for, not a text.
        if self.is_shown && text.trim().contains(' ') {
            self.counts.in_strings += self.markers.count(text);
        }
    }

    fn add_literals(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.add_literals(group.stream()),
                TokenTree::Literal(literal) => {
                    if let Ok(text) = syn::parse_str::<syn::LitStr>(&literal.to_string()) {
                        self.add_string(&text.value());
                    }
                }
                TokenTree::Ident(_) | TokenTree::Punct(_) => {}
            }
        }
    }

    fn add_type(&mut self, name: &syn::Ident) {
        *self.counts.types.entry(name.to_string()).or_default() += 1;
    }
}

pub(super) fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string() == "test",
        syn::Meta::Path(path) => path.is_ident("test"),
        syn::Meta::NameValue(_) => false,
    })
}

impl<'ast> Visit<'ast> for Counter<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.add_type(&item.ident);
        visit::visit_item_struct(self, item);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.add_type(&item.ident);
        visit::visit_item_enum(self, item);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.add_type(&item.ident);
        visit::visit_item_trait(self, item);
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        self.add_type(&item.ident);
        visit::visit_item_type(self, item);
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !is_test(&item.attrs) {
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        if signature.receiver().is_none() {
            self.counts.of_constructors += usize::from(signature.ident == "of");
            self.counts.new_constructors += usize::from(signature.ident == "new");
        }
        visit::visit_signature(self, signature);
    }

    fn visit_lit_str(&mut self, literal: &'ast syn::LitStr) {
        self.add_string(&literal.value());
    }

    fn visit_macro(&mut self, invocation: &'ast syn::Macro) {
        self.add_literals(invocation.tokens.clone());
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        match &attribute.meta {
            syn::Meta::NameValue(pair) if pair.path.is_ident("doc") => {
                if let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = &pair.value {
                    self.counts.in_doc_comments += self.markers.count(&text.value());
                }
            }
            // Help texts and messages of errors.
            syn::Meta::List(list) => self.add_literals(list.tokens.clone()),
            syn::Meta::NameValue(_) | syn::Meta::Path(_) => {}
        }
    }
}

#[test]
fn participles_are_recognized() {
    assert!(["Told", "Shelved", "Hooking", "Was"].into_iter().all(is_participle));
    assert!(!["Finding", "ToldItem", "Heading", "Seed", "Location"].into_iter().any(is_participle));
}

#[test]
fn markers_are_counted_outside_of_legitimate_uses() {
    let markers = Markers::parse("!entry points?\n\\bpoints?\\b\n");
    assert_eq!(markers.count("A point of a briefing; an entry point is none, Points are."), 2);
}
