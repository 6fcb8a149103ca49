//! What happens to links and switches, as changes of single links.

use super::{Problems, Scene, links};
use crate::plan::{Change, LinkChange};
use crate::schema::{EventTable, StopTable};
use crate::text::Either;
use pathweave_fabric::{Fabric, LinkId, NodeId};
use pathweave_units::Time;
use std::collections::HashSet;

/// What an event is about.
enum Subject {
    Links(Vec<LinkId>),
    Nodes(Vec<NodeId>),
}

/// The changes of links, in the order of their times.
pub(super) fn events(
    tables: &[EventTable],
    scene: &Scene<'_>,
    problems: &mut Problems<'_>,
) -> Vec<LinkChange> {
    let mut events = Vec::new();
    for (index, table) in tables.iter().enumerate() {
        let index = index.to_string();
        let change = change(table, &index, problems);
        let subject = subject(table, &index, scene, problems);
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
pub(super) fn check_times(tables: &[EventTable], stop: &StopTable, problems: &mut Problems<'_>) {
    let Some(end) = stop.end().map(|end| end.0).filter(|&end| end > Time::ZERO) else {
        return;
    };
    for (index, table) in tables.iter().enumerate() {
        let at = table.at.0;
        if at >= end {
            problems.wrong(
                &["events", &index.to_string(), "at"],
                format!(
                    "the event at {at} comes when the run is over; give a time before {}, {end}",
                    stop.end_key()
                ),
            );
        }
    }
}

fn change(table: &EventTable, index: &str, problems: &mut Problems<'_>) -> Option<Change> {
    match (table.rate, table.down, table.up, table.loss) {
        (Some(rate), false, false, None) => Some(Change::Rate(rate.0)),
        (None, true, false, None) => Some(Change::Down),
        (None, false, true, None) => Some(Change::Up),
        (None, false, false, Some(loss)) if (0.0..=1.0).contains(&loss) => Some(Change::Loss(loss)),
        (None, false, false, Some(loss)) => {
            problems.wrong(
                &["events", index, "loss"],
                format!("loss must be between 0 and 1, got {loss}"),
            );
            None
        }
        _ => {
            problems.wrong(
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
    problems: &mut Problems<'_>,
) -> Option<Subject> {
    let mut about = |key, texts: &Either<String, Vec<String>>| {
        let before = problems.found.len();
        let single = matches!(texts, Either::One(_));
        let mut subject = match key {
            "node" => Subject::Nodes(Vec::new()),
            _ => Subject::Links(Vec::new()),
        };
        for (place, text) in texts.as_slice().iter().enumerate() {
            if let Err(problem) = subject.add(key, text, scene) {
                let place = place.to_string();
                let steps = ["events", index, key, &place];
                problems.wrong(if single { &steps[..3] } else { &steps }, problem);
            }
        }
        if texts.as_slice().is_empty() {
            problems.wrong(
                &["events", index, key],
                format!("the list is empty; give at least one {key}"),
            );
        }
        (problems.found.len() == before).then_some(subject)
    };
    match (&table.link, &table.node, &table.layer) {
        (Some(links), None, None) => about("link", links),
        (None, Some(nodes), None) => about("node", nodes),
        (None, None, Some(layers)) => about("layer", layers),
        _ => {
            problems.wrong(
                &["events", index],
                "an event is about links; give one of link = \"A-B\", node = \"A\" and layer = \"core\"",
            );
            None
        }
    }
}

impl Subject {
    /// Adds what a text of this key names, once.
    fn add(&mut self, key: &str, text: &str, scene: &Scene<'_>) -> Result<(), String> {
        match self {
            Subject::Nodes(nodes) => {
                let node = scene.names.node(text);
                let node = node.ok_or_else(|| scene.names.unknown_node(text))?;
                if !nodes.contains(&node) {
                    nodes.push(node);
                }
            }
            Subject::Links(links) => {
                let named = match key {
                    "layer" => links::links_of_layer(text, scene.names)?,
                    _ => links::links(text, scene.names)?,
                };
                if let Some(&link) = named.iter().find(|&&link| scene.fabric.is_down(link))
                    && key == "link"
                {
                    return Err(format!(
                        "fabric.down takes \"{}\" out for the whole run; name links that are up, or let an event at 0 s take it down",
                        scene.fabric.link_names().cable(link)
                    ));
                }
                links.extend(named.iter().filter(|&&link| !scene.fabric.is_down(link)));
                let mut seen = HashSet::new();
                links.retain(|&link| seen.insert(link));
            }
        }
        Ok(())
    }

    /// All links that it is about, each once.
    fn links(&self, scene: &Scene<'_>) -> Vec<LinkId> {
        match self {
            Subject::Links(links) => links.clone(),
            Subject::Nodes(nodes) => {
                let mut seen = HashSet::new();
                let all = nodes
                    .iter()
                    .flat_map(|&node| links::links_of(node, scene.names));
                all.filter(|&link| seen.insert(link)).collect()
            }
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
            links: (0..fabric.links.len() as u32)
                .map(|link| fabric.is_down(LinkId(link)))
                .collect(),
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
        let touched = subject.links(scene);
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
            Subject::Nodes(nodes) => {
                for node in nodes {
                    self.nodes[node.0 as usize] = goes_down;
                }
            }
        }
        let touched = touched.iter().zip(before);
        let changed = touched.filter(|&(&link, before)| self.is_down(link, fabric) != before);
        changed.map(|(&link, _)| one(link, change)).collect()
    }
}
