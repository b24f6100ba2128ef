//! What agents did whose records lie in files of their own, added to the session that started them.

use super::item::Seen;
use super::seen::id_of;
use super::{Listed, Session};

/// Adds what an agent did to the session that started it, each item labelled.
pub(super) fn take_in(session: &mut Session, id: &str, agent: &Session) {
    let label = id_of(id).into_owned();
    let relabel = |seen: &Seen| Seen { agent: Some(label.clone()), ..seen.clone() };
    let failed = session.failed_before().zip(agent.failed_before());
    extend(&mut session.commands, &agent.commands, |item| {
        item.seen = relabel(&item.seen);
        item.ended = item.ended.as_ref().map(relabel);
    });
    let failed = failed.map(|(ours, theirs)| ours + theirs);
    session.failed_left_out = failed.filter(|_| session.commands.left_out > 0);
    // What was told while it worked is told again by its own records.
    let is_other = |seen: &Seen| seen.agent.as_deref() != Some(&*label);
    session.checks.items.retain(|item| is_other(&item.seen));
    session.commits.items.retain(|item| is_other(&item.seen));
    session.effects.items.retain(|item| is_other(&item.seen));
    session.conflicts.items.retain(|item| is_other(&item.seen));
    session.other_edits.items.retain(|item| is_other(&item.seen));
    extend(&mut session.other_edits, &agent.other_edits, |item| item.seen = relabel(&item.seen));
    extend(&mut session.checks, &agent.checks, |item| {
        item.seen = relabel(&item.seen);
        item.ended = item.ended.as_ref().map(relabel);
    });
    extend(&mut session.commits, &agent.commits, |item| {
        item.seen = relabel(&item.seen);
        if let Some(pushed) = &mut item.pushed {
            pushed.seen = relabel(&pushed.seen);
        }
    });
    extend(&mut session.effects, &agent.effects, |item| item.seen = relabel(&item.seen));
    extend(&mut session.conflicts, &agent.conflicts, |item| {
        item.seen = relabel(&item.seen);
        item.settled = item.settled.as_ref().map(relabel);
    });
    extend(&mut session.errors, &agent.errors, |item| item.seen = relabel(&item.seen));
    extend(&mut session.rejections, &agent.rejections, |item| item.seen = relabel(&item.seen));
    extend(&mut session.skills, &agent.skills, |item| item.seen = relabel(&item.seen));
    extend(&mut session.agents, &agent.agents, |item| item.seen = relabel(&item.seen));
    extend(&mut session.api_errors, &agent.api_errors, |item| item.seen = relabel(&item.seen));
    extend(&mut session.plans, &agent.plans, |item| item.seen = relabel(&item.seen));
    session.files.take_in(&agent.files, &relabel);
    session.usage.by_agents = session.usage.by_agents.saturating_add(agent.usage.total());
    session.counts.tool_calls += agent.counts.tool_calls;
    session.ended = session.ended.max(agent.ended);
    for (kind, count) in &agent.redacted {
        *session.redacted.entry(kind.clone()).or_default() += count;
    }
}

fn extend<T: Clone>(ours: &mut Listed<T>, theirs: &Listed<T>, change: impl Fn(&mut T)) {
    ours.left_out += theirs.left_out;
    for item in theirs {
        let mut item = item.clone();
        change(&mut item);
        ours.items.push(item);
    }
}
