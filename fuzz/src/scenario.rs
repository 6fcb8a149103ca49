//! The reader of scenarios.

/// Reads bytes as a scenario: it is one, or the messages say what is wrong.
///
/// # Panics
/// When a refusal has no message, or what was accepted cannot be planned or read again.
pub fn scenario(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    if is_large(text) {
        return;
    }
    match pathweave_scenario::check(text) {
        Ok(scenario) => {
            for variant in scenario.variants().iter().take(4) {
                let seed = scenario.seeds().first().copied().unwrap_or(1);
                let plan = variant.plan(seed);
                assert!(!plan.groups.is_empty());
            }
        }
        Err(errors) => {
            assert!(errors.len() > 0);
            assert!(errors.iter().all(|mistake| !mistake.message.is_empty()));
            assert!(!errors.render(80, false).is_empty());
        }
    }
}

/// Whether a text may ask for a fabric that takes seconds to build: a number of three digits, or one in
/// another base. Large times, sizes and rates are left to the random scenarios.
fn is_large(text: &str) -> bool {
    let is_digit = |byte: &u8| byte.is_ascii_digit() || *byte == b'_';
    let mut digits = 0;
    for byte in text.bytes() {
        digits = if is_digit(&byte) { digits + 1 } else { 0 };
        if digits > 2 {
            return true;
        }
    }
    text.contains("0x") || text.contains("0o") || text.contains("0b")
}
