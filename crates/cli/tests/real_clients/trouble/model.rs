//! Tests of a model that cannot be reached, refuses, or breaks off.

use super::{CLIENTS, Client, Desk, LANDMINE, quoted};
use midstride_testkit::{Turn, json_items};
use serde_json::Value;

/// The checkpoint of the newest session.
fn newest(desk: &Desk) -> Value {
    // The sandbox would replace the id of the session.
    let mut list = desk.sandbox.command(env!("CARGO_BIN_EXE_midstride"));
    let list = list.args(["session", "list", "--json"]).output().unwrap();
    let list: Value = json_items(&list.stdout);
    assert_eq!(list[0]["captured"], "whole", "{list:#}");
    let shown =
        desk.sandbox.run(["session", "show", list[0]["session"].as_str().unwrap(), "--json"]);
    let shown: Value = serde_json::from_str(&shown.exits(0).stdout).unwrap();
    shown["session"].clone()
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn a_session_refused_by_its_model_is_captured_and_briefed() {
    for client in CLIENTS {
        let desk = Desk::new(client);
        let statuses = client.some_of(&[529, 401, 500, 400], 2);
        for (number, status) in statuses.iter().copied().enumerate() {
            let before = desk.model.requests().len();
            let command = format!("echo {number} > b.txt");
            desk.model.then([desk.runs(&command), Turn::fails(status)]);
            let heard = desk.session(&format!("Repair importer {number}"));
            assert_eq!(heard.code, Some(1), "{client:?} {status}: {heard:?}");
            let session = newest(&desk);
            let errors = session["api_errors"]["items"].as_array().unwrap();
            assert!(!errors.is_empty(), "{client:?} {status}: {session:#}");
            if client == Client::ClaudeCode {
                assert_eq!(errors[0]["status"], status, "{session:#}");
            }
            assert_eq!(session["commands"]["items"][0]["text"], command, "{session:#}");
            let end = desk.log().pop().unwrap();
            assert_eq!((&*end.0, &*end.1), ("SessionEnd", "captured"), "{client:?} {status}");
            // The previous session is briefed at its start.
            let asked = &desk.model.requests()[before];
            assert!(asked.says(LANDMINE), "{:#}", asked.body);
            if let Some(last) = number.checked_sub(1) {
                let told = quoted(&format!("Repair importer {last}"));
                assert!(asked.says(&told), "{client:?} {status}: {:#}", asked.body);
            }
        }
    }
}

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn a_broken_off_answer_is_not_an_answer() {
    for client in CLIENTS {
        let desk = Desk::new(client);
        let half = || Turn::says("Half of what I wanted to say").breaks_off();
        desk.model.then([desk.runs("echo two > b.txt"), half(), half(), half(), half()]);
        let heard = desk.session("Repair the importer of invoices");
        assert_eq!(heard.code, Some(1), "{client:?}: {heard:?}");
        let session = newest(&desk);
        assert!(session["api_errors"]["items"][0].is_object(), "{client:?}: {session:#}");
        assert_eq!(session["commands"]["items"][0]["exit"], "passed", "{client:?}: {session:#}");
        let before = desk.model.requests().len();
        desk.model.then([Turn::says("So it is.")]);
        desk.session("Go on");
        let asked = &desk.model.requests()[before];
        let told = quoted("Repair the importer of invoices");
        assert!(asked.says(&told), "{client:?}: {:#}", asked.body);
    }
}
