//! Static routes, compiled to paths of ports.

use crate::packed_route::{PackedRoute, Special, Step};
use crate::places::{Places, PortId};
use std::sync::{Arc, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// A route that packets can be sent on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RouteId(u32);

/// Where a packet of a route sets out, and how it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteStart {
    pub(crate) path: PackedRoute,
    pub(crate) first: PortId,
}

impl RouteStart {
    /// Whether packets set out at this port.
    pub fn is_at(&self, port: PortId) -> bool {
        self.first == port
    }

    /// Whether packets of the route always set out and go on in the same way: no switch or host chooses its links.
    #[inline]
    pub fn is_fixed(&self) -> bool {
        !matches!(self.path.step().0, Step::Special)
            || matches!(self.path.special(), Special::InTable(_))
    }
}

/// All routes in use in a region. Routes of finished flows are given back and used again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Routes {
    routes: Vec<RouteStart>,
    unused: Vec<RouteId>,
    table: RouteTable,
}

/// The routes that do not fit into a path, for all regions: packets on them look up each step.
#[derive(Clone, Debug, Default)]
pub struct RouteTable(Arc<RwLock<Lists>>);

#[derive(Debug, Default)]
struct Lists {
    /// The steps of routes after their first links, each list with [`END`] behind it.
    steps: Vec<u32>,
    /// Places of unused lists, by their number of steps.
    unused: Vec<Vec<u32>>,
}

/// The end of a route in the table.
const END: u32 = u32::MAX;

impl Lists {
    fn add(&mut self, list: impl Iterator<Item = u32> + Clone) -> u32 {
        let length = list.clone().count();
        if let Some(start) = self.unused.get_mut(length).and_then(Vec::pop) {
            for (place, step) in self.steps[start as usize..].iter_mut().zip(list) {
                *place = step;
            }
            return start;
        }
        let start = self.steps.len() as u32;
        self.steps.extend(list);
        self.steps.push(END);
        start
    }

    fn remove(&mut self, start: u32) {
        let steps = self.steps[start as usize..].iter();
        let length = steps.take_while(|&&step| step != END).count();
        if self.unused.len() <= length {
            self.unused.resize_with(length + 1, Vec::new);
        }
        self.unused[length].push(start);
    }
}

impl RouteTable {
    fn lists(&self) -> RwLockReadGuard<'_, Lists> {
        self.0.read().expect("nobody panics while adding a route")
    }

    fn lists_mut(&self) -> RwLockWriteGuard<'_, Lists> {
        self.0.write().expect("nobody panics while adding a route")
    }

    /// The next step of a path in the table, and what is left of the path; `None` at its end, and for others.
    fn look_up(&self, path: PackedRoute) -> Option<(u32, PackedRoute)> {
        let Special::InTable(place) = path.special() else {
            return None;
        };
        let step = self.lists().steps[place as usize];
        (step != END).then(|| (step, PackedRoute::in_table(place + 1)))
    }
}

impl Routes {
    /// With this table.
    pub fn new(table: RouteTable) -> Routes {
        Routes {
            table,
            ..Routes::default()
        }
    }

    /// Adds a route over these links, of which there is at least one, the first in this region.
    pub fn add(&mut self, links: impl Iterator<Item = u32> + Clone, places: &Places) -> RouteId {
        let mut further = links;
        let link = further.next().expect("a route has a link");
        let steps = further.map(|link| places.step(link));
        let path = PackedRoute::over(steps.clone())
            .unwrap_or_else(|| PackedRoute::in_table(self.table.lists_mut().add(steps)));
        let first = places.port_of(link);
        self.insert(RouteStart { first, path })
    }

    /// Like [`Routes::add`], but packets look up each step even if the route fits into a path.
    pub fn add_to_table(
        &mut self,
        links: impl Iterator<Item = u32> + Clone,
        places: &Places,
    ) -> RouteId {
        let mut further = links;
        let link = further.next().expect("a route has a link");
        let steps = further.map(|link| places.step(link));
        let path = PackedRoute::in_table(self.table.lists_mut().add(steps));
        let first = places.port_of(link);
        self.insert(RouteStart { first, path })
    }

    /// Adds a route that begins on this link and whose further links switches choose.
    pub fn add_undecided(&mut self, link: u32, places: &Places) -> RouteId {
        let first = places.port_of(link);
        let path = PackedRoute::default();
        let route = self.insert(RouteStart { first, path });
        self.routes[route.0 as usize].path = PackedRoute::undecided(route.0);
        route
    }

    fn insert(&mut self, route: RouteStart) -> RouteId {
        match self.unused.pop() {
            Some(id) => {
                self.routes[id.0 as usize] = route;
                id
            }
            None => {
                self.routes.push(route);
                RouteId(self.routes.len() as u32 - 1)
            }
        }
    }

    /// Gives a route back. No packet may be on it any more.
    pub fn remove(&mut self, route: RouteId) {
        if let Special::InTable(start) = self.routes[route.0 as usize].path.special() {
            self.table.lists_mut().remove(start);
        }
        self.unused.push(route);
    }

    /// The links of a route, as far as it names them.
    pub fn links(&self, route: RouteId, places: &Places) -> Vec<u32> {
        let RouteStart { first, mut path } = self.routes[route.0 as usize];
        let mut link = places.link_of(first);
        let mut links = vec![link];
        loop {
            let (step, rest) = match path.step() {
                (Step::Port(step), rest) => (step, rest),
                (Step::End, _) => return links,
                (Step::Special, _) => match self.look_up(path) {
                    Some(next) => next,
                    None => return links,
                },
            };
            link = places.after(link, step);
            links.push(link);
            path = rest;
        }
    }

    /// The next step of a path in the table, and what is left of the path; `None` at its end, and for others.
    pub fn look_up(&self, path: PackedRoute) -> Option<(u32, PackedRoute)> {
        self.table.look_up(path)
    }

    /// The number of a route, by which switches that choose its links know it.
    pub fn number(&self, RouteId(route): RouteId) -> u32 {
        route
    }

    /// Packets of the route with this number set out on another link from now on.
    pub fn set_first(&mut self, route: u32, link: u32, places: &Places) {
        self.routes[route as usize].first = places.port_of(link);
    }

    /// Where packets of a route set out, and how they go on.
    pub fn start(&self, RouteId(route): RouteId) -> RouteStart {
        self.routes[route as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::LinkSetup;
    use pathweave_units::{Rate, Time};

    fn places(ends: &[(u32, u32)]) -> Places {
        let links: Vec<LinkSetup> = ends
            .iter()
            .map(|&ends| LinkSetup::plain(ends, Rate::from_gbps(1), Time::ZERO))
            .collect();
        Places::new(&links)
    }

    #[test]
    fn routes_are_walked_and_reused() {
        // A chain of twelve cables, both ways.
        let ends: Vec<(u32, u32)> = (0..12)
            .flat_map(|node| [(node, node + 1), (node + 1, node)])
            .collect();
        let places = places(&ends);
        let mut routes = Routes::default();
        let there: Vec<u32> = (0..12).map(|cable| 2 * cable).collect();
        let back: Vec<u32> = (0..12).rev().map(|cable| 2 * cable + 1).collect();
        for length in 1..=12 {
            // Beyond nine links they stand in the table.
            let a = routes.add(there[..length].iter().copied(), &places);
            let b = routes.add(back[12 - length..].iter().copied(), &places);
            assert_eq!(routes.links(a, &places), there[..length]);
            assert_eq!(routes.links(b, &places), back[12 - length..]);
            routes.remove(a);
            let c = routes.add(back[..length].iter().copied(), &places);
            assert_eq!(c, a);
            assert_eq!(routes.links(c, &places), back[..length]);
            assert_eq!(routes.links(b, &places), back[12 - length..]);
        }
        let lists = routes.table.lists().steps.len();
        let long = routes.add(there.iter().copied(), &places);
        routes.remove(long);
        routes.add(there.iter().copied(), &places);
        assert_eq!(routes.table.lists().steps.len(), lists + 12);
    }

    #[test]
    fn a_node_may_have_more_ports_than_a_byte_names() {
        let ends: Vec<(u32, u32)> = (1..=300).flat_map(|leaf| [(leaf, 0), (0, leaf)]).collect();
        let places = places(&ends);
        let mut routes = Routes::default();
        for leaf in [0, 200, 239, 240, 299] {
            let links = [2, 2 * leaf + 1];
            let route = routes.add(links.into_iter(), &places);
            assert_eq!(routes.links(route, &places), links);
        }
    }
}
