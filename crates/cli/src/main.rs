//! The `midstride` command.

fn main() {}
