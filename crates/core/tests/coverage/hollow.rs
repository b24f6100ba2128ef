//! Documents that name everything, or nothing, and explain nothing. They do not include midstride's
//! generated sections, because the gate removes those before it compares.

use midstride_core::session::checkpoint::Checkpoint;
use midstride_core::session::coverage::CoverageItem;

/// A way to write a document without explaining anything.
pub(super) struct Kind {
    pub(super) name: &'static str,
    pub(super) write: fn(&Checkpoint, &[CoverageItem]) -> String,
}

const fn kind(name: &'static str, write: fn(&Checkpoint, &[CoverageItem]) -> String) -> Kind {
    Kind { name, write }
}

pub(super) const KINDS: &[Kind] = &[
    kind("nothing", |_, _| String::new()),
    kind("headings", |_, _| "# Handoff\n\n## Diagnosis\n\n## Plan\n\n## Continuation\n".to_owned()),
    kind("small talk", |_, _| SMALL_TALK.to_owned()),
    kind("an essay about anything", |_, _| ESSAY.to_owned()),
    kind("a list", |_, items| each(items, |_, name| format!("- {name}"))),
    kind("a list of code", |_, items| each(items, |_, name| format!("- `{name}`"))),
    kind("a list below root causes", |_, items| {
        format!("## Root causes\n\n{}", each(items, |_, name| format!("- {name}")))
    }),
    kind("a list with what it is", |_, items| {
        each(items, |item, name| format!("- {name}: {}", item.kind.singular()))
    }),
    kind("a list with records", |_, items| {
        each(items, |item, name| {
            let record = item.seen.as_ref().map(|seen| seen.record.clone()).unwrap_or_default();
            format!("- {name}, therefore see record {record}, exit code 1")
        })
    }),
    kind("a list, then because", |_, items| {
        let list = each(items, |_, name| format!("- {name}"));
        format!(
            "{list}\nAll of this happened because the deployment pipeline had stale artefacts in it.\n"
        )
    }),
    kind("everything in one paragraph, then because", |_, items| {
        let list = each(items, |_, name| format!("{name},"));
        format!(
            "{list}\nall of this because it was necessary to get the work done in the session.\n"
        )
    }),
    kind("because of reasons", |_, items| {
        each(items, |_, name| format!("- {name} because of reasons"))
    }),
    kind("because it was necessary", |_, items| {
        each(items, |_, name| {
            format!(
                "- {name} was done because it was necessary for the project and the user wanted it"
            )
        })
    }),
    kind("because it did not work", |_, items| {
        each(items, |_, name| {
            format!(
                "- {name}: this had to be handled because it did not behave as expected, so a different approach was required"
            )
        })
    }),
    kind("it failed because it failed", |_, items| {
        each(items, |_, name| format!("- `{name}` failed: it failed"))
    }),
    kind("because of an error", |_, items| {
        each(items, |_, name| format!("- {name} failed because of an error"))
    }),
    kind("was broken", |_, items| each(items, |_, name| format!("- {name}: was broken"))),
    kind("short phrases in turn", |_, items| {
        let mut phrases = SHORT_PHRASES.iter().cycle();
        each(items, |_, name| format!("- `{name}` {}", phrases.next().unwrap_or(&"")))
    }),
    kind("short reasons in turn", |_, items| {
        let reasons = SHORT_PHRASES.map(|phrase| phrase.replace([':', ','], ""));
        let reasons = std::cell::RefCell::new(reasons.iter().cycle());
        header("wrong_turns", items, |name| {
            let reason = reasons.borrow_mut().next().cloned().unwrap_or_default();
            format!("{{tried: {name}, why_wrong: it {reason}}}")
        })
    }),
    kind("itself, missing", |_, items| {
        each(items, |_, name| format!("- `{name}` failed because {name} was missing"))
    }),
    Kind {
        name: "the same short reason for everything",
        write: |_, items| each(items, |_, name| format!("- {name} failed: lazy_html was missing")),
    },
    kind("what it printed, in short", |checkpoint, items| {
        let commands = checkpoint.session.commands.iter();
        let errors: Vec<String> = commands.filter_map(|command| command.error.clone()).collect();
        let error = |number: usize| errors.get(number).cloned().unwrap_or_default();
        let short = |number: usize| {
            let text = error(number);
            text.split_whitespace().take(5).collect::<Vec<_>>().join(" ")
        };
        let lines = items.iter().enumerate();
        lines.map(|(at, item)| format!("- {} failed: {}\n", shown(&item.name), short(at))).collect()
    }),
    kind("because of itself", |_, items| each(items, |_, name| format!("- {name} because {name}"))),
    kind("because of the next one", |_, items| {
        let names: Vec<String> = items.iter().map(|item| shown(&item.name)).collect();
        let next = names.iter().cycle().skip(1);
        names.iter().zip(next).map(|(one, next)| format!("- {one} because {next}\n")).collect()
    }),
    Kind {
        name: "the same reason for everything",
        write: |_, items| {
            each(items, |_, name| {
                format!(
                    "- {name} broke because the registry of the cluster rotated its certificates at midnight"
                )
            })
        },
    },
    Kind {
        name: "nearly the same reason for everything",
        write: |_, items| {
            let names = items.iter().enumerate();
            let line = |(number, item): (usize, &CoverageItem)| {
                let name = shown(&item.name);
                format!(
                    "- {name} broke because registry number {number} of cluster {number} rotated its certificates at midnight\n\n"
                )
            };
            names.map(line).collect()
        },
    },
    kind("phrases in turn", |_, items| {
        let mut phrases = PHRASES.iter().cycle();
        each(items, |_, name| format!("- `{name}` {}", phrases.next().unwrap_or(&"")))
    }),
    kind("what the user said as the reason", |checkpoint, items| {
        let said = checkpoint.first_request().unwrap_or_default();
        each(items, |_, name| format!("- {name} because {said}"))
    }),
    kind("what it printed as the reason", |checkpoint, items| {
        let commands = checkpoint.session.commands.iter();
        let errors: Vec<String> = commands.filter_map(|command| command.error.clone()).collect();
        let error =
            |number: usize| errors.get(number).cloned().unwrap_or_default().replace('\n', " ");
        let lines = items.iter().enumerate();
        lines.map(|(at, item)| format!("- {} because {}\n", shown(&item.name), error(at))).collect()
    }),
    kind("last words", |checkpoint, items| {
        let words = checkpoint.session.last_words.as_ref().map(|words| words.text.clone());
        format!("{}\n\n{}", each(items, |_, name| format!("- {name}")), words.unwrap_or_default())
    }),
    kind("wrong turns that failed", |_, items| {
        header("wrong_turns", items, |name| {
            format!(
                "{{tried: {name}, why_wrong: it failed with an error, replaced_by: another solution}}"
            )
        })
    }),
    kind("decisions that were made", |_, items| {
        header("decisions_made", items, |name| {
            format!("{{decision: {name}, rationale: the user wanted it that way in this session}}")
        })
    }),
    kind("questions about everything", |_, items| {
        header("open_questions", items, |name| {
            format!("{{question: {name}, context: this is important and needs more investigation}}")
        })
    }),
    kind("landmines", |_, items| header("landmines", items, ToOwned::to_owned)),
    kind("a table that sends elsewhere", |_, items| {
        let rows = each(items, |_, name| format!("| {} | see above |", name.replace('|', " ")));
        format!("| what | why |\n|---|---|\n{rows}")
    }),
    kind("a block of code", |_, items| {
        format!("```sh\n{}```\n", each(items, |_, name| format!("{name} # because of that")))
    }),
    kind("everything between joints", |_, items| {
        each(items, |_, name| format!("because {name} therefore {name} instead so that"))
    }),
];

const PHRASES: [&str; 6] = [
    "because the configuration was outdated and had to be adjusted",
    "due to an unexpected error in the environment that was later resolved",
    "so that the implementation follows best practices and stays maintainable",
    "because the user asked for it and it improves readability",
    "was necessary, therefore it was done as part of the overall solution",
    "turned out to be more complex than it was expected to be at first",
];

const SHORT_PHRASES: [&str; 16] = [
    "failed: something was off",
    "failed because the setup was bad",
    "failed because it was flaky",
    "failed: the test was red",
    "was changed because it was needed",
    "was reverted: it was wrong",
    "failed due to a dependency problem",
    "broke because the code had a bug",
    "failed, so it was fixed",
    "failed: see the log",
    "failed because it did not work",
    "failed: not good",
    "failed because everything was broken",
    "failed: there was no way",
    "was done because the agent had no choice",
    "failed since a library was outdated",
];

const SMALL_TALK: &str = "# Handoff\n\nThis session went well. Several commands failed because of \
    problems in the environment, but they were resolved. Some files were changed as requested by the \
    user, therefore everything should work now.\n\nTODO: continue with the remaining work, because it \
    is not finished.\n";

const ESSAY: &str = "# Lessons\n\nDistributed systems fail because networks partition, so operators \
    must plan for disagreement between replicas. Caches go stale since nobody owns invalidation.\n\n\
    Migrations led to outages when column defaults locked large tables, which means that backfills \
    belong in batches. Therefore rehearse them against production snapshots.\n";

/// A name that fits into a line.
fn shown(name: &str) -> String {
    name.replace('`', "'")
}

fn each(items: &[CoverageItem], mut line: impl FnMut(&CoverageItem, &str) -> String) -> String {
    items.iter().map(|item| format!("{}\n", line(item, &shown(&item.name)))).collect()
}

fn header(field: &str, items: &[CoverageItem], entry: impl Fn(&str) -> String) -> String {
    let quoted = |name: &str| format!("'{}'", name.replace('\'', "''"));
    let entries: String =
        items.iter().map(|item| format!("    - {}\n", entry(&quoted(&item.name)))).collect();
    format!("---\nhandoff:\n  id: hollow\n  {field}:\n{entries}---\n")
}
