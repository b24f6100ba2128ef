//! Rule 5: each platform capability is decided, where the stage requires it.

use crate::format::finding::{Code, Finding};
use crate::format::header::Header;
use crate::format::stage::Stages;
use crate::handoff::Handoff;

pub(super) fn check(handoff: &Handoff<'_>, stages: &Stages, out: &mut Vec<Finding>) {
    let fields = handoff.header().map(Header::fields);
    let Some(entry) = fields.and_then(|fields| fields.entry("platform_capabilities")) else {
        return;
    };
    if entry.node.is_blank() {
        return;
    }
    for name in stages.capabilities() {
        let capability = handoff.capability(name);
        let at = capability.as_ref().map_or(entry.key.at, |capability| capability.at);
        match capability {
            Some(capability) if capability.applies.is_some() => {
                if capability.rationale.is_none() {
                    let message = format!("the decision about `{name}` has no rationale");
                    out.push(Finding::new(Code::CapabilityUnexplained, at, message));
                }
            }
            Some(_) | None => {
                let message = format!("no decision is recorded for `{name}`");
                let finding = Finding::new(Code::CapabilityMissing, at, message);
                out.push(
                    finding.with_hint(format!("add `{name}:` with `applies` and `rationale`")),
                );
            }
        }
    }
}
