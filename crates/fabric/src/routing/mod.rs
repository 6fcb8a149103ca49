//! Which links a subflow's packets and their acknowledgements take.
//!
//! | routing | data | acknowledgements |
//! |---|---|---|
//! | `ecmp` | every node hashes (source, destination, connection, subflow) and picks one of the shortest next hops | the same with source and destination exchanged |
//! | `ecmp`, distinct | subflow i takes the i-th of a seeded permutation of the equal-cost paths | the data path backwards |
//! | `two-level` | the destination's address picks the core switch | the source's address picks it |
//! | `spray` | every packet draws one of the equal-cost paths | every packet draws one |
//! | `pinned` | given | the data path backwards |
//! | `fmp` | the switches choose while packets come; without them, as `ecmp`, distinct | the same, towards the source |

mod longest;
mod permuted;
mod search;
mod shortest;
mod two_level;

pub use longest::{Costs, HostPairs, LongestRoundTrip, longest_round_trip};
use shortest::flow_hash_of;
pub use shortest::{ShortestPaths, flow_hash};

use crate::{Fabric, FabricError, LinkId};
use pathweave_random::hash;
use pathweave_units::Time;
use permuted::permuted;
use two_level::TwoLevel;

/// A routing scheme that scenarios can name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RoutingKind {
    /// Each node hashes the 5-tuple and picks one of the shortest next hops.
    Ecmp {
        /// Subflow i takes the i-th of a seeded permutation of the equal-cost paths instead of a hash.
        distinct: bool,
        /// How long switches take to notice that a link went down or came back.
        detection_delay: Time,
    },
    /// Fat-tree addresses: the destination's address picks the core, ACKs follow the source's.
    TwoLevel,
    /// Every packet takes one of the equal-cost paths at random.
    Spray {
        /// How long switches take to notice that a link went down or came back.
        detection_delay: Time,
    },
    /// Every subflow's path is given.
    Pinned,
    /// Switches tell each other of congestion and delay, and give each subflow its port when its first
    /// packet arrives. (FMPTCP paper, section V-B.)
    Fmp(FmpConfig),
}

/// The parameters of FMP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FmpConfig {
    /// What each port adds to the congestion degree of a path.
    pub price: FmpPrice,
    /// How often switches send feedback.
    pub feedback_period: Time,
    /// A neighbour that sends nothing for longer counts as dead.
    pub silence_timeout: Time,
    /// A subflow that sends nothing for longer gets a new port.
    pub idle_expiry: Time,
}

/// What a port adds to the congestion degree of paths through it: a share, zero for an idle port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FmpPrice {
    /// Its queue when feedback arrives, as a share of the limit: Qi of the FMPTCP paper, equation 20.
    #[default]
    Occupancy,
    /// Its mean queue over the last feedback period, as a share of the limit.
    AveragedOccupancy,
    /// The packets that it marked in the last feedback period, as a share of those offered to it.
    Marks,
    /// What it sent in the last feedback period, as a share of what the link can carry.
    Utilisation,
}

/// The routing schemes by the names that scenarios use, with one line of help each.
pub const ROUTINGS: &[(&str, &str)] = &[
    (
        "ecmp",
        "every switch hashes source, destination, connection and subflow and picks one of the shortest next hops; with distinct = true siblings take different paths while there are enough",
    ),
    (
        "two-level",
        "fat-tree only: a subflow's addresses pick its core switch, siblings take different cores while there are enough",
    ),
    (
        "spray",
        "every packet, data or acknowledgement, takes one of the shortest paths at random",
    ),
    ("pinned", "every subflow's path is given node by node"),
    (
        "fmp",
        "switches tell each other of congestion and delay and give each subflow the best port, siblings different ones (FMPTCP paper)",
    ),
];

impl RoutingKind {
    /// ECMP whose switches notice changes of links at once.
    pub const fn ecmp(distinct: bool) -> RoutingKind {
        RoutingKind::Ecmp {
            distinct,
            detection_delay: Time::ZERO,
        }
    }

    /// The name that scenarios use for it.
    pub fn name(&self) -> &'static str {
        match self {
            RoutingKind::Ecmp { .. } => ROUTINGS[0].0,
            RoutingKind::TwoLevel => ROUTINGS[1].0,
            RoutingKind::Spray { .. } => ROUTINGS[2].0,
            RoutingKind::Pinned => ROUTINGS[3].0,
            RoutingKind::Fmp(_) => ROUTINGS[4].0,
        }
    }
}

/// What a path is wanted for.
#[derive(Clone, Copy, Debug)]
pub struct PathRequest<'a> {
    /// Index of the sending host.
    pub source: u32,
    /// Index of the receiving host.
    pub destination: u32,
    /// The connection's number: stands for its ports and addresses.
    pub connection: u64,
    /// The subflow's number within its connection.
    pub subflow: u32,
    /// The path that the scenario gives. It is taken under every kind of routing. [`Router::ack_path`]
    /// takes its ACKs back on the same cables; who has a path of their own for them does not ask.
    pub pinned: Option<&'a [LinkId]>,
}

/// Answers path requests on one fabric.
#[derive(Clone, Debug)]
pub struct Router {
    kind: RoutingKind,
    seed: u64,
    seed_hash: u64,
    tables: Tables,
}

#[derive(Clone, Debug)]
enum Tables {
    Shortest(ShortestPaths),
    TwoLevel(TwoLevel),
}

/// Keeps a connection's choices of path, of destination address and of source address apart.
const DISTINCT_PATHS: u64 = 1;
const DESTINATION_ADDRESSES: u64 = 2;
const SOURCE_ADDRESSES: u64 = 3;

impl Router {
    /// Prepares routing on this fabric. `seed` makes the hashes of a run its own.
    ///
    /// # Errors
    /// When the fabric is not a fat-tree and the kind needs one.
    pub fn new(fabric: &Fabric, kind: RoutingKind, seed: u64) -> Result<Router, FabricError> {
        let tables = match kind {
            RoutingKind::TwoLevel => Tables::TwoLevel(TwoLevel::new(fabric)?),
            RoutingKind::Ecmp { .. }
            | RoutingKind::Spray { .. }
            | RoutingKind::Pinned
            | RoutingKind::Fmp(_) => Tables::Shortest(ShortestPaths::new(fabric)),
        };
        Ok(Router {
            kind,
            seed,
            seed_hash: hash(&[seed]),
            tables,
        })
    }

    /// The same routing over the usable links only, once switches know which these are. A link counts as
    /// usable only if its reverse is, too. `two-level` and `pinned` do not look for other paths, and the
    /// switches of `fmp` do so by themselves.
    pub fn over(&self, fabric: &Fabric, usable: impl Fn(LinkId) -> bool) -> Router {
        let tables = match (&self.tables, &self.kind) {
            (Tables::TwoLevel(_), _) | (_, RoutingKind::Pinned | RoutingKind::Fmp(_)) => {
                self.tables.clone()
            }
            (Tables::Shortest(_), _) => Tables::Shortest(ShortestPaths::over(fabric, usable)),
        };
        Router {
            kind: self.kind.clone(),
            seed: self.seed,
            seed_hash: self.seed_hash,
            tables,
        }
    }

    /// How long this routing takes to notice a change of links and to route around it; `None` if it
    /// never does by recomputing its paths.
    pub fn detection_delay(&self) -> Option<Time> {
        match self.kind {
            RoutingKind::Ecmp {
                detection_delay, ..
            }
            | RoutingKind::Spray { detection_delay } => Some(detection_delay),
            RoutingKind::TwoLevel | RoutingKind::Pinned | RoutingKind::Fmp(_) => None,
        }
    }

    /// The kind of routing.
    pub fn kind(&self) -> &RoutingKind {
        &self.kind
    }

    /// The next-hop tables, which `two-level` has not.
    pub fn shortest_paths(&self) -> Option<&ShortestPaths> {
        match &self.tables {
            Tables::Shortest(paths) => Some(paths),
            Tables::TwoLevel(_) => None,
        }
    }

    /// Writes the links from source to destination into `path`, replacing what it held. It is left
    /// empty when no path leads there, and when the kind is [`RoutingKind::Pinned`], no path is given
    /// and there are several shortest ones. Of the paths of [`RoutingKind::Spray`] it is the first.
    pub fn data_path(&self, request: &PathRequest<'_>, path: &mut Vec<LinkId>) {
        path.clear();
        if let Some(pinned) = request.pinned {
            path.extend_from_slice(pinned);
            return;
        }
        let (source, destination) = (request.source, request.destination);
        match &self.tables {
            Tables::TwoLevel(tables) => {
                let choice = self.address(request, DESTINATION_ADDRESSES, tables);
                tables.path(source, destination, choice, path);
            }
            Tables::Shortest(paths) => match self.kind {
                RoutingKind::Ecmp {
                    distinct: false, ..
                } => {
                    let flow = self.flow_hash(request, source, destination);
                    paths.hashed(source, destination, flow, path);
                }
                RoutingKind::Ecmp { distinct: true, .. } | RoutingKind::Fmp(_) => {
                    let count = paths.path_count(source, destination);
                    if count > 0 {
                        let key = self.key(request, DISTINCT_PATHS);
                        let rank = permuted(key, count, u64::from(request.subflow) % count);
                        paths.ranked(source, destination, rank, path);
                    }
                }
                RoutingKind::Spray { .. } => paths.ranked(source, destination, 0, path),
                RoutingKind::Pinned | RoutingKind::TwoLevel => {
                    if paths.path_count(source, destination) == 1 {
                        paths.ranked(source, destination, 0, path);
                    }
                }
            },
        }
    }

    /// Whether acknowledgements take one of the shortest paths on their own, where no path is given;
    /// otherwise they come back on that of the data.
    pub fn acks_choose_paths(&self) -> bool {
        match self.kind {
            RoutingKind::Ecmp { distinct, .. } => !distinct,
            RoutingKind::TwoLevel | RoutingKind::Spray { .. } | RoutingKind::Fmp(_) => true,
            RoutingKind::Pinned => false,
        }
    }

    /// Writes the links that acknowledgements take back into `path`, given the data path; see the
    /// table at the head of this module.
    pub fn ack_path(
        &self,
        request: &PathRequest<'_>,
        data_path: &[LinkId],
        path: &mut Vec<LinkId>,
    ) {
        path.clear();
        let (source, destination) = (request.source, request.destination);
        match (&self.tables, &self.kind) {
            (Tables::TwoLevel(tables), _) if request.pinned.is_none() => {
                let choice = self.address(request, SOURCE_ADDRESSES, tables);
                tables.path(destination, source, choice, path);
            }
            (
                Tables::Shortest(paths),
                RoutingKind::Ecmp {
                    distinct: false, ..
                },
            ) if request.pinned.is_none() => {
                let flow = self.flow_hash(request, destination, source);
                paths.hashed(destination, source, flow, path);
            }
            _ => path.extend(data_path.iter().rev().map(|link| link.reverse())),
        }
    }

    /// Number of different shortest paths between two hosts; 0 when none leads there.
    pub fn path_count(&self, source: u32, destination: u32) -> u64 {
        match &self.tables {
            Tables::Shortest(paths) => paths.path_count(source, destination),
            Tables::TwoLevel(tables) => tables.path_count(source, destination),
        }
    }

    /// All equal-cost paths between two hosts, for packets that are spread over them.
    pub fn spread(&self, source: u32, destination: u32) -> Vec<Vec<LinkId>> {
        (0..self.path_count(source, destination))
            .map(|rank| {
                let mut path = Vec::new();
                match &self.tables {
                    Tables::Shortest(paths) => paths.ranked(source, destination, rank, &mut path),
                    Tables::TwoLevel(tables) => tables.path(source, destination, rank, &mut path),
                }
                path
            })
            .collect()
    }

    fn flow_hash(&self, request: &PathRequest<'_>, from: u32, to: u32) -> u64 {
        flow_hash_of(
            self.seed_hash,
            from,
            to,
            request.connection,
            request.subflow,
        )
    }

    /// What a connection's permutations of paths or addresses depend on.
    fn key(&self, request: &PathRequest<'_>, purpose: u64) -> u64 {
        hash(&[
            self.seed,
            purpose,
            u64::from(request.source),
            u64::from(request.destination),
            request.connection,
        ])
    }

    /// Which of its host's addresses a subflow uses: the i-th of a seeded permutation, so that
    /// siblings differ while there are enough. Within a pod only the part of the address that picks
    /// the aggregation switch matters, and the permutation is one of those.
    fn address(&self, request: &PathRequest<'_>, purpose: u64, tables: &TwoLevel) -> u64 {
        let count = tables.path_count(request.source, request.destination);
        let key = self.key(request, purpose);
        permuted(key, count, u64::from(request.subflow) % count)
    }
}
