//! Records measured numbers in the `measurements` field.

use super::LifecycleRefusal;
use crate::handoff::Handoff;
use crate::handoff::proof::Number;
use crate::text::edit::{Edit, HeaderPath};
use crate::text::yaml::{YamlData, YamlNode};

/// A measurement taken when a handoff was closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasuredValue {
    /// What was measured.
    pub name: String,
    /// The number before the work, if given.
    pub before: Option<String>,
    /// The number after the work.
    pub after: String,
    /// The unit of both numbers.
    pub unit: Option<String>,
}

impl MeasuredValue {
    /// Parses `NAME=[BEFORE:]AFTER [UNIT]`.
    pub fn parse(typed: &str) -> Option<Self> {
        let (name, numbers) = typed.rsplit_once('=')?;
        let (before, rest) = match numbers.split_once(':') {
            Some((before, rest)) => (Some(before.trim()), rest.trim()),
            None => (None, numbers.trim()),
        };
        let (after, unit) = rest.split_once(' ').unwrap_or((rest, ""));
        let is_number = |text: &str| text.parse::<f64>().is_ok_and(f64::is_finite);
        let name = name.trim();
        let is_valid = !name.is_empty() && before.is_none_or(is_number) && is_number(after);
        is_valid.then(|| Self {
            name: name.to_owned(),
            before: before.map(str::to_owned),
            after: after.to_owned(),
            unit: Some(unit.trim().to_owned()).filter(|unit| !unit.is_empty()),
        })
    }
}

/// The two sides of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeasurementSide {
    /// Before the work.
    Before,
    /// After the work.
    After,
}

impl MeasurementSide {
    fn word(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::After => "after",
        }
    }
}

/// The measurement with this name: its path in the header and its node.
fn find_entry<'d>(handoff: &Handoff<'d>, name: &str) -> Option<(HeaderPath, &'d YamlNode)> {
    let items = handoff.node("measurements").map(YamlNode::items).unwrap_or_default();
    let is_named = |item: &&YamlNode| {
        item.get("name").and_then(YamlNode::text).is_some_and(|text| text.value.trim() == name)
    };
    let index = items.iter().position(is_named)?;
    Some((HeaderPath::field("measurements").item(index), items[index]))
}

/// The edits that record measurements at closing: they set `after` of an existing entry or add a
/// new entry. A different number or unit in the handoff is refused, not replaced.
pub(super) fn record_values(
    handoff: &Handoff<'_>,
    measured: &[MeasuredValue],
) -> Result<Vec<Edit>, LifecycleRefusal> {
    let mut edits = Vec::new();
    for (index, one) in measured.iter().enumerate() {
        // If a name occurs twice, the last one counts.
        if measured[index + 1..].iter().any(|later| later.name == one.name) {
            continue;
        }
        match find_entry(handoff, &one.name) {
            Some((path, known)) => edits.extend(complete_entry(&path, known, one)?),
            None => edits.push(append_entry(one)),
        }
    }
    Ok(edits)
}

fn complete_entry(
    path: &HeaderPath,
    known: &YamlNode,
    measured: &MeasuredValue,
) -> Result<Vec<Edit>, LifecycleRefusal> {
    let mut edits = Vec::new();
    let given = [("before", &measured.before), ("unit", &measured.unit)];
    for (field, given) in given {
        let Some(given) = given else { continue };
        let written = known.get(field).and_then(YamlNode::text).map(|text| text.value.trim());
        match written.filter(|text| !text.is_empty()) {
            Some(written) if !is_same_value(written, given) => {
                let (name, has) = (measured.name.clone(), written.to_owned());
                return Err(LifecycleRefusal::MeasurementDiffers {
                    name,
                    field,
                    has,
                    given: given.clone(),
                });
            }
            Some(_) => {}
            None => edits.push(Edit::Set(path.clone().key(field), field_data(field, given))),
        }
    }
    let after = YamlData::Bare(measured.after.clone());
    edits.push(Edit::Set(path.clone().key(MeasurementSide::After.word()), after));
    Ok(edits)
}

/// Whether two texts are the same number or the same word.
fn is_same_value(one: &str, other: &str) -> bool {
    match (one.parse::<f64>(), other.parse::<f64>()) {
        // Both are typed by hand: `14290` and `14290.0` are the same number.
        (Ok(one), Ok(other)) => one.total_cmp(&other).is_eq(),
        (Ok(_) | Err(_), Ok(_) | Err(_)) => one == other,
    }
}

fn field_data(field: &str, text: &str) -> YamlData {
    if field == "unit" { YamlData::text(text) } else { YamlData::Bare(text.to_owned()) }
}

fn append_entry(measured: &MeasuredValue) -> Edit {
    let before = measured.before.as_deref().map(|text| ("before", field_data("before", text)));
    let unit = measured.unit.as_deref().map(|text| ("unit", field_data("unit", text)));
    let entry = [("name", YamlData::text(&measured.name))]
        .into_iter()
        .chain(before)
        .chain([("after", YamlData::Bare(measured.after.clone()))])
        .chain(unit);
    Edit::Append(HeaderPath::field("measurements"), YamlData::map(entry))
}

/// The edit that records a proof's number: as `before` if that is still empty, else as `after`.
pub(super) fn record_proof_number(
    handoff: &Handoff<'_>,
    name: &str,
    number: &Number,
    side: Option<MeasurementSide>,
) -> Edit {
    let found = find_entry(handoff, name);
    let has_before = found.as_ref().is_some_and(|(_, known)| known.get("before").is_some());
    let side =
        side.unwrap_or(if has_before { MeasurementSide::After } else { MeasurementSide::Before });
    let number = YamlData::Bare(number.to_string());
    match found {
        Some((path, _)) => Edit::Set(path.key(side.word()), number),
        None => {
            let entry = [("name", YamlData::text(name)), (side.word(), number)];
            Edit::Append(HeaderPath::field("measurements"), YamlData::map(entry))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::document::Document;
    use crate::format::stage::Stages;
    use crate::handoff::Location;

    const KNOWN: &str = "---\nhandoff:\n  id: a\n  measurements:\n    - name: Austin, cold # p95\n      before: 14290\n      unit: ms\n    - name: Tokyo\n---\n";

    fn filled(measured: &[MeasuredValue]) -> Result<String, LifecycleRefusal> {
        let document = Document::parse(KNOWN.as_bytes());
        let (location, stages) = (Location::default(), Stages::shipped());
        let edits = record_values(&Handoff::new(&document, &location, &stages), measured)?;
        Ok(document.edit(&edits).unwrap().0.text().to_owned())
    }

    fn measured(
        name: &str,
        before: Option<&str>,
        after: &str,
        unit: Option<&str>,
    ) -> MeasuredValue {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        MeasuredValue {
            name: name.to_owned(),
            before: owned(before),
            after: after.to_owned(),
            unit: owned(unit),
        }
    }

    #[test]
    fn a_measurement_fills_the_entry_with_its_name() {
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
    fn a_new_name_adds_a_measurement() {
        let text = filled(&[measured("Oslo", Some("9"), "3", None)]).unwrap();
        assert!(text.contains("    - name: Oslo\n      before: 9\n      after: 3\n"), "{text}");
        let after_only = filled(&[measured("Oslo", None, "3", None)]).unwrap();
        assert!(after_only.contains("    - name: Oslo\n      after: 3\n"), "{after_only}");
    }

    #[test]
    fn the_last_of_two_values_with_one_name_counts() {
        let twice = [measured("Tokyo", None, "97", None), measured("Tokyo", None, "95", None)];
        let text = filled(&twice).unwrap();
        assert!(text.contains("    - name: Tokyo\n      after: 95\n"), "{text}");
    }

    #[test]
    fn a_different_before_or_unit_is_refused() {
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
