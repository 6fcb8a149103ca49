//! The metrics as OpenMetrics text.

use crate::Failure;
use crate::kernel::{Operations, Pinned, Totals};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, text::encode};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;
use std::fmt;

/// One controller as it is now.
#[derive(Debug)]
struct Controller {
    name: String,
    capacity: u32,
    connections: usize,
    subflows: usize,
    suppressed: usize,
    failed: usize,
    totals: Totals,
}

#[derive(Debug)]
struct Look {
    controllers: Vec<Controller>,
    /// Controllers whose pins are not all there.
    incomplete: usize,
    operations: Operations,
}

/// Looks, and writes what is there.
///
/// # Errors
/// When pins may not be looked at.
pub fn text() -> Result<String, Failure> {
    let mut look = Look {
        controllers: Vec::new(),
        incomplete: 0,
        operations: Operations::read(),
    };
    for pinned in Pinned::all()? {
        match pinned.and_then(|pinned| controller(&pinned)) {
            Ok(controller) => look.controllers.push(controller),
            Err(_) => look.incomplete += 1,
        }
    }
    Ok(written(look))
}

fn written(look: Look) -> String {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(look));
    let mut text = String::new();
    encode(&mut text, &registry).expect("a String takes any text");
    text
}

fn controller(pinned: &Pinned) -> Result<Controller, Failure> {
    let connections = pinned.connections();
    let rows = || {
        connections
            .iter()
            .flat_map(|connection| &connection.subflows)
    };
    Ok(Controller {
        name: pinned.kernel_name.clone(),
        capacity: pinned.capacity(),
        connections: connections.len(),
        subflows: rows().count(),
        suppressed: rows().filter(|row| row.suppressed).count(),
        failed: rows().filter(|row| row.failed).count(),
        totals: pinned.totals()?,
    })
}

type Gauge = (&'static str, &'static str, fn(&Controller) -> i64);
type Counter = (&'static str, &'static str, fn(&Totals) -> u64);

const GAUGES: [Gauge; 5] = [
    ("rows", "Connections that have a row now", |c| {
        c.connections as i64
    }),
    (
        "rows_capacity",
        "Connections that can have a row at one time",
        |c| i64::from(c.capacity),
    ),
    ("subflows", "Subflows that have a row now", |c| {
        c.subflows as i64
    }),
    (
        "suppressed_subflows",
        "Subflows that the controller keeps from sending now",
        |c| c.suppressed as i64,
    ),
    (
        "failed_subflows",
        "Subflows whose path has failed and not recovered",
        |c| c.failed as i64,
    ),
];

const COUNTERS: [Counter; 10] = [
    ("connections_opened", "Connections that got a row", |t| {
        t.connections
    }),
    ("subflows_opened", "Subflows that got a row", |t| t.subflows),
    (
        "acknowledgements",
        "Acknowledgements received by subflows with a row",
        |t| t.acknowledgements,
    ),
    (
        "acknowledgements_without_row",
        "Acknowledgements received by subflows that found no row and behave as Reno",
        |t| t.acknowledgements_without_row,
    ),
    ("acknowledged_packets", "Packets acknowledged", |t| {
        t.packets
    }),
    ("marks", "Marks echoed by receivers", |t| t.marks),
    ("cuts", "Windows cut by marks", |t| t.cuts),
    ("losses", "Losses found by acknowledgements", |t| t.losses),
    (
        "timeouts",
        "Losses found by the retransmission timer",
        |t| t.timeouts,
    ),
    ("path_failures", "Subflows whose path has failed", |t| {
        t.failures
    }),
];

impl Collector for Look {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        for (name, help, value) in GAUGES {
            let gauge = ConstGauge::new(0_i64);
            let name = format!("pathweave_{name}");
            let mut family = encoder.encode_descriptor(&name, help, None, gauge.metric_type())?;
            for controller in &self.controllers {
                let labels = [("controller", controller.name.as_str())];
                ConstGauge::new(value(controller)).encode(family.encode_family(&labels)?)?;
            }
        }
        for (name, help, value) in COUNTERS {
            let counter = ConstCounter::new(0_u64);
            let name = format!("pathweave_{name}");
            let mut family = encoder.encode_descriptor(&name, help, None, counter.metric_type())?;
            for controller in &self.controllers {
                let labels = [("controller", controller.name.as_str())];
                ConstCounter::new(value(&controller.totals))
                    .encode(family.encode_family(&labels)?)?;
            }
        }
        let gauge = ConstGauge::new(self.incomplete as i64);
        let help = "Controllers that are only half loaded";
        gauge.encode(encoder.encode_descriptor(
            "pathweave_incomplete_controllers",
            help,
            None,
            gauge.metric_type(),
        )?)?;
        let counter = ConstCounter::new(0_u64);
        let help = "Loads and unloads since the machine started";
        let mut family =
            encoder.encode_descriptor("pathweave_operations", help, None, counter.metric_type())?;
        let Operations {
            loads,
            load_failures,
            unloads,
            unload_failures,
        } = self.operations;
        for (operation, outcome, number) in [
            ("load", "done", loads),
            ("load", "failed", load_failures),
            ("unload", "done", unloads),
            ("unload", "failed", unload_failures),
        ] {
            let labels = [("operation", operation), ("outcome", outcome)];
            ConstCounter::new(number).encode(family.encode_family(&labels)?)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dashboard_asks_for_metrics_that_are_there() {
        let look = Look {
            controllers: vec![Controller {
                name: "pw_xmp".to_owned(),
                capacity: 1,
                connections: 0,
                subflows: 0,
                suppressed: 0,
                failed: 0,
                totals: Totals::default(),
            }],
            incomplete: 0,
            operations: Operations::default(),
        };
        let text = written(look);
        let dashboard = include_str!("../../dashboard/grafana.json");
        let parsed: serde_json::Value = serde_json::from_str(dashboard).unwrap();
        let mut seen = 0;
        for panel in parsed["panels"].as_array().unwrap() {
            for target in panel["targets"].as_array().unwrap() {
                let asked = target["expr"].as_str().unwrap();
                let words = asked.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
                for name in words.filter(|word| word.starts_with("pathweave_")) {
                    assert!(text.contains(&format!("\n{name}{{")), "{name}: {text}");
                    seen += 1;
                }
            }
        }
        assert!(seen >= 8, "{seen}");
    }
}
