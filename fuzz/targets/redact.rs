//! Any bytes as a text with secrets: twice is once, pieces are the whole, and spans are letters.
#![no_main]

use libfuzzer_sys::fuzz_target;
use midstride_core::text::redact::{CleanText, RedactionRules, RedactionStream};

fuzz_target!(|bytes: &[u8]| {
    let mut streamed = Vec::new();
    let mut stream = RedactionStream::new(RedactionRules::shipped());
    for piece in bytes.chunks(7) {
        stream.push(piece, &mut streamed);
    }
    let counts = stream.finish(&mut streamed);
    assert_eq!(counts.values().sum::<usize>(), RedactionRules::shipped().find(bytes).len());
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (clean, found) = CleanText::redact(text);
    assert_eq!(clean.as_str().as_bytes(), streamed, "a piece changed something");
    assert!(found.iter().all(|secret| text.get(secret.at.range()).is_some()));
    assert!(CleanText::redact(clean.as_str()).1.is_empty(), "not clean: {}", clean.as_str());
});
