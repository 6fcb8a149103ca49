//! Every port's queue.

use super::Problems;
use crate::plan::GroupPlan;
use crate::presets::Preset;
use crate::schema::{MarkTable, NoOptions, QueueTable, QueuesTable, Rule, SharedBufferTable};
use crate::suggest;
use crate::text::{PacketsOrBytes, QueueLimit};
use pathweave_fabric::{Fabric, Link};
use pathweave_network::{Limit, Marking, MarkingRule, QueueConfig, SharedBufferConfig, Threshold};
use pathweave_units::Bytes;

/// The memory that the ports of a switch share. Ports of switches then have no limit of their own unless one
/// is given; those of hosts keep the usual one.
pub(super) fn shared_buffer(
    tables: &mut QueuesTable,
    problems: &mut Problems<'_>,
) -> Option<SharedBufferConfig> {
    let SharedBufferTable { size, alpha } = tables.shared_buffer?;
    let size = size.0;
    if !(alpha > 0.0 && alpha <= 1024.0) {
        problems.wrong(
            &["fabric", "shared_buffer", "alpha"],
            format!("alpha is {alpha}; expected a number above 0 and at most 1024"),
        );
    }
    if size.get() > u64::from(u32::MAX) {
        problems.wrong(
            &["fabric", "shared_buffer", "size"],
            format!("a switch has no memory of {size}; expected less than 4 GiB"),
        );
    }
    tables.queue.limit = tables
        .queue
        .limit
        .or(Some(QueueLimit::Of(PacketsOrBytes::Bytes(size))));
    Some(SharedBufferConfig { size, alpha })
}

/// A port's limit if none is given.
const DEFAULT_LIMIT: QueueLimit = QueueLimit::Of(PacketsOrBytes::Packets(DEFAULT_PACKETS as f64));
const DEFAULT_PACKETS: u32 = 100;

/// The queues of a fabric's ports. Fills in the tables. Ports of hosts that hold packets back have no limit and no marks
/// unless the scenario gives them some.
pub(super) fn queues(
    tables: &mut QueuesTable,
    fabric: &Fabric,
    preset: &Preset,
    hosts_hold_back: bool,
    problems: &mut Problems<'_>,
) -> Option<PortQueues> {
    let base = queue(&tables.queue, None, preset, &["fabric", "queue"], problems);
    let base_table = tables.queue.clone();
    let of_hosts_that_hold_back = QueueTable {
        limit: Some(QueueLimit::None),
        mark: Some(MarkTable::None(NoOptions {})),
        drop_ecn_blind: base_table.drop_ecn_blind,
    };
    let base_of_hosts = if hosts_hold_back {
        &of_hosts_that_hold_back
    } else {
        &base_table
    };
    let fill = |table: &mut QueueTable, base, steps: &[&str], problems: &mut Problems<'_>| {
        let filled = queue(table, Some(base), preset, steps, problems)?;
        *table = QueueTable::from(&filled);
        Some(filled)
    };
    let mut by_layer = vec![base; fabric.layers.len()];
    for (name, table) in &mut tables.layer_queue {
        let steps = ["fabric", "layer_queue", name];
        match fabric.layers.iter().position(|layer| layer == name) {
            Some(layer) => by_layer[layer] = fill(table, &base_table, &steps, problems),
            None => {
                let layers: Vec<&str> = fabric.layers.iter().map(String::as_str).collect();
                let accepted = suggest::accepted(name, &layers);
                problems.wrong_key(
                    &steps,
                    format!("this fabric has no layer \"{name}\"; {accepted}"),
                );
            }
        }
    }
    if hosts_hold_back {
        tables.host_queue.get_or_insert_default();
    }
    let host = match &mut tables.host_queue {
        Some(table) => {
            let steps = ["fabric", "host_queue"];
            Some(fill(table, base_of_hosts, &steps, problems)?)
        }
        None => None,
    };
    tables.queue = QueueTable::from(&base?);
    Some(PortQueues {
        by_layer: by_layer.into_iter().collect::<Option<_>>()?,
        of_hosts: host,
        memory: tables.shared_buffer.map(|shared| shared.size.0),
    })
}

/// The queues of a fabric's ports, by what decides which one a port has.
#[derive(Clone, Debug)]
pub(crate) struct PortQueues {
    by_layer: Vec<QueueConfig>,
    /// That of hosts, where theirs is not that of their layer.
    of_hosts: Option<QueueConfig>,
    /// The memory that the ports of a switch share.
    memory: Option<Bytes>,
}

impl PortQueues {
    /// The queue of each link's port, by link.
    pub fn of_links(&self, fabric: &Fabric) -> Vec<QueueConfig> {
        let of_link = |link: &Link| {
            let is_host = fabric.node(link.from).host_index().is_some();
            let of_layer = self.by_layer[usize::from(link.layer.0)];
            match self.of_hosts {
                Some(queue) if is_host => queue,
                _ if is_host && self.memory.map(Limit::Bytes) == Some(of_layer.limit) => {
                    without_memory(of_layer)
                }
                _ => of_layer,
            }
        };
        fabric.links.iter().map(of_link).collect()
    }
}

/// Hosts share no memory: where that is the limit, theirs is the usual one, and no less than what marks.
fn without_memory(queue: QueueConfig) -> QueueConfig {
    let marks = match queue.marking {
        Marking::Step {
            threshold: Threshold::Packets(k),
            ..
        } => k as u32,
        _ => 0,
    };
    QueueConfig {
        limit: Limit::Packets(marks.max(DEFAULT_PACKETS)),
        ..queue
    }
}

/// Refuses limits in bytes that are shorter than a packet: nothing would ever pass.
pub(super) fn check_that_packets_fit(
    queues: &[QueueConfig],
    shared: Option<SharedBufferConfig>,
    groups: &[GroupPlan],
    problems: &mut Problems<'_>,
) {
    let longest = groups.iter().map(|group| group.transport.data_packet).max();
    if let (Some(shared), Some(longest)) = (shared, longest)
        && shared.size.get() < u64::from(longest)
    {
        problems.wrong(
            &["fabric", "shared_buffer", "size"],
            format!(
                "a buffer of {} cannot hold a packet of {longest} B; expected at least {longest} B",
                shared.size
            ),
        );
        return;
    }
    let limits = queues.iter().filter_map(|queue| match queue.limit {
        Limit::Bytes(bytes) => Some(bytes),
        Limit::Packets(_) | Limit::None => None,
    });
    if let (Some(shortest), Some(longest)) = (limits.min(), longest)
        && shortest.get() < u64::from(longest)
    {
        problems.wrong(
            &["fabric", "queue", "limit"],
            format!("a queue of {shortest} cannot hold a packet of {longest} B; expected at least {longest} B"),
        );
    }
}

/// One queue; what the table leaves out is as in `base`.
fn queue(
    table: &QueueTable,
    base: Option<&QueueTable>,
    preset: &Preset,
    steps: &[&str],
    problems: &mut Problems<'_>,
) -> Option<QueueConfig> {
    let limit = table.limit.or_else(|| base?.limit).unwrap_or(DEFAULT_LIMIT);
    let limit_steps = [steps, &["limit"]].concat();
    let limit = match limit {
        QueueLimit::None => Limit::None,
        QueueLimit::Of(PacketsOrBytes::Packets(packets))
            if (1.0..=1e9).contains(&packets) && packets as u32 as f64 == packets =>
        {
            Limit::Packets(packets as u32)
        }
        QueueLimit::Of(PacketsOrBytes::Packets(packets)) => {
            problems.wrong(
                &limit_steps,
                format!("a queue cannot hold {packets} packets; expected a whole number from 1 to 1000000000"),
            );
            return None;
        }
        QueueLimit::Of(PacketsOrBytes::Bytes(bytes))
            if bytes.get() == 0 || bytes.get() > u64::from(u32::MAX) =>
        {
            problems.wrong(
                &limit_steps,
                format!("a queue cannot hold {bytes}; expected more than 0 B and less than 4 GiB"),
            );
            return None;
        }
        QueueLimit::Of(PacketsOrBytes::Bytes(bytes)) => Limit::Bytes(bytes),
    };
    let mark_steps = [steps, &["mark"]].concat();
    let mark = table.mark.as_ref().or_else(|| base?.mark.as_ref());
    let marking = match marking(mark, limit, preset) {
        Ok(marking) => marking,
        Err((key, text)) => {
            problems.wrong(&[&mark_steps[..], &[key]].concat(), text);
            return None;
        }
    };
    let drop_ecn_blind = table
        .drop_ecn_blind
        .or_else(|| base?.drop_ecn_blind)
        .unwrap_or(preset.drop_ecn_blind);
    Some(QueueConfig {
        limit,
        marking,
        drop_ecn_blind,
    })
}

fn marking(
    mark: Option<&MarkTable>,
    limit: Limit,
    preset: &Preset,
) -> Result<Marking, (&'static str, String)> {
    let share = |key: &'static str, value: f64| {
        if value > 0.0 && value <= 1.0 {
            return Ok(());
        }
        Err((
            key,
            format!("{key} is {value}; expected a number above 0 and at most 1"),
        ))
    };
    let begins_marking_at = |from: f64| {
        if (0.0..=1e9).contains(&from) {
            return Ok(());
        }
        let text = format!("from is {from}; expected 0 packets or more");
        Err(("from", text))
    };
    match mark {
        None | Some(MarkTable::None(_)) => Ok(Marking::None),
        Some(MarkTable::Step(step)) => {
            let beyond = match (step.k, limit) {
                (PacketsOrBytes::Packets(k), Limit::Packets(limit)) => k > f64::from(limit),
                (PacketsOrBytes::Bytes(k), Limit::Bytes(limit)) => k > limit,
                _ => false,
            };
            if beyond {
                let text = "k is above the queue's limit, so nothing would ever be marked; give a k up to the limit, or mark = { kind = \"none\" }";
                return Err(("k", text.to_owned()));
            }
            let threshold = match step.k {
                PacketsOrBytes::Packets(k) if k <= 1e9 => Threshold::Packets(k),
                PacketsOrBytes::Packets(k) => {
                    return Err((
                        "k",
                        format!("k is {k}; expected at most 1000000000 packets"),
                    ));
                }
                PacketsOrBytes::Bytes(k) => Threshold::Bytes(k),
            };
            let rule = match step.rule {
                Some(Rule::Above) => MarkingRule::Above,
                Some(Rule::AtOrAbove) => MarkingRule::AtOrAbove,
                None => preset.rule,
            };
            Ok(Marking::Step { threshold, rule })
        }
        Some(MarkTable::Red(red)) => {
            let (from, to) = (red.from, red.to);
            begins_marking_at(from)?;
            if !(to >= from && to <= 1e9) {
                let text = format!("to is {to}; expected at least from, {from}");
                return Err(("to", text));
            }
            share("probability", red.probability)?;
            share("weight", red.weight)?;
            Ok(Marking::Red {
                from,
                to,
                probability: red.probability,
                weight: red.weight,
            })
        }
        Some(MarkTable::Linear(linear)) => {
            let (from, to) = (linear.from, linear.to);
            begins_marking_at(from)?;
            if !(to > from && to <= 1e9) {
                return Err(("to", format!("to is {to}; expected more than from, {from}")));
            }
            share("probability", linear.probability)?;
            Ok(Marking::Linear {
                from,
                to,
                probability: linear.probability,
            })
        }
        Some(MarkTable::Proportional(proportional)) => {
            share("high", proportional.high)?;
            let Limit::Packets(limit) = limit else {
                let text =
                    "marking in proportion to the queue counts packets; give the limit in packets";
                return Err(("kind", text.to_owned()));
            };
            let high = proportional.high;
            Ok(Marking::Linear {
                from: 0.0,
                to: high * f64::from(limit),
                probability: high,
            })
        }
    }
}
