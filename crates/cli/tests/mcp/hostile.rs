//! Tests of hostile input: nothing crashes, and nothing is written outside the project.

use super::{Client, ERAS, Era, server, shop};
use crate::hostile::{Tree, bytes_of, cases, raw_values};
use midstride_testkit::{Random, Sandbox};
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::path::PathBuf;

/// Where the server may write: in the project, and in midstride's user state.
fn ours(sandbox: &Sandbox) -> [PathBuf; 2] {
    [sandbox.root().to_owned(), sandbox.home().join(".local/state/midstride")]
}

#[test]
fn a_line_of_fifty_megabytes_is_refused_and_the_next_is_answered() {
    let sandbox = shop();
    // The memory limit is four times the input.
    let mut limited = sandbox.command("sh");
    let program = env!("CARGO_BIN_EXE_midstride");
    limited.args(["-c", "ulimit -v 200000; exec \"$0\" mcp", program]);
    let mut client = Client::of(&mut limited, Era::Handshake, &json!({}));
    let state = json!({"name": "a", "state": {"text": "x".repeat(50_000_000)}});
    let (code, message) =
        client.fault("tools/call", json!({"name": "state_save", "arguments": state}));
    assert_eq!(code, -32600);
    assert!(message.contains("limit 16777216"), "{message}");
    let dense = [
        format!("[{}0]", "0,".repeat(8_000_000)),
        format!("[{}{{}}]", "{},".repeat(5_000_000)),
        format!("[{}[]]", "[[[[]]]],".repeat(1_700_000)),
        format!("{{{}\"a\": 1}}", "\"a\":1,".repeat(2_700_000)),
        // Longer than what is read.
        format!("{{{}\"a\": 1}}", "\"field\": \"value\",".repeat(2_500_000)),
    ];
    for state in dense {
        let call = r#"{"jsonrpc":"2.0","id":"dense","method":"tools/call","params":{"name":"state_save","arguments":{"name":"a","state":STATE}}}"#;
        client.write(&call.replace("STATE", &state));
        let answer = client.receive();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("dense"), &json!(-32600)));
    }
    let batch =
        format!("[{}7]", r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"},"#.repeat(2_000));
    client.write(&batch);
    let message = client.receive()["error"]["message"].to_string();
    assert!(message.contains("2001 messages, limit 100"), "{message}");
    // A message that can be read must still respect the storage limit.
    let state = json!({"name": "a", "state": {"text": "x".repeat(2_000_000)}});
    assert!(client.refuses("state_save", state).contains("maximum is 1048576"));
    assert_eq!(client.ask("ping", json!({})), json!({}));
    client.ends();
}

#[test]
fn no_name_leads_out_of_the_project() {
    let sandbox = shop();
    std::fs::write(sandbox.home().join("secret.md"), "# The secret\n").unwrap();
    let outside = Tree::around(&sandbox, &ours(&sandbox));
    let names = [
        "../home/secret.md",
        "../../home/secret.md",
        "../home/secret",
        "/etc/passwd",
        "market-page-perf/../../../../home/secret.md",
        "..",
        "~/secret.md",
        "market\u{0}",
        "%2e%2e/home/secret.md",
        "file:///etc/passwd",
        "@{u}",
        "-",
        "--help",
        LONG,
    ];
    for era in ERAS {
        let mut client = Client::start(&sandbox, era);
        for name in names.into_iter().map(str::to_owned).chain([sandbox
            .home()
            .join("secret.md")
            .display()
            .to_string()])
        {
            let calls = [
                ("get", json!({"handoff": name})),
                ("check", json!({"handoff": name})),
                ("revise", json!({"handoff": name, "text": "x", "reason": "y"})),
                ("answer", json!({"handoff": name, "which": "q1", "text": "y"})),
                ("resolve", json!({"handoff": name, "outcome": "y"})),
                ("resolve", json!({"handoff": "market-page-perf", "superseded_by": name})),
                ("save", json!({"handoff": name, "title": "x", "summary": "y"})),
                ("state_save", json!({"name": name, "state": {}})),
                ("state_load", json!({"name": name})),
                ("state_update", json!({"name": name, "patch": {}})),
                ("tasks", json!({"task": name, "note": "y"})),
                ("tasks", json!({"subject": "x", "after": [name]})),
                ("save", json!({"title": "x", "summary": "y", "read": [name]})),
            ];
            for (tool, arguments) in calls {
                let told = client.refuses(tool, arguments);
                assert!(!told.contains("The secret"), "{tool} {name}: {told}");
                assert!(
                    told.contains("hint: ") && !told.contains("hint: `--"),
                    "{tool} {name}: {told}"
                );
            }
            let uri = format!("midstride://handoff/{}", name.replace('\0', "%00"));
            assert!(client.fault("resources/read", json!({"uri": uri})).0 < 0);
        }
        client.ends();
    }
    Tree::around(&sandbox, &ours(&sandbox)).is_as_before(&outside, "MCP");
}

/// A name that no file can have.
const LONG: &str = match std::str::from_utf8(&[b'x'; 5_000]) {
    Ok(text) => text,
    Err(_) => "",
};

/// Values of every type, each of them wrong somewhere.
fn odd_values() -> Vec<Value> {
    let deep = (0..100).fold(json!(1), |inner, _| json!([inner]));
    vec![
        json!(null),
        json!(true),
        json!(-1),
        json!(u64::MAX),
        json!(1e300),
        json!(""),
        json!("\u{0}\u{1b}[31m\u{202e}"),
        json!("a".repeat(100_000)),
        json!("`".repeat(5000)),
        json!("🦀\r\n---\nhandoff:\n  id: x\n---\n"),
        json!([]),
        json!(["", 1]),
        json!(["a", "b\u{0}"]),
        json!({}),
        json!({"a": {"b": null}}),
        deep,
    ]
}

#[test]
fn odd_values_are_always_answered() {
    let sandbox = shop();
    let mut client = Client::start(&sandbox, Era::Handshake);
    let list = client.ask("tools/list", json!({}));
    let outside = Tree::around(&sandbox, &ours(&sandbox));
    let mut answered = 0;
    for tool in list["tools"].as_array().unwrap() {
        let parameters = tool["inputSchema"]["properties"].as_object().unwrap();
        for name in parameters.keys() {
            for value in odd_values() {
                let mut arguments = json!({
                    "handoff": "market-page-perf", "text": "x", "reason": "y", "which": "q1",
                    "name": "a", "state": {}, "patch": {}, "words": "x", "title": "t",
                });
                arguments.as_object_mut().unwrap().retain(|key, _| parameters.contains_key(key));
                arguments[name] = value;
                let call = json!({"name": tool["name"], "arguments": arguments});
                let answer = client.answer("tools/call", call);
                let text = answer["result"]["content"][0]["text"].as_str();
                let message = answer["error"]["message"].as_str();
                let told = text.or(message).unwrap_or_else(|| panic!("{answer:#}"));
                assert!(!told.contains(['\u{0}', '\u{1b}', '\u{202e}']), "{told:?}");
                // Hints name tool parameters, not flags.
                assert!(!told.contains("hint: `--"), "{told}");
                answered += 1;
            }
        }
    }
    assert!(answered > 600);
    Tree::around(&sandbox, &ours(&sandbox)).is_as_before(&outside, "MCP");
    client.ends();
}

/// A raw request in which a value may be replaced by invalid JSON.
fn request(id: usize, method: &str, parameters: &[(String, Vec<u8>)]) -> Vec<u8> {
    let field = |(name, value): &(String, Vec<u8>)| [&quoted(name), &b":"[..], value].concat();
    let fields: Vec<Vec<u8>> = parameters.iter().map(field).collect();
    let start = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{{");
    [start.into_bytes(), fields.join(&b","[..]), b"}}".to_vec()].concat()
}

fn quoted(text: &str) -> Vec<u8> {
    json!(text).to_string().into_bytes()
}

/// A request to some method with something wrong in it.
fn odd_request(id: usize, tools: &[Value], values: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let value = |random: &mut Random| values[random.below(values.len())].clone();
    let methods = [
        ("tools/list", "cursor"),
        ("resources/list", "cursor"),
        ("resources/read", "uri"),
        ("resources/templates/list", "cursor"),
        ("prompts/list", "cursor"),
        ("prompts/get", "name"),
        ("prompts/get", "arguments"),
        ("initialize", "protocolVersion"),
        ("initialize", "capabilities"),
        ("initialize", "clientInfo"),
        ("server/discover", "_meta"),
        ("ping", "_meta"),
        ("tools/call", "name"),
        ("tools/call", "arguments"),
    ];
    if random.below(3) == 0 {
        let (method, name) = random.pick(&methods);
        let mut parameters = vec![(name.to_owned(), value(random))];
        if method != "initialize" && random.below(2) == 0 {
            parameters.push(("name".to_owned(), quoted("continue")));
        }
        return request(id, method, &parameters);
    }
    let tool = &tools[random.below(tools.len())];
    let names = tool["inputSchema"]["properties"].as_object().unwrap().keys();
    let arguments: Vec<(String, Vec<u8>)> = names
        .filter_map(|name| match (name.as_str(), random.below(4)) {
            (_, 0) => None,
            ("handoff", 1 | 2) => Some((name.clone(), quoted("market-page-perf"))),
            (_, 1) => Some((name.clone(), quoted("plain"))),
            (_, _) => Some((name.clone(), value(random))),
        })
        .collect();
    let field = |(name, value): &(String, Vec<u8>)| [&quoted(name), &b":"[..], value].concat();
    let inner: Vec<Vec<u8>> = arguments.iter().map(field).collect();
    let inner = [b"{".to_vec(), inner.join(&b","[..]), b"}".to_vec()].concat();
    let name = quoted(tool["name"].as_str().unwrap());
    request(id, "tools/call", &[("name".to_owned(), name), ("arguments".to_owned(), inner)])
}

impl Client {
    /// Sends bytes as one line, then a valid request. Returns all answers up to the one to that.
    fn survives(&mut self, bytes: &[u8]) -> Vec<Value> {
        let start = String::from_utf8_lossy(&bytes[..bytes.len().min(600)]).into_owned();
        let input = self.input.as_mut().expect("it is open");
        input.write_all(bytes).and_then(|()| input.write_all(b"\n")).expect("the server reads");
        self.last += 1;
        let id = format!("after-{}", self.last);
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": "ping"}));
        let mut answers = Vec::new();
        loop {
            let answer = self.receive();
            if answer["id"] == *id {
                assert_eq!(answer["result"], json!({}), "{start}");
                return answers;
            }
            let each = answer.as_array().cloned().unwrap_or_else(|| vec![answer.clone()]);
            for one in each {
                let is_fault = one["error"]["code"].is_i64() && one["error"]["message"].is_string();
                assert_eq!(one["jsonrpc"], "2.0", "{start}: {one}");
                assert!(is_fault || one["result"].is_object(), "{start}: {one}");
            }
            answers.push(answer);
        }
    }
}

#[test]
fn whatever_is_sent_the_next_request_is_answered() {
    let sandbox = shop();
    let outside = Tree::around(&sandbox, &ours(&sandbox));
    let mut client = Client::start(&sandbox, Era::Handshake);
    let list = client.ask("tools/list", json!({}));
    let tools = list["tools"].as_array().unwrap();
    let values = raw_values();
    for seed in 0..cases(400) {
        let mut random = Random::seeded(seed as u64);
        let mut line = odd_request(seed, tools, &values, &mut random);
        if random.below(10) == 0 {
            let more = odd_request(seed, tools, &values, &mut random);
            line = [b"[".to_vec(), [line, more].join(&b","[..]), b"]".to_vec()].concat();
        }
        client.survives(&bytes_of(line, &mut random));
    }
    // The server still works.
    let told = client.does("get", json!({"handoff": "market-page-perf"}));
    assert!(told.contains("market-page-perf"), "{told}");
    client.does("state_save", json!({"name": "after", "state": {"step": 1}}));
    client.ends();
    Tree::around(&sandbox, &ours(&sandbox)).is_as_before(&outside, "MCP");
}

#[test]
fn a_line_that_is_not_json_affects_nothing_else() {
    let sandbox = shop();
    let mut client = Client::start(&sandbox, Era::Handshake);
    let ping = r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;
    let deep =
        format!(r#"{{"jsonrpc":"2.0","id":7,"method":"ping","params":{}"#, "[".repeat(10_000));
    let batch = format!("[{}]", [ping; 100].join(","));
    let version = |version: &str| format!(r#"{{"jsonrpc":{version},"id":7,"method":"ping"}}"#);
    let id = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
    let cases: [(Vec<u8>, i64); 16] = [
        (format!("{ping}{ping}").into_bytes(), -32700),
        (format!("{ping} {ping}").into_bytes(), -32700),
        (format!("\u{feff}{ping}").into_bytes(), -32700),
        (b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"p\xff\"}".to_vec(), -32700),
        (b"\0\0\0".to_vec(), -32700),
        (deep.into_bytes(), -32700),
        ("[".repeat(100_000).into_bytes(), -32700),
        (version("\"1.0\"").into_bytes(), -32600),
        (version("2.0").into_bytes(), -32600),
        (version("[]").into_bytes(), -32600),
        (id("[7]").into_bytes(), -32600),
        (id("true").into_bytes(), -32600),
        (id("null").into_bytes(), -32600),
        (id("1e999").into_bytes(), -32700),
        (b"[[]]".to_vec(), -32600),
        (b"\"2.0\"".to_vec(), -32600),
    ];
    for (bytes, code) in cases {
        let about = String::from_utf8_lossy(&bytes[..bytes.len().min(80)]).into_owned();
        let answers = client.survives(&bytes);
        let [answer] = &answers[..] else { panic!("{about}: {answers:?}") };
        let answer = answer.get(0).unwrap_or(answer);
        assert_eq!(answer["error"]["code"], code, "{about}: {answer}");
    }
    assert_eq!(client.survives(batch.as_bytes())[0].as_array().unwrap().len(), 100);
    // Notifications get no answer, whatever they say.
    for silent in [
        r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"state_save","arguments":{"name":"silent","state":{}}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed","params":[]}"#,
        r#"{"jsonrpc":"2.0","method":"","params":7}"#,
        r#"{"jsonrpc":"2.0","id":"midstride-roots","result":{"roots":[{"uri":"file:///etc"},7]}}"#,
        r#"{"jsonrpc":"2.0","id":7,"error":7}"#,
        "  \t ",
    ] {
        assert_eq!(client.survives(silent.as_bytes()), Vec::<Value>::new(), "{silent}");
    }
    let told = client.does("state_load", json!({}));
    assert!(!told.contains("silent"), "{told}");
    client.ends();
}

#[test]
fn the_last_message_needs_no_line_break() {
    let sandbox = shop();
    let mut command = server(&sandbox);
    let mut client = Client::of(&mut command, Era::Modern, &json!({}));
    let input = client.input.as_mut().unwrap();
    input.write_all(br#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#).unwrap();
    client.input = None;
    assert_eq!(client.receive()["id"], 7);
    let mut rest = String::new();
    client.output.read_to_string(&mut rest).unwrap();
    assert_eq!((client.child.wait().unwrap().code(), rest.as_str()), (Some(0), ""));
}
