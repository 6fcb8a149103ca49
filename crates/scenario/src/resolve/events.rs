//! What happens to links and switches, as changes of single links.

use super::{Report, Scene, links};
use crate::plan::{Change, LinkChange};
use crate::schema::{EventTable, StopTable};
use pathweave_fabric::{Fabric, LinkId, NodeId};
use pathweave_units::Time;

/// What an event is about.
enum Subject {
    Links(Vec<LinkId>),
    Node(NodeId),
}

/// The changes of links, in the order of their times.
pub(super) fn events(
    tables: &[EventTable],
    scene: &Scene<'_>,
    report: &mut Report<'_>,
) -> Vec<LinkChange> {
    let mut events = Vec::new();
    for (index, table) in tables.iter().enumerate() {
        let index = index.to_string();
        let change = change(table, &index, report);
        let subject = subject(table, &index, scene, report);
        if let (Some(change), Some(subject)) = (change, subject) {
            events.push((table.at.0, subject, change));
        }
    }
    // Events at one time keep the order of the file.
    events.sort_by_key(|&(at, ..)| at);
    let mut outages = Outages::new(scene.fabric);
    let of_event = |(at, subject, change): &(Time, Subject, Change)| {
        outages.changes(scene, *at, subject, change)
    };
    events.iter().flat_map(of_event).collect()
}

/// Refuses events that come when the run is over.
pub(super) fn check_times(tables: &[EventTable], stop: &StopTable, report: &mut Report<'_>) {
    let Some(end) = stop.end().map(|end| end.0).filter(|&end| end > Time::ZERO) else {
        return;
    };
    for (index, table) in tables.iter().enumerate() {
        let at = table.at.0;
        if at >= end {
            report.wrong(
                &["events", &index.to_string(), "at"],
                format!(
                    "the event at {at} comes when the run is over; give a time before {}, {end}",
                    stop.end_key()
                ),
            );
        }
    }
}

fn change(table: &EventTable, index: &str, report: &mut Report<'_>) -> Option<Change> {
    match (table.rate, table.down, table.up, table.loss) {
        (Some(rate), false, false, None) => Some(Change::Rate(rate.0)),
        (None, true, false, None) => Some(Change::Down),
        (None, false, true, None) => Some(Change::Up),
        (None, false, false, Some(loss)) if (0.0..=1.0).contains(&loss) => Some(Change::Loss(loss)),
        (None, false, false, Some(loss)) => {
            report.wrong(
                &["events", index, "loss"],
                format!("loss must be between 0 and 1, got {loss}"),
            );
            None
        }
        _ => {
            report.wrong(
                &["events", index],
                "an event does one thing; give one of rate = \"...\", down = true, up = true and loss = 0.01",
            );
            None
        }
    }
}

fn subject(
    table: &EventTable,
    index: &str,
    scene: &Scene<'_>,
    report: &mut Report<'_>,
) -> Option<Subject> {
    let found = match (&table.link, &table.node) {
        (Some(link), None) => links::links(link, scene)
            .map(Subject::Links)
            .map_err(|text| ("link", text)),
        (None, Some(name)) => match scene.names.node(name) {
            Some(node) => Ok(Subject::Node(node)),
            None => Err(("node", scene.names.unknown_node(name))),
        },
        _ => Err((
            "",
            "an event is about links; give one of link = \"A-B\" and node = \"A\"".to_owned(),
        )),
    };
    match found {
        Ok(subject) => Some(subject),
        Err((key, text)) => {
            report.wrong(&["events", index, key], text);
            None
        }
    }
}

/// What is down, by itself or with the node at one of its ends: a link carries packets when neither it
/// nor its nodes are down, so a switch that comes back does not bring back a link that broke.
struct Outages {
    links: Vec<bool>,
    nodes: Vec<bool>,
}

impl Outages {
    fn new(fabric: &Fabric) -> Outages {
        Outages {
            links: vec![false; fabric.links.len()],
            nodes: vec![false; fabric.nodes.len()],
        }
    }

    fn is_down(&self, link: LinkId, fabric: &Fabric) -> bool {
        let ends = fabric.link(link);
        self.links[link.0 as usize]
            || self.nodes[ends.from.0 as usize]
            || self.nodes[ends.to.0 as usize]
    }

    /// What an event changes of single links.
    fn changes(
        &mut self,
        scene: &Scene<'_>,
        at: Time,
        subject: &Subject,
        change: &Change,
    ) -> Vec<LinkChange> {
        let fabric = scene.fabric;
        let touched = match subject {
            Subject::Links(links) => links.clone(),
            Subject::Node(node) => links::links_of(*node, scene),
        };
        let one = |link: LinkId, change: &Change| LinkChange {
            at,
            link,
            change: change.clone(),
        };
        let goes_down = match change {
            Change::Down => true,
            Change::Up => false,
            Change::Rate(_) | Change::Loss(_) => {
                return touched.iter().map(|&link| one(link, change)).collect();
            }
        };
        let before: Vec<bool> = touched.iter().map(|&l| self.is_down(l, fabric)).collect();
        match subject {
            Subject::Links(links) => {
                for link in links {
                    self.links[link.0 as usize] = goes_down;
                }
            }
            Subject::Node(node) => self.nodes[node.0 as usize] = goes_down,
        }
        let touched = touched.iter().zip(before);
        let changed = touched.filter(|&(&link, before)| self.is_down(link, fabric) != before);
        changed.map(|(&link, _)| one(link, change)).collect()
    }
}
