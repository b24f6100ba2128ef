//! A model that says what a test tells it to, over HTTP on loopback. The clients do not notice.
//!
//! Turns are given in order; each request of a client gets the next one. Requests that a client makes
//! for itself, such as the summary of a compaction, are told apart and cost no turn. Everything that
//! was asked is kept, so that a test can look at what the model really received.

mod http;
mod messages;
mod responses;

use http::{Exchange, Sent};
use serde_json::Value;
use std::collections::VecDeque;
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;

/// What the model does when it is asked.
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
    /// It says something.
    pub fn says(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::default() }
    }

    /// It calls a tool.
    pub fn calls(name: impl Into<String>, arguments: Value) -> Self {
        Self::default().and_calls(name, arguments)
    }

    /// It calls a tool besides.
    pub fn and_calls(mut self, name: impl Into<String>, arguments: Value) -> Self {
        self.calls.push((name.into(), arguments));
        self
    }

    /// It says how many tokens went in and came out.
    pub fn using(mut self, input: u64, output: u64) -> Self {
        self.usage = Some((input, output));
        self
    }

    /// It refuses with the status of an HTTP answer.
    pub fn fails(status: u16) -> Self {
        Self { status: Some(status), ..Self::default() }
    }

    /// It begins to answer, and the connection is lost before it has said all.
    pub fn breaks_off(self) -> Self {
        Self { breaks_off: true, ..self }
    }

    /// It begins to answer and never ends.
    pub fn hangs() -> Self {
        Self { hangs: true, ..Self::default() }
    }
}

/// What a client asked.
#[derive(Clone, Debug)]
pub struct Request {
    /// The path, without what follows a question mark.
    pub path: String,
    /// The body.
    pub body: Value,
    /// Whether the client asked for itself: no turn was taken for it.
    pub aside: bool,
}

impl Request {
    /// Every text in it, wherever it stands, in order.
    pub fn texts(&self) -> Vec<&str> {
        let mut texts = Vec::new();
        collect(&self.body, &mut texts);
        texts
    }

    /// Whether a text of it says this.
    pub fn says(&self, text: &str) -> bool {
        self.texts().iter().any(|one| one.contains(text))
    }

    /// How often it says this.
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

/// A model on a port of its own; it goes away with its value.
#[derive(Debug)]
pub struct ModelServer {
    port: u16,
    shared: Arc<Shared>,
    listening: Option<JoinHandle<()>>,
}

impl ModelServer {
    /// A model that takes these turns, and then says that it has none left.
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

    /// Where it is found, without a path.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// What it says when it is asked for a summary.
    pub fn summarises(&self, summary: impl Into<String>) -> &Self {
        self.shared.lock().summary = summary.into();
        self
    }

    /// Gives it more turns.
    pub fn then(&self, turns: impl IntoIterator<Item = Turn>) -> &Self {
        self.shared.lock().turns.extend(turns);
        self
    }

    /// Takes back the turns that no request has taken.
    pub fn forget_turns(&self) -> &Self {
        self.shared.lock().turns.clear();
        self
    }

    /// What it was asked so far, without what a client asked for itself.
    pub fn requests(&self) -> Vec<Request> {
        self.all_requests().into_iter().filter(|request| !request.aside).collect()
    }

    /// Everything it was asked so far.
    pub fn all_requests(&self) -> Vec<Request> {
        self.shared.lock().requests.clone()
    }

    /// Waits until it was asked so many times.
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
        // Whoever listens has to be woken to see that it is over.
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
            // A client that goes away in the middle is none of our business.
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
        "/v1/messages/count_tokens" => exchange.json(200, r#"{"input_tokens":1000}"#),
        "/" => exchange.json(200, "{}"),
        _ => exchange.json(404, r#"{"type":"error","error":{"type":"not_found_error"}}"#),
    }
}

/// Writes down what was asked and takes what comes next.
fn take_turn(shared: &Shared, path: &str, body: Value, aside: bool) -> (Turn, usize) {
    let mut state = shared.lock();
    state.requests.push(Request { path: path.to_owned(), body, aside });
    let turn = if aside {
        Turn::says(format!("<summary>{}</summary>", state.summary))
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
    let told = if turn.hangs { &events[..1] } else { events };
    if turn.breaks_off {
        // Without its last two events, nobody takes it for whole.
        exchange.events(&told[..told.len().saturating_sub(2)], false)?;
        return Err(std::io::ErrorKind::ConnectionAborted.into());
    }
    exchange.events(told, !turn.hangs)?;
    let mut state = shared.lock();
    while turn.hangs && !state.ended {
        state = shared.changed.wait(state).expect("no test panics while it holds this");
    }
    Ok(())
}
