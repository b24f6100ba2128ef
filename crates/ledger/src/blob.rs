//! Stored bytes, by their hash.

use midstride_core::text::id::BlobHash;
use sha2::{Digest as _, Sha256};
use std::borrow::Cow;

/// Bytes with their hash, computed once because hashing megabytes takes a millisecond.
#[derive(Debug)]
pub struct Blob<'b> {
    hash: BlobHash,
    bytes: Cow<'b, [u8]>,
}

impl<'b> Blob<'b> {
    /// Computes the hash of the bytes.
    pub fn new(bytes: impl Into<Cow<'b, [u8]>>) -> Self {
        let bytes = bytes.into();
        Self { hash: BlobHash::new(sha256(&bytes)), bytes }
    }

    /// The SHA-256 in hexadecimal.
    pub fn hash(&self) -> &BlobHash {
        &self.hash
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// The SHA-256 in hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
