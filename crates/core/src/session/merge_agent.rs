//! Merges the work of an agent, read from its own transcript, into the session that started it.

use super::item::Provenance;
use super::provenance::clean_id;
use super::{BoundedList, Session};

/// Adds an agent's work to the session that started it. Each item is labeled with the agent's id.
pub(super) fn merge_agent(session: &mut Session, id: &str, agent: &Session) {
    let label = clean_id(id).into_owned();
    let relabel = |seen: &Provenance| Provenance { agent: Some(label.clone()), ..seen.clone() };
    let failed = session.failed_omitted().zip(agent.failed_omitted());
    extend_list(&mut session.commands, &agent.commands, |item| {
        item.seen = relabel(&item.seen);
        item.ended = item.ended.as_ref().map(relabel);
    });
    let failed = failed.map(|(ours, theirs)| ours + theirs);
    session.failed_left_out = failed.filter(|_| session.commands.left_out > 0);
    // The agent's own records repeat what the client reported while it ran, so drop those.
    let is_other = |seen: &Provenance| seen.agent.as_deref() != Some(&*label);
    session.checks.items.retain(|item| is_other(&item.seen));
    session.commits.items.retain(|item| is_other(&item.seen));
    session.effects.items.retain(|item| is_other(&item.seen));
    session.conflicts.items.retain(|item| is_other(&item.seen));
    session.other_edits.items.retain(|item| is_other(&item.seen));
    extend_list(&mut session.other_edits, &agent.other_edits, |item| {
        item.seen = relabel(&item.seen);
    });
    extend_list(&mut session.checks, &agent.checks, |item| {
        item.seen = relabel(&item.seen);
        item.ended = item.ended.as_ref().map(relabel);
    });
    extend_list(&mut session.commits, &agent.commits, |item| {
        item.seen = relabel(&item.seen);
        if let Some(pushed) = &mut item.pushed {
            pushed.seen = relabel(&pushed.seen);
        }
    });
    extend_list(&mut session.effects, &agent.effects, |item| item.seen = relabel(&item.seen));
    extend_list(&mut session.conflicts, &agent.conflicts, |item| {
        item.seen = relabel(&item.seen);
        item.settled = item.settled.as_ref().map(relabel);
    });
    extend_list(&mut session.errors, &agent.errors, |item| item.seen = relabel(&item.seen));
    extend_list(&mut session.rejections, &agent.rejections, |item| item.seen = relabel(&item.seen));
    extend_list(&mut session.skills, &agent.skills, |item| item.seen = relabel(&item.seen));
    extend_list(&mut session.agents, &agent.agents, |item| item.seen = relabel(&item.seen));
    extend_list(&mut session.api_errors, &agent.api_errors, |item| item.seen = relabel(&item.seen));
    extend_list(&mut session.plans, &agent.plans, |item| item.seen = relabel(&item.seen));
    session.files.merge_agent(&agent.files, &relabel);
    session.usage.by_agents = session.usage.by_agents.saturating_add(agent.usage.total());
    session.counts.tool_calls += agent.counts.tool_calls;
    for (tool, number) in &agent.counts.mcp_calls {
        session.counts.count_mcp_calls(tool, *number);
    }
    session.ended = session.ended.max(agent.ended);
    for (kind, count) in &agent.redacted {
        *session.redacted.entry(kind.clone()).or_default() += count;
    }
}

fn extend_list<T: Clone>(
    ours: &mut BoundedList<T>,
    theirs: &BoundedList<T>,
    change: impl Fn(&mut T),
) {
    ours.left_out += theirs.left_out;
    for item in theirs {
        let mut item = item.clone();
        change(&mut item);
        ours.items.push(item);
    }
}
