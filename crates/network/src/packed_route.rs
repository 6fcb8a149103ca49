//! The way that a packet still has to go, in the packet's own header.

/// What is left of a packet's route: eight bytes, the lowest of which says where the node at the end of its
/// present link sends it.
///
/// A byte from 1 to [`MOST_PORTS`] is the number of one of that node's ports, counted from 1; zero is the end of
/// the route. The other values need a second look ([`Step::Special`]): routes that do not fit into the eight bytes
/// stand in a table, switches choose others while packets come, and links lose packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PackedRoute(u64);

/// The ports of a node that a byte can name.
pub(crate) const MOST_PORTS: u32 = 0xf0;
/// The links of a route after its first that fit into a path.
const MOST_HOPS: u32 = 8;

const IN_TABLE: u8 = 0xff;
const UNDECIDED: u8 = 0xfe;
const LOST: u8 = 0xfd;
const FEEDBACK: u8 = 0xfc;

/// Where a packet goes from the end of its present link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// To this port of the node there, counted from zero.
    Port(u32),
    /// Nowhere: it is at its host.
    End,
    /// The path does not say it by itself: [`PackedRoute::special`].
    Special,
}

/// A step that costs a second look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Special {
    /// The next port stands at this place of the table.
    InTable(u32),
    /// Switches choose the links of the route with this number.
    Undecided(u32),
    /// Its link has lost it.
    Lost,
    /// What switches tell each other: it goes no further than the next switch.
    Feedback,
}

impl PackedRoute {
    /// Over these ports of the nodes on the way, counted from zero; `None` if they do not fit.
    pub fn over(ports: impl Iterator<Item = u32>) -> Option<PackedRoute> {
        let mut path = 0;
        let mut shift = 0;
        for port in ports {
            if port >= MOST_PORTS || shift == 8 * MOST_HOPS {
                return None;
            }
            path |= u64::from(port + 1) << shift;
            shift += 8;
        }
        Some(PackedRoute(path))
    }
    /// Over the ports that stand in the table from this place on.
    pub fn in_table(place: u32) -> PackedRoute {
        PackedRoute(u64::from(place) << 32 | u64::from(IN_TABLE))
    }
    /// Over links that switches choose for the route with this number.
    pub fn undecided(route: u32) -> PackedRoute {
        PackedRoute(u64::from(route) << 32 | u64::from(UNDECIDED))
    }
    /// To the switch at the end of the link, and no further.
    pub fn of_feedback() -> PackedRoute {
        PackedRoute(u64::from(FEEDBACK))
    }
    /// Nowhere: its present link loses the packet.
    pub fn lost() -> PackedRoute {
        PackedRoute(u64::from(LOST))
    }
    /// The next step, and what is left after it.
    #[inline(always)]
    pub fn step(self) -> (Step, PackedRoute) {
        let port = u32::from(self.0 as u8).wrapping_sub(1);
        let rest = PackedRoute(self.0 >> 8);
        if port < MOST_PORTS {
            (Step::Port(port), rest)
        } else if port == u32::MAX {
            (Step::End, rest)
        } else {
            (Step::Special, self)
        }
    }
    /// What a special step is.
    pub fn special(self) -> Special {
        let number = (self.0 >> 32) as u32;
        match self.0 as u8 {
            IN_TABLE => Special::InTable(number),
            UNDECIDED => Special::Undecided(number),
            LOST => Special::Lost,
            _ => Special::Feedback,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_ports_are_walked() {
        let ports = [0, 5, MOST_PORTS - 1, 7, 1, 2, 3, 4];
        let mut path = PackedRoute::over(ports.into_iter()).expect("eight ports fit");
        for port in ports {
            let (step, rest) = path.step();
            assert_eq!(step, Step::Port(port));
            path = rest;
        }
        assert_eq!(path.step().0, Step::End);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert_eq!(PackedRoute::over([1; 9].into_iter()), None);
        assert_eq!(PackedRoute::over([MOST_PORTS].into_iter()), None);
    }

    #[test]
    fn special_steps_keep_their_numbers() {
        for (path, special) in [
            (PackedRoute::in_table(u32::MAX), Special::InTable(u32::MAX)),
            (PackedRoute::undecided(7), Special::Undecided(7)),
            (PackedRoute::lost(), Special::Lost),
            (PackedRoute::of_feedback(), Special::Feedback),
        ] {
            assert_eq!(path.step(), (Step::Special, path));
            assert_eq!(path.special(), special);
        }
    }
}
