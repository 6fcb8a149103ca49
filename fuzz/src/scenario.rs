//! The reader of scenarios.

use pathweave_scenario::{Scenario, Selection};

/// Larger fabrics are refused before they are built: a fat-tree with k = 8 has 384 cables.
const LARGEST_FABRIC: u64 = 1_000;

/// Reads bytes as a scenario: it is one, or the messages say what is wrong.
///
/// # Panics
/// When a refusal has no message, or what was accepted cannot be planned or read again.
pub fn scenario(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    let selection = Selection {
        largest_fabric: Some(LARGEST_FABRIC),
        ..Selection::default()
    };
    match Scenario::from_text("scenario.toml", text, None, &selection) {
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
