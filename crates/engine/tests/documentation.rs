//! The reference of the results names every table and column.

use crate::plans;
use pathweave_engine::Output;
use pathweave_fabric::routing::{FmpConfig, FmpPrice, RoutingKind};
use pathweave_network::SharedBufferConfig;
use pathweave_scenario::{Measure, Phase, Sampling};
use pathweave_units::{Bytes, Time};

const REFERENCE: &str = include_str!("../../../docs/results.md");

/// Whether the text has the name in code.
fn is_named(text: &str, name: &str) -> bool {
    let code = text.split('`').skip(1).step_by(2);
    code.into_iter().any(|code| code == name)
}

#[test]
fn every_table_and_column_is_documented() {
    let group = plans::group("reno", &[], plans::single(), plans::fixed(10_000));
    let fabric = plans::dumbbell(1, Time::from_micros(10));
    let mut plan = plans::plan(fabric, plans::queue(10, None), vec![group], None);
    let interval = Time::from_micros(10);
    plan.record.rates = Some(interval);
    plan.record.queues = Some(interval);
    plan.record.windows = Some(Sampling::Every(interval));
    plan.record.rtts = Some(Sampling::Every(interval));
    plan.record.suspensions = true;
    let phases = vec![Phase {
        name: "early".to_owned(),
        from: Time::ZERO,
        to: interval,
    }];
    plan.measure = Measure {
        phases,
        ..Measure::default()
    };
    let output = plans::run(&plan);
    assert_eq!(output.tables.len(), 4 + 3 + 5);
    assert_documented(&output);
}

#[test]
fn the_table_of_agents_is_documented() {
    let group = plans::group("rcp", &[], plans::single(), plans::fixed(10_000));
    let fabric = plans::dumbbell(1, Time::from_micros(10));
    let plan = plans::plan(fabric, plans::queue(10, None), vec![group], None);
    let output = plans::run(&plan);
    assert!(output.table("agents").is_some());
    assert_documented(&output);
}

#[test]
fn the_tables_of_switches_and_failures_are_documented() {
    let pattern = plans::flows(&[(0, 15, Time::ZERO)]);
    let group = plans::group("xmp", &[], pattern, plans::fixed(1_000_000));
    let mut plan = plans::plan(
        plans::fat_tree(4),
        plans::queue(50, None),
        vec![group],
        None,
    );
    plan.routing = RoutingKind::Fmp(FmpConfig {
        price: FmpPrice::Occupancy,
        feedback_period: Time::from_micros(100),
        silence_timeout: Time::from_micros(300),
        idle_expiry: Time::from_secs(1),
    });
    plan.shared_buffer = Some(SharedBufferConfig {
        size: Bytes::new(1_000_000),
        alpha: 1.0,
    });
    plans::down_between(&mut plan, ["core0.0", "agg0.0"], Time::from_millis(1), None);
    let output = plans::run(&plan);
    for table in ["fmp", "buffers", "recoveries"] {
        assert!(output.table(table).is_some(), "{table}");
    }
    assert_documented(&output);
}

fn assert_documented(output: &Output) {
    let missing: Vec<String> = output
        .tables
        .iter()
        .flat_map(|table| {
            let columns = table.columns.iter().map(|(name, _)| *name);
            columns
                .chain([table.name])
                .filter(|name| !is_named(REFERENCE, name))
                .map(|name| format!("{}: {name}", table.name))
        })
        .collect();
    assert!(missing.is_empty(), "docs/results.md lacks {missing:?}");
}
