//! Numbers of things in messages.

/// "1 subflow", "2 subflows".
pub fn count(number: usize, of: &str) -> String {
    format!("{number} {of}{}", if number == 1 { "" } else { "s" })
}
