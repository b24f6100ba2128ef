//! What it costs to read a transcript with typed, borrowed values and to do nothing with them: the
//! measure that `scripts/bench-capture` holds capturing against.
#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "a program of its own")]

use serde::Deserialize;
use std::borrow::Cow;
use std::io::BufRead as _;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record<'a> {
    #[serde(borrow)]
    r#type: Option<Cow<'a, str>>,
    #[serde(borrow)]
    uuid: Option<Cow<'a, str>>,
    #[serde(borrow)]
    parent_uuid: Option<Cow<'a, str>>,
    #[serde(borrow)]
    timestamp: Option<Cow<'a, str>>,
    #[serde(borrow)]
    message: Option<Message<'a>>,
    #[serde(borrow)]
    tool_use_result: Option<&'a serde_json::value::RawValue>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    content: Option<Content<'a>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Content<'a> {
    #[serde(borrow)]
    Text(Cow<'a, str>),
    #[serde(borrow)]
    Blocks(&'a serde_json::value::RawValue),
}

fn main() -> std::io::Result<()> {
    let path = std::env::args_os().nth(1).unwrap_or_default();
    let mut lines = std::io::BufReader::with_capacity(256 << 10, std::fs::File::open(path)?);
    let (mut line, mut records, mut bytes) = (Vec::new(), 0_u64, 0_usize);
    while lines.read_until(b'\n', &mut line)? > 0 {
        if let Ok(record) = serde_json::from_slice::<Record<'_>>(&line) {
            let texts = [&record.r#type, &record.uuid, &record.parent_uuid, &record.timestamp];
            bytes +=
                texts.iter().filter_map(|text| text.as_ref()).map(|text| text.len()).sum::<usize>();
            bytes += record.tool_use_result.map_or(0, |raw| raw.get().len());
            bytes +=
                record.message.and_then(|message| message.content).map_or(
                    0,
                    |content| match content {
                        Content::Text(text) => text.len(),
                        Content::Blocks(raw) => raw.get().len(),
                    },
                );
            records += 1;
        }
        line.clear();
    }
    println!("{records} records, {bytes} bytes of values");
    Ok(())
}
