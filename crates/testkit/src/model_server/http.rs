//! The subset of HTTP that the clients use: sequential requests, with whole or streamed responses.

use serde_json::Value;
use std::io::{BufRead as _, BufReader, Error, ErrorKind, Read as _, Result, Write as _};
use std::net::TcpStream;

/// A request.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) path: String,
    pub(super) body: Vec<u8>,
}

/// A connection with a client.
#[derive(Debug)]
pub(super) struct Exchange {
    from: BufReader<TcpStream>,
    to: TcpStream,
    bodiless: bool,
}

impl Exchange {
    pub(super) fn new(stream: TcpStream) -> Result<Self> {
        Ok(Self { from: BufReader::new(stream.try_clone()?), to: stream, bodiless: false })
    }

    /// The next request; `None` when the client is done.
    pub(super) fn read(&mut self) -> Result<Option<Sent>> {
        let mut first = String::new();
        if self.from.read_line(&mut first)? == 0 {
            return Ok(None);
        }
        let mut words = first.split_whitespace();
        self.bodiless = words.next() == Some("HEAD");
        let path = words.next().unwrap_or_default().to_owned();
        let (mut length, mut chunked) = (0, false);
        loop {
            let mut line = String::new();
            self.from.read_line(&mut line)?;
            let Some((name, value)) = line.split_once(':') else { break };
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.trim().parse().map_err(invalid)?,
                "transfer-encoding" => chunked = value.trim().eq_ignore_ascii_case("chunked"),
                _ => {}
            }
        }
        let body = if chunked { self.chunks()? } else { self.bytes(length)? };
        Ok(Some(Sent { path, body }))
    }

    fn bytes(&mut self, length: usize) -> Result<Vec<u8>> {
        let mut body = vec![0; length];
        self.from.read_exact(&mut body)?;
        Ok(body)
    }

    fn chunks(&mut self) -> Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let mut line = String::new();
            self.from.read_line(&mut line)?;
            let length = usize::from_str_radix(line.trim(), 16).map_err(invalid)?;
            let chunk = self.bytes(length)?;
            self.bytes(2)?;
            if length == 0 {
                return Ok(body);
            }
            body.extend(chunk);
        }
    }

    /// Responds with a JSON body.
    pub(super) fn json(&mut self, status: u16, body: &str) -> Result<()> {
        let body = if self.bodiless { "" } else { body };
        write!(
            self.to,
            "HTTP/1.1 {status} as told\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )?;
        self.to.flush()
    }

    /// Responds with server-sent events; `whole` ends the response.
    pub(super) fn events(&mut self, events: &[(&'static str, Value)], whole: bool) -> Result<()> {
        self.to.write_all(
            b"HTTP/1.1 200 as told\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n",
        )?;
        for (name, data) in events {
            // An API may leave its events unnamed.
            let name = if name.is_empty() { String::new() } else { format!("event: {name}\n") };
            let event = format!("{name}data: {data}\n\n");
            write!(self.to, "{:x}\r\n{event}\r\n", event.len())?;
        }
        if whole {
            self.to.write_all(b"0\r\n\r\n")?;
        }
        self.to.flush()
    }
}

fn invalid(error: std::num::ParseIntError) -> Error {
    Error::new(ErrorKind::InvalidData, error)
}
