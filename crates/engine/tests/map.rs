//! The map of the fabric: what its intervals say comes to what the links say.

use crate::plans::{self, table};
use pathweave_engine::{Column, Output};
use pathweave_scenario::Plan;
use pathweave_traffic::Size;
use pathweave_units::Time;

const INTERVAL: Time = Time::from_millis(3);
/// Not a multiple of the interval: the last one is shorter.
const END: Time = Time::from_millis(100);

/// Two flows on a bottleneck with a short queue, which marks and drops; it is down for ten milliseconds.
fn plan(map: Option<Time>) -> Plan {
    let pattern = plans::pairs(&[Time::ZERO, Time::from_millis(13)]);
    let group = plans::group("reno", &[], pattern, Size::Unlimited);
    let fabric = plans::dumbbell(2, Time::from_micros(50));
    let mut plan = plans::plan(fabric, plans::queue(20, None), vec![group], None);
    plan.stop.at = Some(END);
    plan.record.map = map;
    let (from, to) = (Time::from_millis(30), Time::from_millis(40));
    plans::down_between(&mut plan, ["A", "B"], from, Some(to));
    plan
}

fn names(output: &Output, name: &str) -> Vec<String> {
    match output.table(name).and_then(|table| table.column("link")) {
        Some(Column::Labels { names, codes }) => codes
            .iter()
            .map(|&code| names[code as usize].to_owned())
            .collect(),
        _ => panic!("the table {name} has no links"),
    }
}

#[test]
fn intervals_come_to_what_links_did() {
    let output = plans::run(&plan(Some(INTERVAL)));
    let (rows, of_row) = (table(&output, "map"), names(&output, "map"));
    let (links, of_link) = (table(&output, "links"), names(&output, "links"));
    let (times, utilisation) = (rows.numbers("time_s"), rows.numbers("utilisation"));
    let queues = rows.numbers("queue_mean");
    let (end, interval) = (END.as_secs_f64(), INTERVAL.as_secs_f64());
    let mut seen = 0;
    for (place, link) in of_link.iter().enumerate() {
        let own: Vec<usize> = (0..of_row.len())
            .filter(|&row| &of_row[row] == link)
            .collect();
        let length = |row: usize| {
            let short = end % interval;
            if times[row] == end { short } else { interval }
        };
        let sum = |column: &str| -> u64 { own.iter().map(|&row| rows.integers(column)[row]).sum() };
        assert_eq!(sum("marks"), links.integers("marks")[place], "{link}");
        let lost = links.integers("drops")[place] + links.integers("lost_to_failure")[place];
        assert_eq!(sum("drops"), lost, "{link}");
        let waited: f64 = own.iter().map(|&row| queues[row] * length(row)).sum();
        let expected = links.numbers("queue_mean")[place] * end;
        assert!(
            (waited - expected).abs() < 1e-9,
            "{link}: {waited}, {expected}"
        );
        // The capacity of the cable that fails is not the same in all intervals.
        if !["A->B", "B->A"].contains(&link.as_str()) {
            let sent: f64 = own.iter().map(|&row| utilisation[row] * length(row)).sum();
            let expected = links.numbers("utilisation")[place] * end;
            assert!((sent - expected).abs() < 1e-9, "{link}: {sent}, {expected}");
        }
        seen += usize::from(!own.is_empty());
    }
    assert_eq!(seen, of_link.len(), "every link carried something");
    assert!(of_row.len() < of_link.len() * 34, "idle links have no rows");
}

#[test]
fn a_link_that_is_down_has_no_utilisation() {
    let output = plans::run(&plan(Some(INTERVAL)));
    let (rows, of_row) = (table(&output, "map"), names(&output, "map"));
    let down: Vec<f64> = (0..of_row.len())
        .filter(|&row| of_row[row] == "A->B" && rows.numbers("utilisation")[row].is_nan())
        .map(|row| rows.numbers("time_s")[row])
        .collect();
    let whole = |at: f64| at - INTERVAL.as_secs_f64() >= 0.030 - 1e-9 && at <= 0.040 + 1e-9;
    assert_eq!(down.len(), 3);
    assert!(down.into_iter().all(whole));
}

#[test]
fn a_map_changes_nothing_else() {
    let (with, without) = (plans::run(&plan(Some(INTERVAL))), plans::run(&plan(None)));
    assert!(without.table("map").is_none());
    for table in &without.tables {
        // NaN differs from itself; its text does not.
        let (one, other) = (Some(table), with.table(table.name));
        assert_eq!(format!("{one:?}"), format!("{other:?}"));
    }
}
