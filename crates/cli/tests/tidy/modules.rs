//! A crate as its modules and what each of them refers to, parsed with `syn`.
//!
//! A reference is resolved the way the compiler does it: `crate`, `self`, `super`, child modules,
//! names that `use` brings into scope, re-exports and globs. So it leads to the module that defines
//! an item, however the path to it is written.

use super::tree::Tree;
use proc_macro2::{TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use syn::ext::IdentExt as _;
use syn::visit::{self, Visit};

/// The names from the root of a crate to a module; the root is empty.
pub(super) type ModulePath = Vec<String>;

/// What the path of a module may start with.
const ROOTS: [&str; 3] = ["crate", "self", "super"];

/// `include!` would bring in paths that are not parsed.
const INCLUDE: &str = "`include!` hides what it imports";

/// How many re-exports are followed before a path counts as unknown.
const REEXPORTS_MAX: usize = 16;

/// One module: what it declares, and every path that is written in it.
#[derive(Default)]
struct Module {
    children: BTreeSet<String>,
    items: BTreeSet<String>,
    /// Names that `use` brings into scope, with the path as it is written.
    names: BTreeMap<String, Vec<String>>,
    globs: BTreeSet<Vec<String>>,
    paths: BTreeSet<Vec<String>>,
}

/// The modules of one crate.
pub(super) struct Crate {
    modules: BTreeMap<ModulePath, Module>,
    /// What keeps the compiler from finding modules by their path.
    pub(super) problems: Vec<String>,
}

impl Crate {
    /// Parses the sources of `crates/NAME/src`.
    pub(super) fn parse(tree: &Tree, name: &str) -> Crate {
        let source = format!("crates/{name}/src");
        let root = ["lib.rs", "main.rs"].map(|file| format!("{source}/{file}"));
        let root = root.iter().find(|path| tree.find(path).is_some()).expect("a crate has a root");
        let mut parsed = Crate { modules: BTreeMap::new(), problems: Vec::new() };
        parsed.add_file(tree, root, &source, Vec::new());
        parsed
    }

    fn add_file(&mut self, tree: &Tree, file: &str, folder: &str, path: ModulePath) {
        let text = tree.text(file);
        let syntax = syn::parse_file(text).unwrap_or_else(|error| panic!("{file}: {error}"));
        self.add_module(tree, file, folder, path, Reader::read(&syntax.items));
    }

    fn add_module(
        &mut self,
        tree: &Tree,
        file: &str,
        folder: &str,
        path: ModulePath,
        read: Reader,
    ) {
        self.problems.extend(read.problems.into_iter().map(|problem| format!("{file}: {problem}")));
        for declared in read.declared {
            let name = declared.ident.unraw().to_string();
            let below = format!("{folder}/{name}");
            let path: ModulePath = path.iter().cloned().chain([name.clone()]).collect();
            match declared.content {
                Some((_, items)) => {
                    self.add_module(tree, file, &below, path, Reader::read(&items));
                }
                None => self.add_file(tree, &format!("{below}.rs"), &below, path),
            }
        }
        self.modules.insert(path, read.module);
    }

    /// The modules at the root of the crate.
    pub(super) fn top_level(&self) -> &BTreeSet<String> {
        &self.modules[&Vec::new()].children
    }

    /// Items in the root file besides `main`. They would connect modules past the import order.
    pub(super) fn root_items(&self) -> impl Iterator<Item = &String> {
        self.modules[&Vec::new()].items.iter().filter(|name| *name != "main")
    }

    /// Every reference from one module to another: who refers, to what.
    pub(super) fn references(&self) -> BTreeSet<(&ModulePath, ModulePath)> {
        let mut references = BTreeSet::new();
        for (from, module) in &self.modules {
            let named = module.names.values().chain(&module.globs).chain(&module.paths);
            references.extend(named.filter_map(|path| Some((from, self.owner(from, path, 0)?))));
        }
        references
    }

    /// The module that owns what a path leads to; none if it leaves the crate.
    fn owner(&self, from: &ModulePath, path: &[String], depth: usize) -> Option<ModulePath> {
        if depth > REEXPORTS_MAX {
            return None;
        }
        let mut at = from.clone();
        let mut rest = path;
        let mut is_rooted = false;
        while let [first, others @ ..] = rest {
            match first.as_str() {
                "crate" => at.clear(),
                "super" => drop(at.pop()?),
                "self" => {}
                _ => break,
            }
            is_rooted = true;
            rest = others;
        }
        while let [name, others @ ..] = rest {
            let module = self.modules.get(&at)?;
            if module.children.contains(name) {
                at.push(name.clone());
            } else if module.items.contains(name) {
                return Some(at);
            } else if let Some(used) = module.names.get(name).filter(|used| *used != path) {
                let whole: Vec<String> = used.iter().chain(others).cloned().collect();
                return self.owner(&at, &whole, depth + 1);
            } else {
                let globbed = module.globs.iter().find_map(|glob| {
                    let glob = self.owner(&at, glob, depth + 1).filter(|glob| *glob != at)?;
                    self.declares(&glob, name, depth + 1).then_some(glob)
                });
                let Some(globbed) = globbed else { return is_rooted.then_some(at) };
                let whole: Vec<String> = [name].into_iter().chain(others).cloned().collect();
                return self.owner(&globbed, &whole, depth + 1);
            }
            is_rooted = true;
            rest = others;
        }
        Some(at)
    }

    fn declares(&self, path: &ModulePath, name: &String, depth: usize) -> bool {
        let through_glob = |glob: &Vec<String>| {
            let glob = self.owner(path, glob, depth + 1).filter(|glob| glob != path);
            glob.is_some_and(|glob| self.declares(&glob, name, depth + 1))
        };
        depth <= REEXPORTS_MAX
            && self.modules.get(path).is_some_and(|module| {
                module.children.contains(name)
                    || module.items.contains(name)
                    || module.names.contains_key(name)
                    || module.globs.iter().any(through_glob)
            })
    }
}

/// Reads one module; modules inside it are put aside and read on their own.
#[derive(Default)]
struct Reader {
    module: Module,
    declared: Vec<syn::ItemMod>,
    problems: Vec<String>,
}

impl Reader {
    fn read(items: &[syn::Item]) -> Reader {
        let mut reader = Reader::default();
        for item in items {
            reader.visit_item(item);
        }
        reader
    }

    fn add_use(&mut self, prefix: &[String], tree: &syn::UseTree) {
        let join = |ident: &syn::Ident| -> Vec<String> {
            let name = ident.unraw().to_string();
            // `use a::b::{self}` is `use a::b`.
            let tail = (prefix.is_empty() || name != "self").then_some(name);
            prefix.iter().cloned().chain(tail).collect()
        };
        match tree {
            syn::UseTree::Path(path) => self.add_use(&join(&path.ident), &path.tree),
            syn::UseTree::Group(group) => {
                group.items.iter().for_each(|item| self.add_use(prefix, item));
            }
            syn::UseTree::Glob(_) => drop(self.module.globs.insert(prefix.to_vec())),
            syn::UseTree::Name(name) => {
                let path = join(&name.ident);
                if let Some(last) = path.last().cloned() {
                    // Two functions may use one name for two things, so the path counts by itself.
                    self.module.paths.insert(path.clone());
                    self.module.names.insert(last, path);
                }
            }
            syn::UseTree::Rename(renamed) => {
                let path = join(&renamed.ident);
                // `as _` brings nothing into scope and is a reference like any other.
                self.module.paths.insert(path.clone());
                self.module.names.insert(renamed.rename.unraw().to_string(), path);
            }
        }
    }

    /// Paths in the arguments of a macro, which `syn` leaves as tokens. `prefix` is the path before
    /// braces.
    fn add_tokens(&mut self, prefix: &[String], tokens: TokenStream) {
        let mut path: Vec<String> = prefix.to_vec();
        let mut colons = if prefix.is_empty() { 0 } else { 2 };
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.add_path(std::mem::replace(&mut path, prefix.to_vec()));
                    }
                    path.push(ident.unraw().to_string());
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                TokenTree::Punct(punct) if punct.as_char() == '$' && colons == 2 => {
                    if path.first().is_some_and(|root| ROOTS.contains(&root.as_str())) {
                        let path = path.join("::");
                        self.problems.push(format!("a macro fills in a path after `{path}`"));
                    }
                    colons = 0;
                }
                TokenTree::Group(group) => {
                    let inside = if colons == 2 { path.clone() } else { Vec::new() };
                    self.add_path(std::mem::replace(&mut path, prefix.to_vec()));
                    self.add_tokens(&inside, group.stream());
                    colons = 0;
                }
                TokenTree::Punct(punct) => {
                    if punct.as_char() == '!' && path.last().is_some_and(|name| name == "include") {
                        self.problems.push(INCLUDE.to_owned());
                    }
                    self.add_path(std::mem::replace(&mut path, prefix.to_vec()));
                    // After a comma between braces the prefix holds again.
                    colons = if prefix.is_empty() { 0 } else { 2 };
                }
                TokenTree::Literal(_) => {
                    self.add_path(std::mem::replace(&mut path, prefix.to_vec()));
                    colons = 0;
                }
            }
        }
        self.add_path(path);
    }

    fn add_path(&mut self, path: Vec<String>) {
        if !path.is_empty() {
            self.module.paths.insert(path);
        }
    }

    /// Paths in the text of an attribute, such as `#[serde(with = "crate::time")]`.
    fn add_quoted(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.add_quoted(group.stream()),
                TokenTree::Literal(literal) => {
                    let text = literal.to_string();
                    let path: Vec<&str> = text.trim_matches('"').split("::").collect();
                    if path.len() > 1 && ROOTS.contains(&path[0]) {
                        self.add_path(path.into_iter().map(str::to_owned).collect());
                    }
                }
                TokenTree::Ident(_) | TokenTree::Punct(_) => {}
            }
        }
    }
}

impl<'ast> Visit<'ast> for Reader {
    #[expect(clippy::wildcard_enum_match_arm, reason = "only these declare a name")]
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let name = match item {
            syn::Item::Const(item) => Some(&item.ident),
            syn::Item::Enum(item) => Some(&item.ident),
            syn::Item::Fn(item) => Some(&item.sig.ident),
            syn::Item::Static(item) => Some(&item.ident),
            syn::Item::Struct(item) => Some(&item.ident),
            syn::Item::Trait(item) => Some(&item.ident),
            syn::Item::Type(item) => Some(&item.ident),
            syn::Item::Union(item) => Some(&item.ident),
            syn::Item::Macro(item) => item.ident.as_ref(),
            _ => None,
        };
        self.module.items.extend(name.map(|name| name.unraw().to_string()));
        visit::visit_item(self, item);
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.module.children.insert(item.ident.unraw().to_string());
        let sets_path = |attribute: &syn::Attribute| match &attribute.meta {
            syn::Meta::List(list) => {
                list.path.is_ident("cfg_attr") && list.tokens.to_string().contains("path")
            }
            syn::Meta::NameValue(pair) => pair.path.is_ident("path"),
            syn::Meta::Path(_) => false,
        };
        if item.attrs.iter().any(sets_path) {
            self.problems.push(format!("`mod {}` has a `path` attribute", item.ident));
        } else {
            self.declared.push(item.clone());
        }
    }

    fn visit_item_extern_crate(&mut self, item: &'ast syn::ItemExternCrate) {
        self.problems.push(format!("`extern crate {}`: use the manifest", item.ident));
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if item.leading_colon.is_none() {
            self.add_use(&[], &item.tree);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() {
            self.add_path(
                path.segments.iter().map(|segment| segment.ident.unraw().to_string()).collect(),
            );
        }
        visit::visit_path(self, path);
    }

    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {
        // `pub(in crate::a)` imports nothing.
    }

    fn visit_macro(&mut self, invocation: &'ast syn::Macro) {
        if invocation.path.segments.last().is_some_and(|name| name.ident == "include") {
            self.problems.push(INCLUDE.to_owned());
        }
        visit::visit_macro(self, invocation);
        self.add_tokens(&[], invocation.tokens.clone());
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        if let (false, syn::Meta::List(list)) = (attribute.path().is_ident("doc"), &attribute.meta)
        {
            self.add_quoted(list.tokens.clone());
            self.add_tokens(&[], list.tokens.clone());
        }
    }
}
