//! Transports and controllers. What the generator knows nothing of is drawn by its schema, so that a new
//! setting with named values or a number takes part at once.

use super::draw::{Draw, Table, table};
use super::scale::Scale;
use pathweave_control::{Entry, ParameterKind, registry};
use pathweave_scenario::presets;
use pathweave_units::Rate;
use serde_json::Value;

/// A transport's table, and the largest payload and size of its data packets.
pub struct Transport {
    pub table: Table,
    pub maximum_segment: u64,
    pub data_packet: u64,
}

/// What a group's transport starts from.
pub enum Base<'a> {
    /// Nothing: it is the transport of all groups.
    None,
    /// The transport of all groups.
    Of(&'a Transport),
}

/// A transport that overrides `base`, with no more than a few keys as a rule.
pub fn transport(draw: &mut Draw, scale: &Scale, schema: &Value, base: Base<'_>) -> Transport {
    let mut table = Table::default();
    let own_preset = draw.chance(0.5);
    let default = &presets()[0];
    let preset = if own_preset {
        let preset = draw.pick(presets());
        table.set("preset", preset.name);
        preset
    } else {
        default
    };
    let (mut maximum_segment, mut data_packet) = match base {
        Base::Of(base) if !own_preset => (base.maximum_segment, base.data_packet),
        _ => {
            let config = preset.config("reno", Rate::from_gbps(1));
            let sizes = (config.maximum_segment, config.data_packet);
            (u64::from(sizes.0), u64::from(sizes.1))
        }
    };
    let density = *draw.pick(&[0.0, 0.0, 0.1, 0.4]);
    let properties = &schema["$defs"]["TransportTable"]["properties"];
    let keys = properties
        .as_object()
        .expect("the table of transports is in the schema");
    for (key, schema_of_key) in keys {
        if !draw.chance(density) {
            continue;
        }
        match key.as_str() {
            "preset" | "data_packet" | "receive_window" => {}
            // These need losses to be found by time, which needs selective acknowledgements.
            "loss_detection" | "tail_loss_probe" | "frto" | "undo" => {}
            "maximum_segment" => {
                // A run that only ends with its last byte has to get there.
                let least = if scale.ends { 200 } else { 1 };
                maximum_segment = draw.log_integer(least, 8900);
                data_packet = maximum_segment + draw.between(0, 100);
                table.set("data_packet", format!("{data_packet} B"));
                table.set("maximum_segment", format!("{maximum_segment} B"));
            }
            // The largest is never below the other two, so all are given.
            "minimum_rto" | "initial_rto" | "maximum_rto" => {
                let minimum = scale.length * draw.log(1e-3, 1.0);
                let initial = scale.length * draw.log(1e-3, 1.0);
                // Where the longest timeout is below the RTT, nothing but copies is sent, for ever.
                let rtt = 100.0 * scale.delay + scale.longest_wait();
                let least = if scale.ends { rtt } else { 0.0 };
                let maximum = (minimum.max(initial) * draw.log(1.01, 100.0)).max(least);
                table.set("minimum_rto", draw.time(minimum));
                table.set("initial_rto", draw.time(initial));
                table.set("maximum_rto", draw.time(maximum));
            }
            key => {
                let value = setting(draw, scale, key)
                    .or_else(|| by_schema(draw, schema, schema_of_key))
                    .unwrap_or_else(|| panic!("the generator has no value for transport.{key}"));
                table.set(key, value);
            }
        }
    }
    // Both have no effect with the timer, and are refused then.
    if ["failed_after", "reinject_after"]
        .iter()
        .any(|key| table.get(key).is_some())
    {
        table.set("reinjection", "timeouts");
    }
    let recovery = table.get("recovery").and_then(Value::as_str);
    let is_selective = recovery.is_none_or(|recovery| recovery == "sack");
    if !is_selective || draw.chance(density) {
        let by_time = is_selective && draw.chance(0.7);
        if by_time {
            table.set("recovery", "sack");
        }
        table.set("loss_detection", if by_time { "rack" } else { "dupacks" });
        for key in ["tail_loss_probe", "frto", "undo"] {
            if !by_time || draw.chance(0.7) {
                table.set(key, by_time && draw.chance(0.8));
            }
        }
    }
    if draw.chance(density) || table.get("maximum_segment").is_some() {
        // No window is shorter than a segment.
        let least = maximum_segment.max(9000) as f64;
        let window = draw.log(least, least * 100.0);
        let window = draw.bytes(window);
        let window = match draw.between(0, 3) {
            0 => "unlimited".into(),
            1 => "auto".into(),
            2 => window,
            _ => format!("{} per subflow", window.as_str().unwrap_or("1 MB")).into(),
        };
        table.set("receive_window", window);
    }
    Transport {
        table,
        maximum_segment,
        data_packet,
    }
}

/// A value of a setting whose range the schema does not tell.
fn setting(draw: &mut Draw, scale: &Scale, key: &str) -> Option<Value> {
    Some(match key {
        "initial_window" => draw.number(1.0, 64.0).into(),
        "minimum_window" => draw.number(1.0, 8.0).into(),
        "initial_ssthresh" => match draw.between(0, 2) {
            0 => "none".into(),
            1 => draw.number(1.0, 200.0).into(),
            _ => {
                let bytes = draw.log(9e3, 1e6);
                draw.bytes(bytes)
            }
        },
        "ack_every" => draw.log_integer(1, 16).into(),
        "ack_at_first" => draw.between(0, 30).into(),
        "send_bundle" if draw.chance(0.7) => draw.log_integer(2, 64).into(),
        "send_bundle" => "by-port-rate".into(),
        "ack_gather" => {
            let time = scale.length * draw.log(1e-6, 0.01);
            draw.time(time)
        }
        "ack_timeout" => {
            let timeout = scale.length * draw.log(1e-4, 1.0);
            draw.time(timeout)
        }
        "ack_packet" => {
            let bytes = draw.log(1.0, 1500.0);
            draw.bytes(bytes)
        }
        "tick" => {
            let tick = scale.length * draw.log(1e-6, 0.02);
            draw.time(tick)
        }
        "tick_phase" if draw.chance(0.5) => {
            let phase = scale.length * draw.log(1e-6, 0.1);
            draw.time(phase)
        }
        "tick_phase" => "by-host".into(),
        // No buffer is smaller than a segment.
        "receive_buffer" | "send_buffer" => {
            let bytes = draw.log(9e3, 1e8);
            draw.bytes(bytes)
        }
        "syn_linear_timeouts" => draw.between(0, 5).into(),
        "join_spread" => {
            let spread = scale.length * draw.log(1e-4, 0.3);
            draw.time(spread)
        }
        _ => return None,
    })
}

/// A value that the schema allows: one of its words, a flag, or a small number.
fn by_schema(draw: &mut Draw, root: &Value, schema: &Value) -> Option<Value> {
    if let Some(reference) = schema["$ref"].as_str() {
        return by_schema(draw, root, root.pointer(reference.trim_start_matches('#'))?);
    }
    for choice in ["anyOf", "oneOf"] {
        if let Some(choices) = schema[choice].as_array() {
            let choices: Vec<&Value> = choices.iter().filter(|one| one["type"] != "null").collect();
            let chosen = *draw.pick(&choices);
            return by_schema(draw, root, chosen);
        }
    }
    if let Some(constant) = schema.get("const") {
        return Some(constant.clone());
    }
    let types = &schema["type"];
    let is = |name: &str| {
        types == name
            || types
                .as_array()
                .is_some_and(|all| all.contains(&name.into()))
    };
    if is("boolean") {
        return Some(draw.chance(0.5).into());
    }
    if is("integer") {
        return Some(draw.between(1, 4).into());
    }
    if is("number") {
        return Some(draw.number(1.0, 4.0).into());
    }
    None
}

/// A controller of these, by name or with parameters. Lists for subflows have `subflows` numbers.
pub fn controller(draw: &mut Draw, entries: &[&'static Entry], subflows: u64) -> Value {
    let entry = *draw.pick(entries);
    let mut controller = table("name", entry.name);
    for parameter in entry.parameters {
        controller.maybe(draw, 0.3, parameter.name, |draw| {
            let number = |draw: &mut Draw, least, most, integer| -> Value {
                if integer {
                    draw.log_integer(least as u64, most as u64).into()
                } else {
                    draw.number(least, most).into()
                }
            };
            match parameter.kind {
                ParameterKind::Number {
                    minimum,
                    maximum,
                    integer,
                    ..
                } => number(draw, minimum, maximum, integer),
                ParameterKind::Choice(choices) => (*draw.pick(choices)).into(),
                ParameterKind::PerSubflow {
                    minimum, maximum, ..
                } => {
                    if draw.chance(0.5) {
                        return number(draw, minimum, maximum, false);
                    }
                    (0..subflows)
                        .map(|_| number(draw, minimum, maximum, false))
                        .collect()
                }
                ParameterKind::ChoiceOrNumber {
                    choices,
                    minimum,
                    maximum,
                } => {
                    if draw.chance(0.5) {
                        (*draw.pick(choices)).into()
                    } else {
                        number(draw, minimum, maximum, false)
                    }
                }
                ParameterKind::ChoiceOrPerSubflow {
                    choices,
                    minimum,
                    maximum,
                } => {
                    if draw.chance(0.4) {
                        return (*draw.pick(choices)).into();
                    }
                    if draw.chance(0.5) {
                        return number(draw, minimum, maximum, false);
                    }
                    (0..subflows)
                        .map(|_| number(draw, minimum, maximum, false))
                        .collect()
                }
            }
        });
    }
    let has_parameters = entry
        .parameters
        .iter()
        .any(|one| controller.get(one.name).is_some());
    if has_parameters || draw.chance(0.2) {
        controller.into()
    } else {
        entry.name.into()
    }
}

/// The controllers that need no help from switches.
pub fn end_to_end() -> Vec<&'static Entry> {
    registry()
        .iter()
        .filter(|entry| entry.scheme.is_none())
        .collect()
}

/// Those for which the switches of a fabric take part.
pub fn with_switches() -> Vec<&'static Entry> {
    registry()
        .iter()
        .filter(|entry| entry.scheme.is_some())
        .collect()
}
