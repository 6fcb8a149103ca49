//! Two-level routing on a fat-tree: every host has one address for each core switch. Switches forward
//! downwards by the part of the destination's address that names its place, and upwards by the part
//! that names the core; so the destination's address alone decides the path.
//! Source: Al-Fares, Loukissas, Vahdat, SIGCOMM 2008; several addresses a host as in XMP, CoNEXT 2013.

use crate::{Adjacency, Fabric, FabricError, LinkId, Node, NodeId};

/// The up-links of a fat-tree in flat arrays; the way down is the way up of the destination, reversed.
#[derive(Clone, Debug)]
pub(super) struct TwoLevel {
    /// Aggregation switches in a pod.
    aggregations: usize,
    /// Core switches above one aggregation switch.
    cores: usize,
    /// Each host's only link.
    host_up: Vec<LinkId>,
    /// Each host's edge switch, numbered by `edges`.
    edge_of: Vec<u32>,
    /// The pod of each edge switch, numbered by `pods`.
    pod_of: Vec<u32>,
    /// From edge switch to the aggregation switch in position i: `edge x aggregations + i`.
    edge_up: Vec<LinkId>,
    /// From the aggregation switch in position i to its j-th core: `(pod x aggregations + i) x cores + j`.
    aggregation_up: Vec<LinkId>,
}

impl TwoLevel {
    /// Recognises a fat-tree by its racks, pods and cables: edge switches stand in racks, aggregation
    /// switches in pods only, core switches in neither; every edge switch has one cable to every
    /// aggregation switch of its pod, and the i-th aggregation switches of all pods share their cores.
    pub(super) fn new(fabric: &Fabric) -> Result<TwoLevel, FabricError> {
        TwoLevel::recognise(fabric).map_err(|reason| {
            FabricError(format!(
                "two-level routing works on fat-trees only: {reason}; use \"ecmp\" here"
            ))
        })
    }

    fn recognise(fabric: &Fabric) -> Result<TwoLevel, String> {
        let adjacency = Adjacency::new(fabric);
        let name = |node: NodeId| fabric.node(node).name.as_str();
        let mut edges = Vec::new();
        let mut aggregations_by_pod: Vec<Vec<NodeId>> = Vec::new();
        let mut pods: Vec<u32> = Vec::new();
        let mut core_count = 0;
        for (index, node) in fabric.nodes.iter().enumerate() {
            let id = NodeId(index as u32);
            if node.host_index().is_some() {
                continue;
            }
            if node.pod == Node::NOWHERE {
                core_count += 1;
                continue;
            }
            let pod = position_or_push(&mut pods, node.pod);
            if pod == aggregations_by_pod.len() {
                aggregations_by_pod.push(Vec::new());
            }
            if node.rack == Node::NOWHERE {
                aggregations_by_pod[pod].push(id);
            } else {
                edges.push((id, pod));
            }
        }
        let aggregations = aggregations_by_pod.first().map_or(0, Vec::len);
        if core_count == 0 || aggregations == 0 {
            return Err("this fabric has no core or no aggregation switches".to_owned());
        }
        if core_count % aggregations != 0 {
            return Err(format!(
                "{core_count} core switches cannot be shared out among {aggregations} aggregation switches of a pod"
            ));
        }
        let cores = core_count / aggregations;

        // Cores in the order of the first pod's aggregation switches give everything its position.
        let mut core_position = vec![usize::MAX; fabric.nodes.len()];
        let is_core = |node: NodeId| {
            fabric.node(node).pod == Node::NOWHERE && fabric.node(node).host_index().is_none()
        };
        let up_links = |node: NodeId| -> Vec<LinkId> {
            let links = adjacency.out(node).iter().copied();
            links
                .filter(|&link| is_core(fabric.link(link).to))
                .collect()
        };
        for (i, &aggregation) in aggregations_by_pod[0].iter().enumerate() {
            let mut above: Vec<NodeId> = up_links(aggregation)
                .into_iter()
                .map(|link| fabric.link(link).to)
                .collect();
            above.sort_unstable();
            for (j, &core) in above.iter().take(cores).enumerate() {
                core_position[core.0 as usize] = i * cores + j;
            }
        }

        let unset = LinkId(u32::MAX);
        let mut aggregation_up = vec![unset; pods.len() * core_count];
        let mut aggregation_position = vec![usize::MAX; fabric.nodes.len()];
        for (pod, switches) in aggregations_by_pod.iter().enumerate() {
            for &aggregation in switches {
                for link in up_links(aggregation) {
                    let position = core_position[fabric.link(link).to.0 as usize];
                    let own = &mut aggregation_position[aggregation.0 as usize];
                    if position == usize::MAX || (*own != usize::MAX && *own != position / cores) {
                        return Err(format!(
                            "\"{}\" does not have the same cores above it as its counterparts",
                            name(aggregation)
                        ));
                    }
                    *own = position / cores;
                    aggregation_up[pod * core_count + position] = link;
                }
            }
        }
        if aggregation_up.contains(&unset) {
            return Err("some core switch has no cable to some pod".to_owned());
        }

        let mut edge_number = vec![u32::MAX; fabric.nodes.len()];
        let mut edge_up = vec![unset; edges.len() * aggregations];
        let mut pod_of = Vec::new();
        for (number, &(edge, pod)) in edges.iter().enumerate() {
            edge_number[edge.0 as usize] = number as u32;
            pod_of.push(pod as u32);
            for &link in adjacency.out(edge) {
                let to = fabric.link(link).to;
                if fabric.node(to).host_index().is_some() {
                    continue;
                }
                let position = aggregation_position[to.0 as usize];
                if position == usize::MAX || fabric.node(to).pod != fabric.node(edge).pod {
                    return Err(format!(
                        "\"{}\" has a cable to \"{}\", which is not an aggregation switch of its pod",
                        name(edge),
                        name(to)
                    ));
                }
                edge_up[number * aggregations + position] = link;
            }
        }
        if edge_up.contains(&unset) {
            return Err(
                "some edge switch has no cable to some aggregation switch of its pod".to_owned(),
            );
        }

        let mut host_up = Vec::new();
        let mut edge_of = Vec::new();
        for &host in &fabric.hosts {
            match adjacency.out(host) {
                &[link] if edge_number[fabric.link(link).to.0 as usize] != u32::MAX => {
                    host_up.push(link);
                    edge_of.push(edge_number[fabric.link(link).to.0 as usize]);
                }
                _ => {
                    return Err(format!(
                        "host \"{}\" does not have exactly one cable to an edge switch",
                        name(host)
                    ));
                }
            }
        }
        Ok(TwoLevel {
            aggregations,
            cores,
            host_up,
            edge_of,
            pod_of,
            edge_up,
            aggregation_up,
        })
    }

    /// Number of different paths: one within a rack, one for each aggregation switch within a pod,
    /// one for each core between pods.
    pub(super) fn path_count(&self, source: u32, destination: u32) -> u64 {
        let from = self.edge_of[source as usize];
        let to = self.edge_of[destination as usize];
        if from == to {
            1
        } else if self.pod_of[from as usize] == self.pod_of[to as usize] {
            self.aggregations as u64
        } else {
            (self.aggregations * self.cores) as u64
        }
    }

    /// Appends the path of this number, below [`Self::path_count`].
    pub(super) fn path(&self, source: u32, destination: u32, choice: u64, path: &mut Vec<LinkId>) {
        let choice = choice as usize;
        let from = self.edge_of[source as usize] as usize;
        let to = self.edge_of[destination as usize] as usize;
        let down = self.host_up[destination as usize].reverse();
        path.push(self.host_up[source as usize]);
        if from != to {
            let (from_pod, to_pod) = (self.pod_of[from] as usize, self.pod_of[to] as usize);
            let up =
                |edge: usize, position: usize| self.edge_up[edge * self.aggregations + position];
            if from_pod == to_pod {
                path.extend([up(from, choice), up(to, choice).reverse()]);
            } else {
                let position = choice / self.cores;
                let core_count = self.aggregations * self.cores;
                path.extend([
                    up(from, position),
                    self.aggregation_up[from_pod * core_count + choice],
                    self.aggregation_up[to_pod * core_count + choice].reverse(),
                    up(to, position).reverse(),
                ]);
            }
        }
        path.push(down);
    }
}

/// The position of a value in a short list, at whose end it is added when missing.
fn position_or_push(values: &mut Vec<u32>, value: u32) -> usize {
    values
        .iter()
        .position(|&known| known == value)
        .unwrap_or_else(|| {
            values.push(value);
            values.len() - 1
        })
}
