//! A client is one folder: product code outside it neither names the client's types nor compares
//! with its name.

use super::counts::{PRODUCT, is_test};
use super::tree::Tree;
use proc_macro2::{TokenStream, TokenTree};
use std::collections::BTreeSet;
use syn::visit::{self, Visit};

/// The folder of the clients.
const CLIENTS: &str = "crates/midstride/src/clients";
/// The file that lists every client.
const LIST: &str = "crates/midstride/src/clients.rs";
/// The story that the demo shows is a session of one client.
const STORY: &str = "crates/cli/src/demo/";

/// A client, by what only its folder may contain.
struct ClientWords {
    /// Its module, which is also its folder.
    module: String,
    /// The type that implements it.
    type_name: String,
    /// The name that is stored.
    name: String,
}

impl ClientWords {
    /// Every client of the tree.
    fn read(tree: &Tree) -> Vec<ClientWords> {
        let folder = format!("{CLIENTS}/");
        let files = tree.below(&folder, ".rs");
        let roots = files.filter(|(path, _)| !path[folder.len()..].contains('/'));
        roots.filter_map(|(path, text)| Self::parse(&path[folder.len()..], text)).collect()
    }

    fn parse(file: &str, text: &str) -> Option<ClientWords> {
        let (_, rest) = text.split_once("impl Client for ")?;
        let (_, name) = text.split_once("const NAME: &str = \"")?;
        Some(ClientWords {
            module: file.trim_end_matches(".rs").to_owned(),
            type_name: rest.split_whitespace().next()?.to_owned(),
            name: name.split('"').next()?.to_owned(),
        })
    }

    fn owns(&self, path: &str) -> bool {
        let own = format!("{CLIENTS}/{}", self.module);
        path == format!("{own}.rs") || path.starts_with(&format!("{own}/"))
    }
}

/// The words of a file that may name a client: identifiers, and whole text literals.
#[derive(Default)]
struct Words {
    identifiers: BTreeSet<String>,
    literals: BTreeSet<String>,
}

impl Words {
    fn add_tokens(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.add_tokens(group.stream()),
                TokenTree::Ident(name) => drop(self.identifiers.insert(name.to_string())),
                TokenTree::Literal(literal) => {
                    if let Ok(text) = syn::parse_str::<syn::LitStr>(&literal.to_string()) {
                        self.literals.insert(text.value());
                    }
                }
                TokenTree::Punct(_) => {}
            }
        }
    }
}

impl<'ast> Visit<'ast> for Words {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !is_test(&item.attrs) {
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_test(&item.attrs) {
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if !is_test(&item.attrs) {
            visit::visit_item_impl(self, item);
        }
    }

    fn visit_ident(&mut self, name: &'ast syn::Ident) {
        self.identifiers.insert(name.to_string());
    }

    fn visit_lit_byte_str(&mut self, literal: &'ast syn::LitByteStr) {
        self.literals.insert(String::from_utf8_lossy(&literal.value()).into_owned());
    }

    fn visit_lit_str(&mut self, literal: &'ast syn::LitStr) {
        self.literals.insert(literal.value());
    }

    fn visit_macro(&mut self, invocation: &'ast syn::Macro) {
        self.add_tokens(invocation.tokens.clone());
    }
}

/// The places outside the folder of a client that name it.
fn violations(tree: &Tree) -> Vec<String> {
    let clients = ClientWords::read(tree);
    let folders = PRODUCT.map(|name| format!("crates/{name}/src/"));
    let files = folders.iter().flat_map(|folder| tree.below(folder, ".rs"));
    files.flat_map(|(path, text)| file_violations(&clients, path, text)).collect()
}

/// The clients that a file names outside their folders.
fn file_violations(clients: &[ClientWords], path: &str, text: &str) -> Vec<String> {
    if path.ends_with("/tests.rs") || path.contains("/tests/") || path.starts_with(STORY) {
        return Vec::new();
    }
    let mut words = Words::default();
    words.visit_file(&syn::parse_file(text).unwrap());
    let mut found = Vec::new();
    for client in clients.iter().filter(|client| !client.owns(path)) {
        let types = [&client.module, &client.type_name].into_iter();
        let types = types.filter(|_| path != LIST);
        let named = types.filter(|name| words.identifiers.contains(*name));
        let stored = Some(&client.name).filter(|name| words.literals.contains(*name));
        found.extend(named.chain(stored).map(|word| format!("{path} names `{word}`")));
    }
    found
}

#[test]
fn only_its_folder_names_a_client() {
    let tree = Tree::read();
    let names: Vec<String> = ClientWords::read(&tree).into_iter().map(|one| one.name).collect();
    assert_eq!(names, midstride::clients::ALL.map(midstride::clients::Client::name));
    assert_eq!(violations(&tree), Vec::<String>::new());
}

#[test]
fn a_client_named_elsewhere_is_caught() {
    let path = "crates/midstride/src/verbs/client.rs";
    let tree = Tree::read();
    let clients = ClientWords::read(&tree);
    for line in [
        "use crate::clients::codex::{self as other};",
        "fn is_it(client: &dyn Client) -> bool { client.name() == \"codex\" }",
        "fn find_it() { log!(clients::find(\"claude-code\")) }",
        "const PROGRAM: &[u8] = b\"codex\";",
    ] {
        let changed = tree.with_line(path, line);
        assert_eq!(file_violations(&clients, path, changed.text(path)).len(), 1, "{line}");
    }
}
