//! Tests of adding and removing entries, with the entries of the real clients.

use super::ALL;
use super::config::entry::{ConfigEntry, hook_group};
use super::config::{
    ClientFileError, EntryInsertion, InstallOptions, InstallScope, TargetContent, json, splice,
    toml,
};
use crate::sys::env::Environment;
use proptest::prelude::*;
use serde_json::json;
use std::path::Path;

/// A style in which JSON can be written.
#[derive(Clone, Debug)]
struct Style {
    indent: &'static str,
    end: &'static str,
    has_trailing_commas: bool,
    is_flat: bool,
    has_mark: bool,
    /// One bit for each place where a comment may be, repeated.
    comments: u64,
}

#[derive(Clone, Debug)]
enum Tree {
    Plain(&'static str),
    List(Vec<Tree>),
    Object(Vec<(&'static str, Tree)>),
}

struct Writer<'s> {
    style: &'s Style,
    out: String,
    places: u32,
}

impl Writer<'_> {
    fn whole(style: &Style, tree: &Tree) -> String {
        let mut writer = Writer { style, out: String::new(), places: 0 };
        if style.has_mark {
            writer.out.push('\u{feff}');
        }
        writer.comment(0);
        writer.tree(tree, 0);
        writer.out.push_str(style.end);
        writer.out
    }

    fn tree(&mut self, tree: &Tree, depth: usize) {
        match tree {
            Tree::Plain(text) => self.out.push_str(text),
            Tree::List(items) => {
                self.items('[', ']', items.len(), depth, |writer, index| {
                    writer.tree(&items[index], depth + 1);
                });
            }
            Tree::Object(members) => {
                self.items('{', '}', members.len(), depth, |writer, index| {
                    let (key, value) = &members[index];
                    writer.out.push_str(&format!("\"{key}\" : "));
                    writer.tree(value, depth + 1);
                });
            }
        }
    }

    fn items(
        &mut self,
        open: char,
        close: char,
        count: usize,
        depth: usize,
        item: impl Fn(&mut Self, usize),
    ) {
        self.out.push(open);
        for index in 0..count {
            self.line(depth + 1);
            self.comment(depth + 1);
            item(self, index);
            if index + 1 < count || self.style.has_trailing_commas {
                self.out.push(',');
            }
            self.comment_behind();
        }
        if count == 0 && self.is_wanted() {
            self.out.push_str(" /* none */ ");
        }
        if count > 0 || self.is_wanted() {
            self.line(depth);
        }
        self.out.push(close);
    }

    fn line(&mut self, depth: usize) {
        if !self.style.is_flat {
            self.out.push_str(self.style.end);
            self.out.push_str(&self.style.indent.repeat(depth));
        }
    }

    fn is_wanted(&mut self) -> bool {
        self.places += 1;
        self.style.comments.rotate_left(self.places) & 1 == 1
    }

    fn comment(&mut self, depth: usize) {
        if self.is_wanted() {
            self.out.push_str("/* why, \"hooks\": { */");
            self.line(depth);
        }
    }

    fn comment_behind(&mut self) {
        if self.is_wanted() && !self.style.is_flat {
            self.out.push_str(" // since then");
        }
    }
}

fn styles() -> impl Strategy<Value = Style> {
    let indent = prop::sample::select(vec!["", "  ", "    ", "\t"]);
    let end = prop::sample::select(vec!["\n", "\r\n"]);
    let comments = prop_oneof![Just(0), any::<u64>()];
    (indent, end, any::<[bool; 3]>(), comments).prop_map(|(indent, end, flags, comments)| {
        let [has_trailing_commas, is_flat, has_mark] = flags;
        Style { indent, end, has_trailing_commas, is_flat, has_mark, comments }
    })
}

fn trees() -> impl Strategy<Value = Tree> {
    let plain =
        prop::sample::select(vec!["1", "-2.5e3", "true", "null", "\"a \\\" // b\"", "\"\""]);
    let leaf = plain.prop_map(Tree::Plain);
    let inner = leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Tree::List),
            members(inner).prop_map(Tree::Object),
        ]
    });
    members(inner).prop_map(Tree::Object)
}

fn members(
    inner: impl Strategy<Value = Tree> + Clone,
) -> impl Strategy<Value = Vec<(&'static str, Tree)>> {
    let key = prop::sample::select(vec![
        "hooks",
        "SessionStart",
        "Stop",
        "permissions",
        "allow",
        "mcpServers",
        "ä b",
        "x",
    ]);
    prop::collection::vec((key, inner), 0..5)
}

/// The entries that midstride wants in JSON files of all clients.
fn ours() -> Vec<ConfigEntry> {
    let folder = Path::new("/none");
    let home = Some(folder.to_owned());
    let environment = Environment { home, ..Environment::in_folder(folder) };
    let wanted = |client: &'static dyn super::Client| {
        let options = InstallOptions::default();
        client.target_files(&environment, &InstallScope::User, options).unwrap()
    };
    let files = ALL.into_iter().flat_map(wanted);
    let json = files.filter(|file| file.file.path().extension().is_some_and(|end| end == "json"));
    let mut ours: Vec<ConfigEntry> = json
        .filter_map(|file| match file.content {
            TargetContent::Entries(entries) => Some(entries),
            TargetContent::WholeFile(_) => None,
        })
        .flatten()
        .collect();
    assert!(ours.len() > 17, "{}", ours.len());
    ours.push(ConfigEntry::element(&["permissions", "allow"], json!("mcp__midstride__get")));
    ours
}

#[test]
fn a_comment_in_an_empty_file_is_kept() {
    for text in ["//", "// mine", "/* mine */", "// mine\n", "// mine\r\n", "// mine\r"] {
        let added = json::add_entries(text, &ours()).unwrap();
        assert_eq!(splice::undo(&added.text, &added.splices).as_deref(), Some(text));
        assert!(
            json::add_entries(&added.text, &ours()).unwrap().entries.is_empty(),
            "{}",
            added.text
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn adding_and_removing_entries_restores_the_text(style in styles(), tree in trees()) {
        let text = Writer::whole(&style, &tree);
        let added = match json::add_entries(&text, &ours()) {
            Ok(added) => added,
            // Something else is where the entries belong; only that is refused.
            Err(ClientFileError::Unexpected { .. }) => return Ok(()),
            Err(other) => panic!("{other:?}\n{text}"),
        };
        let undone = splice::undo(&added.text, &added.splices);
        prop_assert_eq!(undone.as_deref(), Some(text.as_str()));
        let again = json::add_entries(&added.text, &ours()).unwrap();
        prop_assert!(again.entries.is_empty() && again.text == added.text);
        let EntryInsertion { entries, made, filled, .. } = &added;
        let left = json::remove_entries(&added.text, entries, made, filled).unwrap();
        prop_assert!(left == text, "{}\n---\n{}\n---\n{}", text, added.text, left);
    }

    #[test]
    fn no_input_makes_it_panic(text in "[\\[\\]{}\",:/* \n\ra-c\u{feff}é0-9]{0,40}") {
        if let Ok(added) = json::add_entries(&text, &ours()) {
            let EntryInsertion { entries, made, filled, .. } = &added;
            let left = json::remove_entries(&added.text, entries, made, filled);
            prop_assert!(left.is_ok(), "{:?}", left);
        }
        let server = ConfigEntry::member(&["mcp_servers", "midstride"], json!({ "command": "midstride" }));
        if let Ok(added) = toml::add_entries(&text, std::slice::from_ref(&server)) {
            let undone = splice::undo(&added.text, &added.splices);
            prop_assert_eq!(undone.as_deref(), Some(text.as_str()));
        }
    }
}

fn one() -> ConfigEntry {
    ConfigEntry::element(&["hooks", "Stop"], hook_group("midstride hook claude-code", 5))
}

fn with_one(text: &str) -> String {
    json::add_entries(text, &[one()]).unwrap().text
}

#[test]
fn a_new_entry_follows_the_existing_layout() {
    let expected =
        "{\n\t\"a\": 1, // one\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{\n\t\t\t\t\"hooks\": [";
    let added = with_one("{\n\t\"a\": 1 // one\n}\n");
    assert!(added.starts_with(expected), "{added}");
    let flat = with_one("{\"a\":1}");
    assert_eq!(flat.lines().count(), 1, "{flat}");
    assert!(flat.starts_with("{\"a\":1, \"hooks\": {\"Stop\": [{\"hooks\":[{"), "{flat}");
    let crlf = with_one("{\r\n    \"a\": [],\r\n}\r\n");
    assert_eq!(crlf.matches("\r\n").count(), crlf.matches('\n').count());
    assert!(crlf.ends_with("    },\r\n}\r\n"), "{crlf:?}");
}

#[test]
fn removal_keeps_other_hooks_in_our_group() {
    let text = with_one("{}");
    let theirs =
        "{\"type\": \"command\", \"command\": \"theirs\"},\n          {\n            \"type\"";
    let text = text.replace("{\n            \"type\"", theirs);
    assert!(text.contains("theirs"), "{text}");
    let left = json::remove_entries(&text, &[one()], &[vec!["hooks".into()]], &[]).unwrap();
    assert!(left.contains("theirs") && !left.contains("midstride"), "{left}");
    // A longer timeout does not make the hook someone else's.
    let text = with_one("{}").replace("\"timeout\": 5", "\"timeout\": 50 /* slow disk */");
    let made = [vec!["hooks".to_owned()], vec!["hooks".to_owned(), "Stop".to_owned()]];
    assert_eq!(json::remove_entries(&text, &[one()], &made, &[]).unwrap(), "{}");
}

#[test]
fn removal_after_a_line_comment_keeps_the_closing_bracket() {
    let text = "{\"hooks\": {\"Stop\": [1, // one\n{\"hooks\":[{\"command\":\"midstride hook claude-code\"}]}]}}";
    let left = json::remove_entries(text, &[one()], &[], &[]).unwrap();
    assert_eq!(left, "{\"hooks\": {\"Stop\": [1 // one\n]}}");
}

fn server() -> ConfigEntry {
    let value = json!({ "command": "midstride", "args": ["mcp"], "tools": { "get": { "approval_mode": "approve" } } });
    ConfigEntry::member(&["mcp_servers", "midstride"], value)
}

fn state() -> ConfigEntry {
    let key = "/home/a b/hooks.json:stop:0:0";
    ConfigEntry::member(&["hooks", "state", key], json!({ "trusted_hash": "sha256:00" }))
}

#[test]
fn toml_tables_are_appended_and_removed_cleanly() {
    let texts = [
        "",
        "\n",
        "model = \"x\"\n",
        "model = \"x\" # no end of line",
        "# a comment\r\nmodel = \"x\"\r\n\r\n[a]\r\nb = 1\r\n# at the end\r\n",
        "[mcp_servers.other]\ncommand = \"x\"\n[[hooks.Stop]]\nmatcher = \"x\"\n",
        "mcp_servers.other.command = \"x\"\n",
        "mcp_servers = { other = { command = \"x\" } } # inline\n",
        "mcp_servers = {}\nhooks = { state = {} }\n",
        "\u{feff}a = 2026-01-01T00:00:00Z\n",
    ];
    for text in texts {
        let added = toml::add_entries(text, &[server(), state()]).unwrap();
        assert_eq!(splice::undo(&added.text, &added.splices).as_deref(), Some(text));
        let value = toml::parse_value(&added.text).unwrap();
        assert_eq!(value["mcp_servers"]["midstride"]["args"], json!(["mcp"]), "{}", added.text);
        let left = toml::remove_entries(&added.text, &[server(), state()]).unwrap();
        assert_eq!(left.trim_end(), text.trim_end(), "{}", added.text);
    }
}

#[test]
fn removal_keeps_user_edits_around_our_toml_table() {
    let added = toml::add_entries("a = 1\n# mine\n", &[server(), state()]).unwrap().text;
    let edited = added.replace("args =", "env = { A = \"b\" } # added\nargs =")
        + "\n# about c\n[c]\nd = 1\n\n[mcp_servers.midstride.env_more]\nx = 1\n";
    let left = toml::remove_entries(&edited, &[server(), state()]).unwrap();
    assert_eq!(left, "a = 1\n# mine\n\n# about c\n[c]\nd = 1\n");
    let rewritten = "[mcp_servers]\nx = { command = \"y\" } # x\nmidstride = { command = \"m\" }\nmidstride2 = 1\n";
    let left = toml::remove_entries(rewritten, &[server()]).unwrap();
    assert_eq!(left, "[mcp_servers]\nx = { command = \"y\" } # x\nmidstride2 = 1\n");
    let dotted =
        "[mcp_servers]\nmidstride.command = \"m\"\nmidstride.args = [\n  \"mcp\",\n]\nx = 1\n";
    assert_eq!(toml::remove_entries(dotted, &[server()]).unwrap(), "[mcp_servers]\nx = 1\n");
}

#[test]
fn an_unexpected_value_is_reported() {
    let refused = |text: &str| match json::add_entries(text, &[one()]) {
        Err(ClientFileError::Unexpected { at, found, .. }) => format!("{at} is {found}"),
        other => panic!("{other:?}"),
    };
    assert_eq!(refused("[]"), "the top is a list");
    assert_eq!(refused("{\"hooks\": \"none\"}"), "`hooks` is a string");
    assert_eq!(refused("{\"hooks\": {\"Stop\": {}}}"), "`hooks.Stop` is an object");
    assert!(matches!(
        json::add_entries("{\"a\": 1", &[one()]),
        Err(ClientFileError::Unreadable(_))
    ));
    assert!(matches!(json::add_entries("{'a': 1}", &[one()]), Err(ClientFileError::Unreadable(_))));
    assert!(matches!(toml::add_entries("a = ", &[server()]), Err(ClientFileError::Unreadable(_))));
    assert!(matches!(
        toml::add_entries("mcp_servers = 1", &[server()]),
        Err(ClientFileError::Unexpected { .. })
    ));
}
