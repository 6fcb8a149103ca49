//! What the kernel's controllers can be loaded with.

use pathweave_control::{ParameterKind, Value};
use pathweave_linux::kernel::{Settings, entry, names};

/// Other values than the default.
fn others(kind: &ParameterKind) -> Vec<Value> {
    let choices = |choices: &[&str]| {
        let texts = choices
            .iter()
            .map(|choice| Value::Text((*choice).to_string()));
        texts.collect::<Vec<_>>()
    };
    match kind {
        ParameterKind::Number {
            default,
            minimum,
            maximum,
            ..
        } => [*minimum, *maximum]
            .into_iter()
            .filter(|end| end != default)
            .map(Value::Number)
            .collect(),
        ParameterKind::Choice(all) => choices(&all[1..]),
        ParameterKind::PerSubflow { maximum, .. } => vec![Value::Number(*maximum)],
        ParameterKind::ChoiceOrNumber {
            choices: all,
            maximum,
            ..
        } => [choices(&all[1..]), vec![Value::Number(*maximum)]].concat(),
        ParameterKind::ChoiceOrPerSubflow {
            choices: all,
            minimum,
            maximum,
        } => {
            let numbers = Value::Numbers(vec![*maximum, *minimum]);
            [choices(&all[1..]), vec![Value::Number(*maximum), numbers]].concat()
        }
    }
}

#[test]
fn every_value_has_an_effect_or_is_refused() {
    let mut refused = Vec::new();
    for name in names() {
        let entry = entry(name).expect("a controller of the registry");
        let defaults = Settings::of(entry, &entry.defaults(), 2).expect("a counterpart");
        for parameter in entry.parameters {
            for value in others(&parameter.kind) {
                let given = [(parameter.name.to_string(), value.clone())];
                let parameters = entry.parameters(&given).expect("within the range");
                let what = format!("{name} with {} = {value:?}", parameter.name);
                match Settings::of(entry, &parameters, 2) {
                    Ok(settings) => assert_ne!(settings, defaults, "{what}"),
                    Err(_) => refused.push(what),
                }
            }
        }
    }
    assert_eq!(refused, ["fcc with step = Text(\"armijo\")"]);
}

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
