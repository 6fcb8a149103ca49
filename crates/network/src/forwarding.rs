//! Static routes, compiled to lists of links.

/// Marks the end of a route: the packet is at its host.
pub(crate) const END: u32 = u32::MAX;

/// The position of a packet that its present link will lose: no route passes here, and the next
/// position is an end.
pub(crate) const LOST: u32 = 0;

/// The position of what switches tell each other: its next position is an end, too.
pub(crate) const FEEDBACK: u32 = 1;

/// A route that packets can be sent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteId(u32);

/// All routes in use, one after another in one array, so that a hop costs one load.
///
/// Routes of finished flows are given back and used again, by length.
#[derive(Clone, Debug)]
pub struct Routes {
    links: Vec<u32>,
    /// Starts of unused routes, by number of links.
    unused: Vec<Vec<u32>>,
}

impl Default for Routes {
    fn default() -> Routes {
        Routes {
            links: vec![END; FEEDBACK as usize + 2],
            unused: Vec::new(),
        }
    }
}

impl Routes {
    /// Adds a route over these links (numbers of ports).
    pub fn add(&mut self, links: impl ExactSizeIterator<Item = u32>) -> RouteId {
        let length = links.len();
        if let Some(start) = self.unused.get_mut(length).and_then(Vec::pop) {
            for (place, link) in self.links[start as usize..].iter_mut().zip(links) {
                *place = link;
            }
            return RouteId(start);
        }
        let start = self.links.len() as u32;
        self.links.extend(links);
        self.links.push(END);
        RouteId(start)
    }

    /// Gives a route back. No packet may be on it any more.
    pub fn remove(&mut self, route: RouteId) {
        let length = self.links(route).count();
        if self.unused.len() <= length {
            self.unused.resize_with(length + 1, Vec::new);
        }
        self.unused[length].push(route.0);
    }

    /// The links of a route.
    pub fn links(&self, route: RouteId) -> impl Iterator<Item = u32> {
        self.links[route.0 as usize..]
            .iter()
            .copied()
            .take_while(|&link| link != END)
    }

    /// The position of packets at the beginning of a route.
    pub(crate) fn position(&self, route: RouteId) -> u32 {
        route.0
    }

    /// Packets at the beginning of a route leave on another link from now on.
    pub(crate) fn set_first(&mut self, position: u32, link: u32) {
        self.links[position as usize] = link;
    }

    #[inline]
    pub(crate) fn first(&self, route: RouteId) -> (u32, u32) {
        (route.0, self.links[route.0 as usize])
    }

    /// The position after `position`, and the link there or [`END`].
    #[inline]
    pub(crate) fn next(&self, position: u32) -> (u32, u32) {
        (position + 1, self.links[position as usize + 1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_are_walked_and_reused() {
        let mut routes = Routes::default();
        let a = routes.add([3, 1, 2].into_iter());
        let b = routes.add([7].into_iter());
        let (position, link) = routes.first(a);
        assert_eq!(link, 3);
        let (position, link) = routes.next(position);
        assert_eq!(link, 1);
        let (position, link) = routes.next(position);
        assert_eq!(link, 2);
        assert_eq!(routes.next(position).1, END);
        routes.remove(a);
        let c = routes.add([5, 6, 7].into_iter());
        assert_eq!(c, a);
        assert_eq!(routes.links(b).collect::<Vec<_>>(), [7]);
        assert_eq!(routes.links(c).collect::<Vec<_>>(), [5, 6, 7]);
    }
}
