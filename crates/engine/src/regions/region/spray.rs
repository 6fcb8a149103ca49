//! Packets that are spread over all equal-cost paths, each drawing its own.

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

/// The routes of the ends whose packets are spread.
#[derive(Debug)]
pub(crate) struct Sprays {
    seed: u64,
    /// By the place of the sending half; `None` for subflows that keep to one path.
    sending: Vec<Option<Spray>>,
    /// By the place of the receiving half.
    receiving: Vec<Option<Spray>>,
}

/// What names the random numbers of a subflow: its flow's number, and its own in the flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SprayName {
    pub flow: u32,
    pub subflow: u32,
}

impl Sprays {
    pub fn new(seed: u64) -> Sprays {
        Sprays {
            seed,
            sending: Vec::new(),
            receiving: Vec::new(),
        }
    }

    fn at(&mut self, end: End) -> &mut Option<Spray> {
        let (all, place) = match end {
            End::Sending(SendingSubflow(place)) => (&mut self.sending, place as usize),
            End::Receiving(ReceivingSubflow(place)) => (&mut self.receiving, place as usize),
        };
        if all.len() <= place {
            all.resize_with(place + 1, || None);
        }
        &mut all[place]
    }

    /// From now on the packets of this end of a subflow take these. Its draws go on where they were.
    pub fn set(&mut self, end: End, name: SprayName, routes: Vec<RouteId>) {
        let SprayName { flow, subflow } = name;
        let direction = u64::from(matches!(end, End::Receiving(_)));
        let id = (u64::from(flow) << 17) | (u64::from(subflow) << 1) | direction;
        let seed = self.seed;
        match self.at(end) {
            Some(spray) => spray.routes = routes,
            none => {
                *none = Some(Spray {
                    stream: Stream::new(seed, "spray", id),
                    routes,
                });
            }
        }
    }

    /// The subflow at this end is done: the next at its place draws numbers of its own.
    pub fn end(&mut self, end: End) {
        let (all, place) = match end {
            End::Sending(SendingSubflow(place)) => (&mut self.sending, place as usize),
            End::Receiving(ReceivingSubflow(place)) => (&mut self.receiving, place as usize),
        };
        if let Some(spray) = all.get_mut(place) {
            *spray = None;
        }
    }

    /// Draws the route of a packet that leaves from here.
    #[cold]
    #[inline(never)]
    pub fn draw(&mut self, from: End) -> RouteId {
        let spray = self.at(from);
        let spray = spray.as_mut().expect("a sprayed subflow has routes");
        let count = spray.routes.len() as u64;
        spray.routes[spray.stream.below(count) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build;
    use crate::flows::routing::Routing;
    use pathweave_network::{FifoPorts, Network, Plain};

    /// Eight routes.
    fn routes() -> Vec<RouteId> {
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
        let mut network: Network<Plain<()>, FifoPorts> = build::network(&plan, routing.intact());
        (0..8).map(|_| network.add_route([0].into_iter())).collect()
    }

    /// The number of a route among these.
    fn number(routes: &[RouteId], drawn: RouteId) -> usize {
        let place = routes.iter().position(|&route| route == drawn);
        place.expect("one of them")
    }

    /// The two ends of a subflow at these places.
    fn ends(place: u32) -> [End; 2] {
        [
            End::Sending(SendingSubflow(place)),
            End::Receiving(ReceivingSubflow(place + 3)),
        ]
    }

    fn name(flow: u32, subflow: u32) -> SprayName {
        SprayName { flow, subflow }
    }

    /// What a subflow draws at its two ends, in turn, while others draw, too.
    fn drawn(place: u32, others: &[(SprayName, u32)]) -> Vec<usize> {
        let routes = routes();
        let mut sprays = Sprays::new(5);
        let mut begin = |name, place| {
            for end in ends(place) {
                sprays.set(end, name, routes.clone());
            }
        };
        for &(name, place) in others {
            begin(name, place);
        }
        begin(name(7, 1), place);
        let mut drawn = Vec::new();
        for _ in 0..50 {
            for end in ends(place) {
                drawn.push(number(&routes, sprays.draw(end)));
                for &(_, other) in others {
                    for end in ends(other) {
                        sprays.draw(end);
                    }
                }
            }
        }
        drawn
    }

    #[test]
    fn what_others_draw_does_not_change_a_subflows_draws() {
        let alone = drawn(0, &[]);
        assert_eq!(alone, drawn(0, &[(name(7, 0), 20)]), "a sibling");
        assert_eq!(alone, drawn(9, &[(name(7, 0), 20), (name(6, 1), 30)]));
        let forward = alone.iter().step_by(2).copied();
        let back = alone.iter().skip(1).step_by(2).copied();
        assert!(!forward.eq(back), "the two ends draw numbers of their own");
    }

    #[test]
    fn a_place_that_is_used_again_begins_from_the_start_and_new_routes_do_not() {
        let mut sprays = Sprays::new(5);
        let routes = routes();
        let [end, _] = ends(0);
        let draw = |sprays: &mut Sprays| -> Vec<usize> {
            let draw = |_| number(&routes, sprays.draw(end));
            (0..30).map(draw).collect()
        };
        sprays.set(end, name(1, 0), routes.clone());
        let early = draw(&mut sprays);
        sprays.set(end, name(1, 0), routes.clone());
        let late = draw(&mut sprays);
        assert_ne!(early, late);
        sprays.end(end);
        sprays.set(end, name(1, 0), routes.clone());
        assert_eq!(draw(&mut sprays), early);
        sprays.end(end);
        sprays.set(end, name(2, 0), routes.clone());
        assert_ne!(draw(&mut sprays), early);
    }
}
