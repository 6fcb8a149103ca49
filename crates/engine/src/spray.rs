//! Packets that are spread over all equal-cost paths, each drawing its own.

use crate::outlet::SubflowRoutes;
use pathweave_network::RouteId;
use pathweave_random::Stream;
use pathweave_transport::{End, ReceivingSubflow, SendingSubflow};

/// The routes that the packets of one end of a subflow draw from, and its own random numbers: what others
/// draw changes nothing here.
#[derive(Debug)]
struct Spray {
    stream: Stream,
    routes: Vec<RouteId>,
}

/// The routes of the subflows whose packets are spread.
#[derive(Debug)]
pub(crate) struct Sprays {
    seed: u64,
    /// By the place of the sending half; `None` for subflows that keep to one path.
    sending: Vec<Option<Spray>>,
    /// By the place of the receiving half.
    receiving: Vec<Option<Spray>>,
    /// Both routes of each path, by the place of the sending half.
    routes: Vec<Vec<SubflowRoutes>>,
}

/// A subflow: its flow's number, its own in the flow, and the places of its halves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SubflowEnds {
    pub flow: u32,
    pub subflow: u32,
    pub sending: SendingSubflow,
    pub receiving: ReceivingSubflow,
}

impl Sprays {
    pub fn new(seed: u64) -> Sprays {
        Sprays {
            seed,
            sending: Vec::new(),
            receiving: Vec::new(),
            routes: Vec::new(),
        }
    }

    /// From now on the subflow's packets take these. Its draws go on where they were.
    pub fn set(&mut self, ends: SubflowEnds, routes: Vec<SubflowRoutes>) {
        let SubflowEnds { flow, subflow, .. } = ends;
        let (sending, receiving) = (ends.sending.0 as usize, ends.receiving.0 as usize);
        let id = (u64::from(flow) << 17) | (u64::from(subflow) << 1);
        let forward = routes.iter().map(|routes| routes.forward).collect();
        set_one(&mut self.sending, sending, forward, || {
            Stream::new(self.seed, "spray", id)
        });
        let back = routes.iter().map(|routes| routes.back).collect();
        set_one(&mut self.receiving, receiving, back, || {
            Stream::new(self.seed, "spray", id | 1)
        });
        if self.routes.len() <= sending {
            self.routes.resize(sending + 1, Vec::new());
        }
        self.routes[sending] = routes;
    }

    /// The routes of a subflow that takes others from now on, to be given back.
    pub fn take(&mut self, SendingSubflow(place): SendingSubflow) -> Vec<SubflowRoutes> {
        let routes = self.routes.get_mut(place as usize);
        routes.map(std::mem::take).unwrap_or_default()
    }

    /// The subflow is done: the next at its places draws numbers of its own.
    pub fn end(&mut self, ends: SubflowEnds) {
        for (all, place) in [
            (&mut self.sending, ends.sending.0),
            (&mut self.receiving, ends.receiving.0),
        ] {
            if let Some(spray) = all.get_mut(place as usize) {
                *spray = None;
            }
        }
    }

    /// All routes of a subflow; none if it keeps to one path.
    pub fn of(&self, SendingSubflow(place): SendingSubflow) -> &[SubflowRoutes] {
        self.routes.get(place as usize).map_or(&[], Vec::as_slice)
    }

    /// Draws the route of a packet that leaves from here.
    #[cold]
    #[inline(never)]
    pub fn draw(&mut self, from: End) -> RouteId {
        let spray = match from {
            End::Sending(SendingSubflow(place)) => &mut self.sending[place as usize],
            End::Receiving(ReceivingSubflow(place)) => &mut self.receiving[place as usize],
        };
        let spray = spray.as_mut().expect("a sprayed subflow has routes");
        let count = spray.routes.len() as u64;
        spray.routes[spray.stream.below(count) as usize]
    }
}

fn set_one(
    all: &mut Vec<Option<Spray>>,
    place: usize,
    routes: Vec<RouteId>,
    stream: impl FnOnce() -> Stream,
) {
    if all.len() <= place {
        all.resize_with(place + 1, || None);
    }
    match &mut all[place] {
        Some(spray) => spray.routes = routes,
        none => {
            *none = Some(Spray {
                stream: stream(),
                routes,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build;
    use crate::routing::Routing;
    use pathweave_network::{FifoPort, Network};

    /// Eight paths.
    fn routes() -> Vec<SubflowRoutes> {
        let text = r#"
            [fabric]
            kind = "dumbbell"
            left = 1
            bottleneck_rate = "1 Gbps"
            bottleneck_delay = "1 ms"
            [[traffic]]
            name = "flow"
            pattern = "flows"
            controller = "reno"
            size = "1 MB"
            flows = [{ from = "S1", to = "D1" }]
            "#;
        let scenario = pathweave_scenario::check(text)
            .unwrap_or_else(|error| panic!("{}", error.render(80, false)));
        let plan = scenario.variants()[0].plan(1);
        let routing = Routing::new(&plan).expect("a routing");
        let mut network: Network<(), FifoPort> =
            build::network(&plan, routing.intact(), &build::shared_buffers(&plan));
        let mut route = || network.add_route([0].into_iter());
        (0..8)
            .map(|_| SubflowRoutes {
                forward: route(),
                back: route(),
                sprayed: true,
            })
            .collect()
    }

    /// The number of a route among these.
    fn number(routes: &[SubflowRoutes], drawn: RouteId) -> usize {
        let is_it = |routes: &SubflowRoutes| routes.forward == drawn || routes.back == drawn;
        routes.iter().position(is_it).expect("one of them")
    }

    fn ends(flow: u32, subflow: u32, place: u32) -> SubflowEnds {
        SubflowEnds {
            flow,
            subflow,
            sending: SendingSubflow(place),
            receiving: ReceivingSubflow(place + 3),
        }
    }

    /// What a subflow draws at its two ends while others draw, too.
    fn drawn(place: u32, others: &[SubflowEnds]) -> Vec<usize> {
        let routes = routes();
        let mut sprays = Sprays::new(5);
        let own = ends(7, 1, place);
        for &other in others {
            sprays.set(other, routes.clone());
        }
        sprays.set(own, routes.clone());
        let mut drawn = Vec::new();
        for _ in 0..50 {
            drawn.push(number(&routes, sprays.draw(End::Sending(own.sending))));
            for other in others {
                sprays.draw(End::Sending(other.sending));
                sprays.draw(End::Receiving(other.receiving));
            }
            let back = sprays.draw(End::Receiving(own.receiving));
            drawn.push(number(&routes, back));
        }
        drawn
    }

    #[test]
    fn what_others_draw_does_not_change_a_subflows_draws() {
        let alone = drawn(0, &[]);
        assert_eq!(alone, drawn(0, &[ends(7, 0, 20)]), "a sibling");
        assert_eq!(alone, drawn(9, &[ends(7, 0, 20), ends(6, 1, 30)]));
        let forward = alone.iter().step_by(2).copied();
        let back = alone.iter().skip(1).step_by(2).copied();
        assert!(!forward.eq(back), "the two ends draw numbers of their own");
    }

    #[test]
    fn a_place_that_is_used_again_begins_anew_and_new_routes_do_not() {
        let mut sprays = Sprays::new(5);
        let first = ends(1, 0, 0);
        let routes = routes();
        let draw = |sprays: &mut Sprays| -> Vec<usize> {
            let draw = |_| number(&routes, sprays.draw(End::Sending(SendingSubflow(0))));
            (0..30).map(draw).collect()
        };
        sprays.set(first, routes.clone());
        let early = draw(&mut sprays);
        sprays.take(first.sending);
        sprays.set(first, routes.clone());
        let late = draw(&mut sprays);
        assert_ne!(early, late);
        sprays.end(first);
        sprays.set(first, routes.clone());
        assert_eq!(draw(&mut sprays), early);
        sprays.end(first);
        sprays.set(ends(2, 0, 0), routes.clone());
        assert_ne!(draw(&mut sprays), early);
    }
}
