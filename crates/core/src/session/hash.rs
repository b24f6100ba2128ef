//! A hash that is stable across versions and machines, because it is stored.

/// 64-bit FNV-1a over words of eight bytes. It distinguishes records and texts; it is not
/// cryptographic.
pub fn hash(bytes: &[u8]) -> u64 {
    const START: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let mut words = bytes.chunks_exact(8);
    let mut state = START ^ u64::try_from(bytes.len()).unwrap_or_default();
    for word in &mut words {
        let mut eight = [0; 8];
        eight.copy_from_slice(word);
        state = (state ^ u64::from_le_bytes(eight)).wrapping_mul(PRIME);
        // Multiplication only moves bits up, so this mixes the high bits back down.
        state ^= state >> 32;
    }
    for byte in words.remainder() {
        state = (state ^ u64::from(*byte)).wrapping_mul(PRIME);
    }
    state ^ (state >> 29)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_inputs_have_different_hashes() {
        let mut seen = std::collections::HashSet::new();
        for number in 0..20_000_u32 {
            assert!(seen.insert(hash(format!("record-{number}-of-many").as_bytes())));
        }
        // Stored values do not change.
        assert_eq!(hash(b""), 0xcbf2_9ce4_8422_2325 ^ (0xcbf2_9ce4_8422_2325 >> 29));
        assert_ne!(hash(b"a"), hash(b"a\0"));
    }
}
