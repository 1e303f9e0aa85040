//! The `aerofed` command.
fn main() {}
