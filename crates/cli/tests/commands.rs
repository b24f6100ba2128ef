//! Tests of the commands, one file each: input and output.

mod advance;
mod agent_save;
mod allow;
mod authors;
mod brief;
mod check;
mod client;
mod client_tasks;
mod config;
mod continuation;
mod coverage;
mod data;
mod dismiss;
mod doctor;
mod drift;
mod edit;
mod entries;
mod events;
mod examples;
mod exit_codes;
mod fmt;
mod forget;
mod from_note;
mod graph;
mod help;
mod hook;
mod init;
mod json;
mod life;
mod list;
mod log;
mod merge;
mod new;
mod observe;
mod pipeline;
mod plumbing;
mod private_texts;
mod purge;
mod redact;
mod reopen;
mod revise;
mod save;
mod search;
pub(crate) mod session;
pub(crate) mod setup;
mod show;
mod status;
mod statusline;
mod task;
mod task_exchange;
pub(crate) mod terminal;
mod trust;
mod verify;
mod why;

use crate::sandbox;
use midstride_testkit::Sandbox;

/// The text without its history.
fn without_history(text: &str) -> String {
    let mut inside = false;
    text.split_inclusive('\n')
        .filter(|line| {
            if line.starts_with("  ") && !line.starts_with("   ") {
                inside = line.starts_with("  revisions:") || line.starts_with("  uid:");
            } else if !line.starts_with("   ") {
                inside = false;
            }
            !inside
        })
        .collect()
}

/// A project with one handoff of each kind.
fn shop() -> Sandbox {
    let sandbox = sandbox().repository();
    sandbox.as_user().run(["init"]).exits(0);
    sandbox.write(".midstride/handoffs/market-page-perf.md", MARKET);
    sandbox.write(".midstride/handoffs/login-loop.md", LOGIN);
    sandbox.write(".midstride/handoffs/feat-042/request.md", REQUEST);
    sandbox.write("HANDOFF.md", "# Where we are\n\nThe build is green.\n");
    sandbox
}

const MARKET: &str = "\
---
handoff:
  id: market-page-perf
  title: Market pages take 14 s
  kind: investigation
  status: in_progress
  from: nightcheck
  to: [implementer]
  created: 2026-03-21T17:24:00Z
  context_summary: Cold renders load every company of a city.
  decisions_made:
    - decision: Paginate in the database
      rationale: The time grows with the number of companies
      alternatives_considered: [Cache the page]
  wrong_turns:
    - tried: Blaming _fetch_market_data()
      why_wrong: Another function serves the pages
  open_questions:
    - question: May the weather be ten minutes old?
      blocking: true
      suggested_owner: product
    - question: Who owns the cache?
      answer: The platform team
  assumptions:
    - assumption: The index on city exists
      confidence: medium
      validation_needed: true
  landmines:
    - The coin balance is looked up on every page
  revisions:
    - at: 2026-03-22T08:00:00Z
      reason: wrong code path
---

## Diagnosis

Austin takes 14,290 ms.

## Root causes

- The query in `app/market.py:16` loads everything.

## Plan

1. Paginate; check the number of rows.
";

const LOGIN: &str = "\
---
handoff:
  id: login-loop
  title: Login loops on Safari
  status: resolved
  created: 2026-03-01T08:00:00Z
  context_summary: The cookie was set on another domain.
  resolution:
    commit: 4f2c9d1
---
";

const REQUEST: &str = "\
---
handoff:
  id: feat-042
  kind: stage
  stage: request
  from: user
  to: [product-discovery]
  created: 2026-03-20T08:00:00Z
  context_summary: Snapshots of machines for audits.
  open_questions: []
---
";
