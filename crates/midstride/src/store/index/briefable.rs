//! Which open documents sessions are briefed from: not a note that a handoff was made from, because the
//! handoff decides, and not a note that the user dismissed.

use super::IndexCard;
use crate::workspace::dismissed_notes::DismissedNotes;
use crate::workspace::{Catalog, DocumentPlace, Workspace};
use std::collections::HashSet;

/// A handoff and the references to what it was made from.
pub(crate) type MadeFrom = (DocumentPlace, Vec<String>);

/// Removes the notes that sessions are not briefed from. `made` are all handoffs that were made from
/// another document, also closed ones.
pub(crate) fn retain_briefable(
    workspace: &Workspace,
    cards: &mut Vec<(DocumentPlace, IndexCard)>,
    made: &[MadeFrom],
) {
    let is_note = |card: &IndexCard| card.routing.as_ref().is_some_and(|routing| routing.is_note);
    if !cards.iter().any(|(_, card)| is_note(card)) {
        return;
    }
    let catalog = Catalog::new(workspace);
    let adopted = made.iter().flat_map(|(place, references)| {
        let found = |reference: &String| catalog.find_nearby(place, reference);
        references.iter().filter_map(found).collect::<Vec<_>>()
    });
    let adopted: HashSet<_> = adopted.map(|place| workspace.display_path(&place)).collect();
    let dismissed = DismissedNotes::read(workspace);
    cards.retain(|(place, card)| {
        let is_out = || {
            adopted.contains(&workspace.display_path(place)) || dismissed.contains(workspace, place)
        };
        !is_note(card) || !is_out()
    });
}
