//! Tests of agents that a client runs next to its session, with their own transcripts.

use super::hooks::{codex, did};
use super::project;
use super::talk::{Running, ids};
use midstride_testkit::{ModelServer, Turn};
use serde_json::{Value, json};

#[test]
#[ignore = "needs MIDSTRIDE_CLIENTS"]
fn a_codex_agent_belongs_to_its_session() {
    let sandbox = project();
    let spawn = json!({"message": "Find the callers of the totals"});
    // The requests of both come in any order, so the model gives both the same answers.
    let waits = || {
        let command = "until [ -e ~/both-asked ]; do :; done";
        Turn::calls("exec_command", json!({"cmd": command}))
    };
    let says = || Turn::says("The totals have two callers.");
    let spawns = Turn::calls("multi_agent_v1::spawn_agent", spawn);
    let model = ModelServer::start([spawns, waits(), waits(), says(), says(), says()]);
    let mut client = codex(&sandbox, &model);
    let running = Running::start(client.arg("Who calls the totals? Let an agent look"));
    model.wait_for_requests(3);
    std::fs::write(sandbox.home().join("both-asked"), "").unwrap();
    assert_eq!(running.wait(), Some(0));
    sandbox.run(["session", "recover"]).exits(0);
    let ids = ids(&sandbox);
    assert_eq!(ids.len(), 1, "{ids:?}");
    let shown = sandbox.run(["session", "show", &ids[0], "--json"]).exits(0).stdout;
    let shown: Value = serde_json::from_str(&shown).unwrap();
    let agent = &shown["session"]["agents"]["items"][0]["id"];
    let commands = shown["session"]["commands"]["items"].as_array().unwrap();
    let mut by: Vec<&Value> = commands.iter().map(|one| &one["seen"]["agent"]).collect();
    by.sort_by_key(|agent| agent.is_string());
    assert!(agent.is_string() && by == [&Value::Null, agent], "{shown:#}");
    // The agent's prompt is not a request of the user.
    let requests = shown["session"]["requests"]["items"].as_array().unwrap();
    assert_eq!(requests.len(), 1, "{shown:#}");
    did(&sandbox);
}
