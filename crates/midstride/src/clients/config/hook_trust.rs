//! Whether a client trusts one of midstride's hooks.

/// The trust that a client has in a hook, for clients that ask the user. The client runs only
/// trusted hooks and silently skips the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookTrust {
    /// The user trusts it in its current form.
    Trusted,
    /// The client will ask the user.
    Pending,
    /// It differs from what the user trusted, so the client will ask again.
    Changed,
    /// The user disabled it.
    Disabled,
}
