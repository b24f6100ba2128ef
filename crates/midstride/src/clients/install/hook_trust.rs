//! Whether a client runs a hook of ours.

/// How a client that asks its user stands to a hook. Only a trusted one is run; the others are left
/// out without a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookTrust {
    /// The user trusts it as it is.
    Trusted,
    /// The user is going to be asked.
    Pending,
    /// It is another one than the user trusted, who is going to be asked again.
    Changed,
    /// The user switched it off.
    Disabled,
}
