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
    content: Option<&'a serde_json::value::RawValue>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow)]
    r#type: Option<Cow<'a, str>>,
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    input: Option<&'a serde_json::value::RawValue>,
    #[serde(borrow)]
    tool_use_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    content: Option<&'a serde_json::value::RawValue>,
}

/// How long the values of a message are: a text, or a list of blocks.
fn measured(content: &serde_json::value::RawValue) -> usize {
    let length = |text: &Option<Cow<'_, str>>| text.as_ref().map_or(0, |text| text.len());
    if let Ok(text) = serde_json::from_str::<Cow<'_, str>>(content.get()) {
        return text.len();
    }
    let blocks: Vec<Block<'_>> = serde_json::from_str(content.get()).unwrap_or_default();
    let each = |block: &Block<'_>| {
        let texts = [&block.r#type, &block.text, &block.name, &block.tool_use_id];
        let raw = [block.input, block.content];
        texts.into_iter().map(length).sum::<usize>()
            + raw.iter().flatten().map(|raw| raw.get().len()).sum::<usize>()
    };
    blocks.iter().map(each).sum()
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
            let content = record.message.and_then(|message| message.content);
            bytes += content.map_or(0, measured);
            records += 1;
        }
        line.clear();
    }
    println!("{records} records, {bytes} bytes of values");
    Ok(())
}
