//! Renders the home screen: a project at a glance.

mod hints;
mod json;

pub use json::{HomeJson, all_json, json};

use midstride::verbs::LastSession;
use midstride_core::brief::items::headline;

/// What a session was about.
fn goal(last: &LastSession) -> Option<String> {
    let goal = last.summary.as_ref().and_then(|summary| headline(summary).title);
    goal.or_else(|| last.about.clone())
}
