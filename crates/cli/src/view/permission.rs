//! What a person is asked to allow, exactly as it would be done.

use super::{exact, indented, shown_path, tame};
use midstride::verbs::{Allowable, Reach, TIMEOUT_SECONDS};
use midstride::workspace::permission::Granted;
use midstride::workspace::project::Project;
use midstride_core::handoff::proof::{Expectation, ExpectedExit, ProofSpec};
use serde::Serialize;

#[derive(Serialize)]
pub(crate) struct AllowableJson {
    key: String,
    proofs: Vec<ProofJson>,
}

#[derive(Serialize)]
struct ProofJson {
    number: usize,
    claim: Option<String>,
    test: Option<serde_json::Value>,
    not_understood: Option<String>,
    allowed: bool,
}

pub(crate) fn allowable_json(key: &str, proofs: &[Allowable]) -> AllowableJson {
    let proofs = proofs.iter().map(|proof| ProofJson {
        number: proof.number,
        claim: proof.claim.clone(),
        test: proof.test.as_ref().ok().map(ProofSpec::data),
        not_understood: proof.test.as_ref().err().map(ToString::to_string),
        allowed: proof.is_allowed,
    });
    AllowableJson { key: key.to_owned(), proofs: proofs.collect() }
}

#[derive(Serialize)]
pub(crate) struct GrantedJson {
    about: String,
    shown: String,
    at: Option<String>,
}

pub(crate) fn granted_json(granted: &[Granted]) -> Vec<GrantedJson> {
    let one = |granted: &Granted| GrantedJson {
        about: granted.about.clone(),
        shown: granted.shown.clone(),
        at: granted.at.map(|at| at.to_string()),
    };
    granted.iter().map(one).collect()
}

/// A line or more for each permission.
pub(crate) fn granted(granted: &[Granted]) -> String {
    let one = |granted: &Granted| {
        let day =
            granted.at.map_or_else(String::new, |at| format!("{}  ", at.strftime("%Y-%m-%d")));
        format!("{day}{}\n{}", tame(&granted.about), indented(&exact(&granted.shown)))
    };
    granted.iter().map(one).collect()
}

/// A proof as it would be run.
pub(crate) fn proof(proof: &Allowable) -> String {
    let claim = proof.claim.as_deref().unwrap_or("(no claim)");
    let allowed = if proof.is_allowed { " (allowed)" } else { "" };
    let mut out = format!("Proof {}{allowed}: {}\n", proof.number, exact(claim));
    match &proof.test {
        Ok(test) => out.push_str(&indented(&test_lines(test))),
        Err(why) => {
            out.push_str(&indented(&format!("not understood: {}", exact(&why.to_string()))));
        }
    }
    out
}

fn test_lines(test: &ProofSpec) -> String {
    let command = exact(&test.command).replace('\n', "\n          ");
    let folder = if test.directory.is_empty() {
        "the root of the project".to_owned()
    } else {
        exact(&test.directory)
    };
    let mut lines = vec![format!("runs      {command}"), format!("in        {folder}")];
    lines.push(format!("at most   {} s", test.timeout.unwrap_or(TIMEOUT_SECONDS)));
    lines.extend(
        expectations(&test.expectation).into_iter().map(|line| format!("expects   {line}")),
    );
    lines.extend(test.measures.as_ref().map(|name| format!("measures  {}", exact(name))));
    lines.join("\n")
}

fn expectations(expectation: &Expectation) -> Vec<String> {
    let exit = match expectation.exit {
        ExpectedExit::Code(code) => format!("exit code {code}"),
        ExpectedExit::Any => "any exit code".to_owned(),
    };
    let contains = expectation.contains.iter().map(|text| format!("output with `{}`", exact(text)));
    let matches = expectation.matches.iter().map(|text| format!("output like `{}`", exact(text)));
    let min = expectation.min.iter().map(|number| format!("a number of at least {number}"));
    let max = expectation.max.iter().map(|number| format!("a number of at most {number}"));
    std::iter::once(exit).chain(contains).chain(matches).chain(min).chain(max).collect()
}

#[derive(Serialize)]
pub(crate) struct ReachJson {
    configuration: Option<String>,
    shelves: Vec<OutsideJson>,
    trusted: bool,
}

#[derive(Serialize)]
struct OutsideJson {
    name: String,
    path: String,
}

pub(crate) fn reach_json(reach: &Reach) -> ReachJson {
    let shelves = reach.shelves.iter().map(|shelf| OutsideJson {
        name: shelf.name.clone(),
        path: shelf.path.display().to_string(),
    });
    ReachJson {
        configuration: reach.configuration.as_ref().map(|path| path.display().to_string()),
        shelves: shelves.collect(),
        trusted: reach.is_trusted,
    }
}

/// What a configuration reaches for.
pub(crate) fn reach(project: &Project, reach: &Reach) -> String {
    let path = reach.configuration.as_ref().map(|path| shown_path(project, path));
    let mut out = format!("{} names shelves outside the project:\n", path.unwrap_or_default());
    for shelf in &reach.shelves {
        let (name, path) = (exact(&shelf.name), exact(&shelf.path.display().to_string()));
        out.push_str(&format!("  {name}  reads *.md below {path}\n"));
    }
    out
}
