//! The programs that a git configuration names, and how to keep git from running them.
//!
//! A repository may come from an archive, with a configuration that the user never saw. A fixed
//! setting turns off most of its programs. The repository chooses the names of filters and hooks,
//! so the configuration must be read before they can be turned off.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

/// The variables that hold the values below, because a name may contain `=`.
pub(super) const VALUES: [(&str, &str); 2] =
    [("MIDSTRIDE_GIT_EMPTY", ""), ("MIDSTRIDE_GIT_FALSE", "false")];
const EMPTY: &str = VALUES[0].0;
const FALSE: &str = VALUES[1].0;

/// The scopes of settings that come with a repository.
const REPOSITORY_SCOPES: [&[u8]; 2] = [b"local", b"worktree"];

/// The programs in a configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ConfiguredPrograms {
    /// The names of filters, which run when git compares a file with the index.
    filters: BTreeSet<Vec<u8>>,
    /// The names of hooks, which newer versions of git read from the configuration.
    hooks: BTreeSet<Vec<u8>>,
    /// The settings of the repository whose programs connect to a remote.
    network: Vec<Setting>,
}

/// A setting and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Setting {
    name: Vec<u8>,
    value: Vec<u8>,
}

/// The section, the name in it if there is one, and the key.
type SettingParts<'s> = (&'s [u8], Option<&'s [u8]>, &'s [u8]);

impl Setting {
    /// The parts of `section.key` or `section.name.key`.
    fn parts(&self) -> Option<SettingParts<'_>> {
        let first = self.name.iter().position(|byte| *byte == b'.')?;
        let last = self.name.iter().rposition(|byte| *byte == b'.')?;
        let (section, key) = (&self.name[..first], &self.name[last + 1..]);
        Some((section, self.name.get(first + 1..last), key))
    }

    /// Whether its program connects to a remote.
    fn is_network_program(&self) -> bool {
        let Some(parts) = self.parts() else { return false };
        let is_one = matches!(
            parts,
            (b"core", None, b"askpass" | b"gitproxy" | b"sshcommand")
                | (b"credential", _, b"helper")
                | (b"remote", Some(_), b"uploadpack" | b"receivepack" | b"vcs")
        );
        // An empty value turns a setting off.
        is_one && !self.value.is_empty()
    }
}

impl ConfiguredPrograms {
    /// Parses `git config --list --show-scope -z`: `<scope>\0<name>\n<value>\0…`.
    pub(super) fn parse(listing: &[u8]) -> Self {
        let mut found = Self::default();
        let mut of_user = Vec::new();
        let mut parts = listing.split(|byte| *byte == 0);
        while let (Some(scope), Some(entry)) = (parts.next(), parts.next()) {
            let end = entry.iter().position(|byte| *byte == b'\n').unwrap_or(entry.len());
            let value = entry.get(end + 1..).unwrap_or_default().to_vec();
            let setting = Setting { name: entry[..end].to_vec(), value };
            match setting.parts() {
                Some((b"filter", Some(name), _)) => drop(found.filters.insert(name.to_vec())),
                Some((b"hook", Some(name), _)) => drop(found.hooks.insert(name.to_vec())),
                Some(_) if !setting.is_network_program() => {}
                Some(_) if REPOSITORY_SCOPES.contains(&scope) => found.network.push(setting),
                Some(_) => of_user.push(setting),
                None => {}
            }
        }
        // A user who configured the same program trusts it.
        found.network.retain(|setting| !of_user.contains(setting));
        found
    }

    /// Options that turn the filters and hooks off, those of the user included.
    pub(super) fn overrides(&self) -> Vec<OsString> {
        let option = |section: &str, name: &[u8], key: &str, variable: &str| {
            let start = format!("--config-env={section}.");
            let end = format!(".{key}={variable}");
            OsStr::from_bytes(&[start.as_bytes(), name, end.as_bytes()].concat()).to_owned()
        };
        let filter_keys =
            [("clean", EMPTY), ("smudge", EMPTY), ("process", EMPTY), ("required", FALSE)];
        let filters = self.filters.iter().flat_map(|name| {
            filter_keys.map(|(key, variable)| option("filter", name, key, variable))
        });
        let hooks = self.hooks.iter().map(|name| option("hook", name, "enabled", FALSE));
        filters.chain(hooks).collect()
    }

    /// The first setting of the repository that names a program for connecting to a remote.
    pub(super) fn network_setting(&self, remote: &str) -> Option<String> {
        let is_used = |setting: &&Setting| match setting.parts() {
            Some((b"remote", name, _)) => name == Some(remote.as_bytes()),
            _ => true,
        };
        let setting = self.network.iter().find(is_used)?;
        Some(String::from_utf8_lossy(&setting.name).into_owned())
    }
}

/// Whether the text of a configuration file can lead to hooks in the configuration. Section names
/// cannot be escaped.
pub(super) fn may_configure_hooks(text: &[u8]) -> bool {
    let starts = |section: &[u8]| {
        text.windows(section.len()).any(|window| window.eq_ignore_ascii_case(section))
    };
    starts(b"[hook") || starts(b"[include")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(entries: &[(&str, &str)]) -> ConfiguredPrograms {
        let listing: String =
            entries.iter().map(|(scope, entry)| format!("{scope}\0{entry}\0")).collect();
        ConfiguredPrograms::parse(listing.as_bytes())
    }

    #[test]
    fn filters_and_hooks_of_every_scope_are_turned_off() {
        let found = parse(&[
            ("global", "filter.lfs.clean\ngit-lfs clean -- %f"),
            ("local", "filter.a=b.c.process\nx"),
            ("worktree", "hook.lint.command\nx"),
            ("local", "filter.required"),
            ("local", "core.bare\nfalse"),
        ]);
        let options: Vec<String> =
            found.overrides().into_iter().map(|option| option.into_string().unwrap()).collect();
        assert_eq!(
            options,
            [
                "--config-env=filter.a=b.c.clean=MIDSTRIDE_GIT_EMPTY",
                "--config-env=filter.a=b.c.smudge=MIDSTRIDE_GIT_EMPTY",
                "--config-env=filter.a=b.c.process=MIDSTRIDE_GIT_EMPTY",
                "--config-env=filter.a=b.c.required=MIDSTRIDE_GIT_FALSE",
                "--config-env=filter.lfs.clean=MIDSTRIDE_GIT_EMPTY",
                "--config-env=filter.lfs.smudge=MIDSTRIDE_GIT_EMPTY",
                "--config-env=filter.lfs.process=MIDSTRIDE_GIT_EMPTY",
                "--config-env=filter.lfs.required=MIDSTRIDE_GIT_FALSE",
                "--config-env=hook.lint.enabled=MIDSTRIDE_GIT_FALSE",
            ]
        );
    }

    #[test]
    fn a_network_program_needs_the_same_value_from_the_user() {
        let setting = |entries: &[(&str, &str)]| parse(entries).network_setting("origin");
        let ssh = Some("core.sshcommand".to_owned());
        assert_eq!(setting(&[("local", "core.sshcommand\nevil")]), ssh);
        assert_eq!(setting(&[("worktree", "core.sshcommand\nevil")]), ssh);
        assert_eq!(setting(&[("global", "core.sshcommand\nmine")]), None);
        let both = [("global", "core.sshcommand\nmine"), ("local", "core.sshcommand\nmine")];
        assert_eq!(setting(&both), None);
        let other = [("global", "core.sshcommand\nmine"), ("local", "core.sshcommand\nevil")];
        assert_eq!(setting(&other), ssh);
        assert_eq!(setting(&[("local", "credential.helper\n")]), None, "it resets the list");
        let helper = setting(&[("local", "credential.https://a.example.helper\nx")]);
        assert_eq!(helper.as_deref(), Some("credential.https://a.example.helper"));
    }

    #[test]
    fn only_programs_of_the_remote_in_use_count() {
        let found = parse(&[("local", "remote.other.uploadpack\nx")]);
        assert_eq!(found.network_setting("origin"), None);
        assert_eq!(found.network_setting("other").as_deref(), Some("remote.other.uploadpack"));
    }

    #[test]
    fn hooks_in_a_configuration_are_noticed() {
        for text in ["[hook \"x\"]\n", "[core]\n[Hook \"x\"]", "[includeIf \"gitdir:/\"]"] {
            assert!(may_configure_hooks(text.as_bytes()), "{text}");
        }
        assert!(!may_configure_hooks(b"[core]\n\thooksPath = .husky\n"));
    }
}
