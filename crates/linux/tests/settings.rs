//! What the kernel's controllers can be loaded with.

use pathweave_control::Value;
use pathweave_linux::kernel::{Settings, entry};

#[test]
fn a_step_size_that_the_kernel_does_not_have_is_refused() {
    let fcc = entry("fcc").expect("a controller of the registry");
    let given = [("step".to_string(), Value::Text("armijo".to_string()))];
    let parameters = fcc.parameters(&given).expect("a choice of fcc");
    let refusal = Settings::of(fcc, &parameters, 2).expect_err("no counterpart");
    assert!(refusal.to_string().contains("use step = \"fixed\""));
    assert!(Settings::of(fcc, &fcc.defaults(), 2).is_ok());
}

#[test]
fn shares_are_multiples_of_two_to_the_minus_thirty() {
    let dctcp = entry("dctcp").expect("a controller of the registry");
    let settings = Settings::of(dctcp, &dctcp.defaults(), 3).expect("settings");
    assert_eq!(settings.values, [3, 1 << 26, 1 << 30]);
    assert!(settings.needs_ecn);
    let amp = entry("amp").expect("a controller of the registry");
    let settings = Settings::of(amp, &amp.defaults(), 1).expect("settings");
    assert_eq!(settings.values, [1, 1 << 28, 1, 2, 8]);
}
