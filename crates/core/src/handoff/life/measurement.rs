//! Numbers before and after: which entry of `measurements` a new number goes to.

use super::Refusal;
use crate::handoff::Handoff;
use crate::handoff::proof::Number;
use crate::text::edit::{Edit, Path};
use crate::text::yaml::{Data, Node};

/// A number that was measured when a handoff ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measured {
    /// What was measured.
    pub name: String,
    /// The number before, where it was given.
    pub before: Option<String>,
    /// The number after.
    pub after: String,
    /// The unit of both.
    pub unit: Option<String>,
}

/// The two numbers of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Before the work.
    Before,
    /// After it.
    After,
}

impl Side {
    fn word(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::After => "after",
        }
    }
}

/// The entry of a handoff that has a name: where it is, and what it says.
fn entry<'d>(handoff: &Handoff<'d>, name: &str) -> Option<(Path, &'d Node)> {
    let items = handoff.node("measurements").map(Node::items).unwrap_or_default();
    let is_named = |item: &&Node| {
        item.get("name").and_then(Node::text).is_some_and(|text| text.value.trim() == name)
    };
    let index = items.iter().position(is_named)?;
    Some((Path::field("measurements").item(index), items[index]))
}

/// The edits that record what was measured at the end: `after` of the measurement with that name, or
/// a new measurement. What the handoff says already is not replaced by another number or unit.
pub(super) fn fill(handoff: &Handoff<'_>, measured: &[Measured]) -> Result<Vec<Edit>, Refusal> {
    let mut edits = Vec::new();
    for (index, one) in measured.iter().enumerate() {
        // Of two with one name, the last one counts.
        if measured[index + 1..].iter().any(|later| later.name == one.name) {
            continue;
        }
        match entry(handoff, &one.name) {
            Some((path, known)) => edits.extend(complete(&path, known, one)?),
            None => edits.push(append(one)),
        }
    }
    Ok(edits)
}

fn complete(path: &Path, known: &Node, measured: &Measured) -> Result<Vec<Edit>, Refusal> {
    let mut edits = Vec::new();
    let given = [("before", &measured.before), ("unit", &measured.unit)];
    for (field, given) in given {
        let Some(given) = given else { continue };
        let written = known.get(field).and_then(Node::text).map(|text| text.value.trim());
        match written.filter(|text| !text.is_empty()) {
            Some(written) if !is_same(written, given) => {
                let (name, has) = (measured.name.clone(), written.to_owned());
                return Err(Refusal::OtherMeasurement { name, field, has, given: given.clone() });
            }
            Some(_) => {}
            None => edits.push(Edit::Set(path.clone().key(field), value(field, given))),
        }
    }
    let after = Data::Bare(measured.after.clone());
    edits.push(Edit::Set(path.clone().key(Side::After.word()), after));
    Ok(edits)
}

/// Whether two texts are the same number or the same word.
fn is_same(one: &str, other: &str) -> bool {
    match (one.parse::<f64>(), other.parse::<f64>()) {
        // Both were typed by people: `14290` and `14290.0` are one number.
        (Ok(one), Ok(other)) => one.total_cmp(&other).is_eq(),
        (Ok(_) | Err(_), Ok(_) | Err(_)) => one == other,
    }
}

fn value(field: &str, text: &str) -> Data {
    if field == "unit" { Data::text(text) } else { Data::Bare(text.to_owned()) }
}

fn append(measured: &Measured) -> Edit {
    let before = measured.before.as_deref().map(|text| ("before", value("before", text)));
    let unit = measured.unit.as_deref().map(|text| ("unit", value("unit", text)));
    let entry = [("name", Data::text(&measured.name))]
        .into_iter()
        .chain(before)
        .chain([("after", Data::Bare(measured.after.clone()))])
        .chain(unit);
    Edit::Append(Path::field("measurements"), Data::map(entry))
}

/// The edit that records the number of a proof: as the one before where there is none yet, else as
/// the one after.
pub(super) fn record(
    handoff: &Handoff<'_>,
    name: &str,
    number: &Number,
    side: Option<Side>,
) -> Edit {
    let found = entry(handoff, name);
    let has_before = found.as_ref().is_some_and(|(_, known)| known.get("before").is_some());
    let side = side.unwrap_or(if has_before { Side::After } else { Side::Before });
    let number = Data::Bare(number.to_string());
    match found {
        Some((path, _)) => Edit::Set(path.key(side.word()), number),
        None => {
            let entry = [("name", Data::text(name)), (side.word(), number)];
            Edit::Append(Path::field("measurements"), Data::map(entry))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::document::Document;
    use crate::format::stage::Stages;
    use crate::handoff::Whereabouts;

    const KNOWN: &str = "---\nhandoff:\n  id: a\n  measurements:\n    - name: Austin, cold # p95\n      before: 14290\n      unit: ms\n    - name: Tokyo\n---\n";

    fn filled(measured: &[Measured]) -> Result<String, Refusal> {
        let document = Document::parse(KNOWN.as_bytes());
        let (whereabouts, stages) = (Whereabouts::default(), Stages::shipped());
        let edits = fill(&Handoff::of(&document, &whereabouts, &stages), measured)?;
        Ok(document.edit(&edits).unwrap().0.text().to_owned())
    }

    fn measured(name: &str, before: Option<&str>, after: &str, unit: Option<&str>) -> Measured {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Measured {
            name: name.to_owned(),
            before: owned(before),
            after: after.to_owned(),
            unit: owned(unit),
        }
    }

    #[test]
    fn the_measurement_with_that_name_gets_its_after() {
        let austin = "    - name: Austin, cold # p95\n      before: 14290\n      after: 108\n      unit: ms\n    - name: Tokyo\n";
        for before in [None, Some("14290"), Some("14290.0")] {
            let text = filled(&[measured("Austin, cold", before, "108", Some("ms"))]).unwrap();
            assert!(text.contains(austin), "{text}");
        }
        let bare = filled(&[measured("Austin, cold", None, "108", None)]).unwrap();
        assert!(bare.contains(austin), "{bare}");
        let both = filled(&[measured("Tokyo", Some("381"), "97", Some("ms"))]).unwrap();
        assert!(
            both.contains(
                "    - name: Tokyo\n      before: 381\n      after: 97\n      unit: ms\n"
            ),
            "{both}"
        );
    }

    #[test]
    fn a_new_name_is_a_new_measurement() {
        let text = filled(&[measured("Oslo", Some("9"), "3", None)]).unwrap();
        assert!(text.contains("    - name: Oslo\n      before: 9\n      after: 3\n"), "{text}");
        let after_only = filled(&[measured("Oslo", None, "3", None)]).unwrap();
        assert!(after_only.contains("    - name: Oslo\n      after: 3\n"), "{after_only}");
    }

    #[test]
    fn of_two_with_one_name_the_last_one_counts() {
        let twice = [measured("Tokyo", None, "97", None), measured("Tokyo", None, "95", None)];
        let text = filled(&twice).unwrap();
        assert!(text.contains("    - name: Tokyo\n      after: 95\n"), "{text}");
    }

    #[test]
    fn another_number_before_is_refused() {
        let refused = |one| filled(&[one]).unwrap_err().to_string();
        assert_eq!(
            refused(measured("Austin, cold", Some("15000"), "108", None)),
            "`Austin, cold` has `before: 14290`, not 15000"
        );
        assert_eq!(
            refused(measured("Austin, cold", None, "1", Some("s"))),
            "`Austin, cold` has `unit: ms`, not s"
        );
    }
}
