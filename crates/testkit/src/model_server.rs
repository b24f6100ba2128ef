//! A fake model API on a loopback port that answers with the turns a test scripts.
//!
//! Each request of a client takes the next turn. Requests that a client makes on its own, such as
//! the summary of a compaction, are recognized and take no turn. All requests are recorded, so that
//! a test can check what the model received.

mod chat;
mod http;
mod messages;
mod responses;

use http::{Exchange, Sent};
use serde_json::Value;
use std::collections::VecDeque;
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;

/// An answer of the model.
#[derive(Clone, Debug, Default)]
pub struct Turn {
    text: Option<String>,
    calls: Vec<(String, Value)>,
    usage: Option<(u64, u64)>,
    status: Option<u16>,
    hangs: bool,
    breaks_off: bool,
}

impl Turn {
    /// Answers with a text.
    pub fn says(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::default() }
    }

    /// Answers with a tool call.
    pub fn calls(name: impl Into<String>, arguments: Value) -> Self {
        Self::default().and_calls(name, arguments)
    }

    /// Adds another tool call.
    pub fn and_calls(mut self, name: impl Into<String>, arguments: Value) -> Self {
        self.calls.push((name.into(), arguments));
        self
    }

    /// Reports the number of input and output tokens.
    pub fn using(mut self, input: u64, output: u64) -> Self {
        self.usage = Some((input, output));
        self
    }

    /// Fails with an HTTP status.
    pub fn fails(status: u16) -> Self {
        Self { status: Some(status), ..Self::default() }
    }

    /// Starts to answer and drops the connection before the end.
    pub fn breaks_off(self) -> Self {
        Self { breaks_off: true, ..self }
    }

    /// Starts to answer and never finishes.
    pub fn hangs() -> Self {
        Self { hangs: true, ..Self::default() }
    }
}

/// A request of a client.
#[derive(Clone, Debug)]
pub struct Request {
    /// The path, without the query string.
    pub path: String,
    /// The body.
    pub body: Value,
    /// Whether the client made the request on its own, so that it took no turn.
    pub aside: bool,
}

impl Request {
    /// All strings in the request, in order.
    pub fn texts(&self) -> Vec<&str> {
        let mut texts = Vec::new();
        collect(&self.body, &mut texts);
        texts
    }

    /// Whether a string of the request contains this text.
    pub fn says(&self, text: &str) -> bool {
        self.texts().iter().any(|one| one.contains(text))
    }

    /// How many times the request contains this text.
    pub fn says_times(&self, text: &str) -> usize {
        self.texts().iter().map(|one| one.matches(text).count()).sum()
    }
}

fn collect<'v>(value: &'v Value, texts: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(list) => list.iter().for_each(|value| collect(value, texts)),
        Value::Object(map) => map.values().for_each(|value| collect(value, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[derive(Debug, Default)]
struct State {
    turns: VecDeque<Turn>,
    summary: String,
    requests: Vec<Request>,
    ended: bool,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no test panics while it holds this")
    }
}

/// A fake model on its own port. It stops when it is dropped.
#[derive(Debug)]
pub struct ModelServer {
    port: u16,
    shared: Arc<Shared>,
    listening: Option<JoinHandle<()>>,
}

impl ModelServer {
    /// Starts a model with these turns. After the last one, it answers that it has none left.
    pub fn start(turns: impl IntoIterator<Item = Turn>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has a free port");
        let port = listener.local_addr().expect("it is bound").port();
        let shared = Arc::new(Shared::default());
        shared.lock().turns = turns.into_iter().collect();
        shared.lock().summary = "A summary of the conversation so far.".to_owned();
        let for_thread = Arc::clone(&shared);
        let listening = std::thread::spawn(move || listen(&listener, &for_thread));
        Self { port, shared, listening: Some(listening) }
    }

    /// The base URL.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Sets the answer to requests for a summary.
    pub fn summarises(&self, summary: impl Into<String>) -> &Self {
        self.shared.lock().summary = summary.into();
        self
    }

    /// Adds turns.
    pub fn then(&self, turns: impl IntoIterator<Item = Turn>) -> &Self {
        self.shared.lock().turns.extend(turns);
        self
    }

    /// Removes the turns that no request has taken yet.
    pub fn forget_turns(&self) -> &Self {
        self.shared.lock().turns.clear();
        self
    }

    /// The requests so far, without those a client made on its own.
    pub fn requests(&self) -> Vec<Request> {
        self.all_requests().into_iter().filter(|request| !request.aside).collect()
    }

    /// All requests so far.
    pub fn all_requests(&self) -> Vec<Request> {
        self.shared.lock().requests.clone()
    }

    /// Waits until this many requests were made.
    pub fn wait_for_requests(&self, count: usize) {
        let mut state = self.shared.lock();
        while state.requests.iter().filter(|request| !request.aside).count() < count {
            state = self.shared.changed.wait(state).expect("no test panics while it holds this");
        }
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.shared.lock().ended = true;
        self.shared.changed.notify_all();
        // Connect once to wake the listener, so that it notices the end.
        drop(TcpStream::connect(("127.0.0.1", self.port)));
        if let Some(listening) = self.listening.take() {
            drop(listening.join());
        }
    }
}

fn listen(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.lock().ended {
            return;
        }
        let Ok(stream) = stream else { continue };
        let shared = Arc::clone(shared);
        std::thread::spawn(move || {
            // Ignore clients that disconnect.
            let _ = serve(stream, &shared);
        });
    }
}

fn serve(stream: TcpStream, shared: &Shared) -> std::io::Result<()> {
    let mut exchange = Exchange::new(stream)?;
    while let Some(sent) = exchange.read()? {
        answer(&mut exchange, &sent, shared)?;
    }
    Ok(())
}

fn answer(exchange: &mut Exchange, sent: &Sent, shared: &Shared) -> std::io::Result<()> {
    let body: Value = serde_json::from_slice(&sent.body).unwrap_or_default();
    let path = sent.path.split('?').next().unwrap_or_default();
    match path {
        "/v1/messages" => {
            let aside = messages::is_aside(&body);
            let (turn, number) = take_turn(shared, path, body, aside);
            give(exchange, shared, &turn, &messages::answer(&turn, number))
        }
        "/v1/responses" => {
            let aside = responses::is_aside(&body);
            let (turn, number) = take_turn(shared, path, body, aside);
            give(exchange, shared, &turn, &responses::answer(&turn, number))
        }
        chat::PATH => {
            let aside = chat::is_aside(&body);
            let (turn, number) = take_turn(shared, path, body, aside);
            give(exchange, shared, &turn, &chat::answer(&turn, number))
        }
        "/v1/messages/count_tokens" => exchange.json(200, r#"{"input_tokens":1000}"#),
        "/" => exchange.json(200, "{}"),
        _ => exchange.json(404, r#"{"type":"error","error":{"type":"not_found_error"}}"#),
    }
}

/// Records a request and takes the next turn.
fn take_turn(shared: &Shared, path: &str, body: Value, aside: bool) -> (Turn, usize) {
    let mut state = shared.lock();
    state.requests.push(Request { path: path.to_owned(), body, aside });
    let turn = if aside {
        let element = match path {
            chat::PATH => chat::SUMMARY_ELEMENT,
            _ => "summary",
        };
        Turn::says(format!("<{element}>{}</{element}>", state.summary))
    } else {
        let next = state.turns.pop_front();
        next.unwrap_or_else(|| Turn::says("The test gave me nothing more to say."))
    };
    let number = state.requests.len();
    shared.changed.notify_all();
    (turn, number)
}

fn give(
    exchange: &mut Exchange,
    shared: &Shared,
    turn: &Turn,
    events: &[(&'static str, Value)],
) -> std::io::Result<()> {
    if let Some(status) = turn.status {
        let error = r#"{"type":"error","error":{"type":"api_error","message":"as the test says"}}"#;
        return exchange.json(status, error);
    }
    let sent_events = if turn.hangs { &events[..1] } else { events };
    if turn.breaks_off {
        // Without its last two events, clients recognize the answer as incomplete.
        exchange.events(&sent_events[..sent_events.len().saturating_sub(2)], false)?;
        return Err(std::io::ErrorKind::ConnectionAborted.into());
    }
    exchange.events(sent_events, !turn.hangs)?;
    let mut state = shared.lock();
    while turn.hangs && !state.ended {
        state = shared.changed.wait(state).expect("no test panics while it holds this");
    }
    Ok(())
}
