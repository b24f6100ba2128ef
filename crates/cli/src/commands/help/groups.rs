//! Which command is in which group, and whether short help shows it. The help pages and
//! `docs/cli.md` follow this table.

/// Commands that belong together.
pub(crate) struct CommandGroup {
    /// The heading.
    pub(crate) title: &'static str,
    /// The commands, in the order in which they are listed.
    pub(crate) commands: &'static [GroupedCommand],
}

/// A row of the table. What the command does is in its own definition.
pub(crate) struct GroupedCommand {
    /// Its name.
    pub(crate) name: &'static str,
    /// Whether short help shows it.
    pub(crate) is_short: bool,
}

/// A command that `midstride help` shows.
const fn short(name: &'static str) -> GroupedCommand {
    GroupedCommand { name, is_short: true }
}

/// A command that only `midstride help --all` shows.
const fn full(name: &'static str) -> GroupedCommand {
    GroupedCommand { name, is_short: false }
}

/// All commands.
pub(crate) static GROUPS: [CommandGroup; 7] = [
    CommandGroup {
        title: "Start here",
        commands: &[
            short("setup"),
            short("status"),
            short("log"),
            short("brief"),
            short("save"),
            short("demo"),
        ],
    },
    CommandGroup {
        title: "Handoffs",
        commands: &[
            short("new"),
            short("list"),
            short("show"),
            short("edit"),
            short("check"),
            short("search"),
            full("start"),
            short("answer"),
            full("review"),
            short("resolve"),
            full("reopen"),
        ],
    },
    CommandGroup {
        title: "More handoff commands",
        commands: &[full("undo"), full("diff"), full("share"), full("advance")],
    },
    CommandGroup {
        title: "Sessions and tasks",
        commands: &[full("session"), full("task"), full("continue"), full("why")],
    },
    CommandGroup {
        title: "Trust and data",
        commands: &[full("trust"), full("verify"), full("data"), full("forget"), full("dismiss")],
    },
    CommandGroup {
        title: "Setup",
        commands: &[
            full("client"),
            full("doctor"),
            full("config"),
            full("off"),
            full("on"),
            full("sync"),
            full("init"),
        ],
    },
    CommandGroup {
        title: "Plumbing",
        commands: &[
            full("help"),
            full("fmt"),
            full("schema"),
            full("explain"),
            full("completions"),
            full("man"),
            full("mcp"),
            full("hook"),
            full("merge"),
            full("events"),
            full("redact"),
            full("statusline"),
            full("reference"),
            full("checkpoint"),
        ],
    },
];
