//! Links that lose packets and tell nobody.

use crate::plans::{self, counted, flags, link, lone_flow, table};
use pathweave_engine::Verdict;
use pathweave_scenario::{Change, LinkChange, Plan};
use pathweave_units::Time;

/// A flow of 20 MB whose bottleneck begins to lose packets with this probability at once, and with
/// `until` stops then.
fn lossy(probability: f64, until: Option<Time>) -> Plan {
    let mut plan = lone_flow(plans::fixed(20_000_000), plans::queue(1000, None));
    plan.groups[0].transport.minimum_rto = Time::from_millis(5);
    let bottleneck = link(&plan.fabric, "A", "B");
    let event = |at, probability| LinkChange {
        at,
        link: bottleneck,
        change: Change::Loss(probability),
    };
    plan.events.push(event(Time::ZERO, probability));
    plan.events.extend(until.map(|until| event(until, 0.0)));
    plan
}

#[test]
fn a_link_loses_as_many_as_it_should_and_the_flow_completes() {
    let output = plans::run(&lossy(0.02, None));
    assert_eq!(plans::finished(&output), [true]);
    let links = table(&output, "links");
    let (lost, sent) = (
        links.integers("lost_silently")[0] as f64,
        links.integers("packets")[0] as f64,
    );
    let deviation = (sent * 0.02 * 0.98).sqrt();
    assert!(
        (lost - 0.02 * sent).abs() < 4.0 * deviation,
        "{lost} of {sent}"
    );
    assert!(counted(&output, "retransmits")[0] as f64 >= lost);
    assert_eq!(links.integers("drops")[0], 0);
}

#[test]
fn it_ends_when_it_is_told_to() {
    let output = plans::run(&lossy(0.02, Some(Time::from_millis(20))));
    let some = table(&output, "links").integers("lost_silently")[0];
    let all = plans::run(&lossy(0.02, None));
    let all = table(&all, "links").integers("lost_silently")[0];
    assert!(some > 0 && some < all / 2, "{some}, {all}");
}

#[test]
fn a_link_that_loses_all_lets_nothing_through() {
    let mut plan = lossy(1.0, None);
    plan.stop.at = Some(Time::from_millis(100));
    let output = plans::run(&plan);
    assert_eq!(counted(&output, "delivered_bytes"), [0]);
    assert!(table(&output, "links").integers("lost_silently")[0] > 0);
}

#[test]
fn a_flow_whose_only_path_loses_everything_is_stalled_and_the_run_ends() {
    let plan = lossy(1.0, None);
    let output = plans::run(&plan);
    assert_eq!(output.verdict, Verdict::Stalled);
    assert_eq!(flags(&output, "stalled"), [true]);
    assert_eq!(plans::endings(&output), ["unfinished"]);
    assert!(output.counters.ended < Time::from_secs(10));
    // One direction is enough: no acknowledgement comes back.
    let mut plan = lossy(1.0, None);
    plan.events[0].link = plan.events[0].link.reverse();
    assert_eq!(plans::run(&plan).verdict, Verdict::Stalled);
    // As long as something may get through it is not stalled.
    let mut plan = lossy(0.9999, None);
    plan.stop.at = Some(Time::from_secs(1));
    assert_eq!(flags(&plans::run(&plan), "stalled"), [false]);
}

#[test]
fn the_run_waits_for_what_may_yet_bring_the_path_back() {
    // The loss ends long after the flow has counted as dead.
    let until = Time::from_secs(20);
    let output = plans::run(&lossy(1.0, Some(until)));
    assert_eq!(plans::finished(&output), [true]);
    assert!(output.counters.ended > until);
    // A loss that ends elsewhere does not help, nor a link that goes down and comes back there.
    let mut plan = lossy(1.0, None);
    let other = link(&plan.fabric, "S1", "A");
    for (at, change) in [
        (20, Change::Loss(0.0)),
        (30, Change::Down),
        (40, Change::Up),
    ] {
        plan.events.push(LinkChange {
            at: Time::from_secs(at),
            link: other,
            change,
        });
    }
    let output = plans::run(&plan);
    assert_eq!(output.verdict, Verdict::Stalled);
    assert!(output.counters.ended < Time::from_secs(10));
    // Down and lossy: coming up is not enough.
    let mut plan = lossy(1.0, None);
    let bottleneck = plan.events[0].link;
    for (at, change) in [(Time::from_millis(1), Change::Down), (until, Change::Up)] {
        plan.events.push(LinkChange {
            at,
            link: bottleneck,
            change,
        });
    }
    let output = plans::run(&plan);
    assert_eq!(output.verdict, Verdict::Stalled);
    assert!(output.counters.ended >= until);
}
