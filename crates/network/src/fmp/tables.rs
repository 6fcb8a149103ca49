//! The routing tables: which port each subflow takes at each switch.

use super::Fmp;
use super::switch::NONE;
use crate::fmp::hops::{Hop, Hops};
use crate::fmp::prices;
use pathweave_fabric::{LinkId, NodeId};
use pathweave_random::hash;
use pathweave_units::Time;
use std::collections::BTreeMap;

/// Where a packet goes from the end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// On this link.
    Link(u32),
    /// Nowhere: it has reached its host.
    Host,
    /// Nowhere: the switch has no port for it.
    None,
}

/// One direction of a subflow.
#[derive(Clone, Debug, Default)]
#[repr(C, align(64))]
pub(super) struct Flow {
    hops: Hops,
    connection: u32,
    position: u32,
    /// The source host's port.
    port: u32,
    subflow: u32,
    destination: u32,
    host: u32,
    /// Whether the destination has several cables, some of which may be down.
    has_last_links: bool,
}

/// The order in which a connection takes the ports of a switch.
#[derive(Clone, Debug)]
struct Order {
    switch: u32,
    entries: Vec<u32>,
}

/// One direction of a connection.
#[derive(Clone, Debug)]
struct Connection {
    /// Token, source and destination.
    key: (u64, u32, u32),
    flows: Vec<u32>,
    orders: Vec<Order>,
}

/// The connections whose subflows are routed.
#[derive(Clone, Debug, Default)]
pub(super) struct Connections {
    all: Vec<Option<Connection>>,
    unused: Vec<u32>,
    /// By token, source and destination.
    places: BTreeMap<(u64, u32, u32), u32>,
}

impl Connections {
    fn place(&mut self, key: (u64, u32, u32)) -> u32 {
        if let Some(&place) = self.places.get(&key) {
            return place;
        }
        let place = self.unused.pop().unwrap_or_else(|| {
            self.all.push(None);
            self.all.len() as u32 - 1
        });
        self.all[place as usize] = Some(Connection {
            key,
            flows: Vec::new(),
            orders: Vec::new(),
        });
        self.places.insert(key, place);
        place
    }

    fn get(&mut self, place: u32) -> &mut Connection {
        let connection = self.all[place as usize].as_mut();
        connection.expect("a connection lives as long as its flows")
    }

    /// Token, source and destination of a connection.
    fn key(&self, place: u32) -> (u64, u32, u32) {
        let connection = self.all[place as usize].as_ref();
        connection
            .expect("a connection lives as long as its flows")
            .key
    }

    fn remove_flow(&mut self, place: u32, flow: u32) {
        let connection = self.get(place);
        connection.flows.retain(|&other| other != flow);
        if connection.flows.is_empty() {
            let key = connection.key;
            self.places.remove(&key);
            self.all[place as usize] = None;
            self.unused.push(place);
        }
    }
}

impl Fmp {
    /// The port from which a host sends a subflow's packets. A host with several takes turns among those that lead to
    /// the destination, or among all if none does.
    pub(crate) fn host_port(&self, source: u32, destination: u32, token: u64, subflow: u32) -> u32 {
        let all: Vec<u32> = self
            .paths
            .nearest_ports(source, destination)
            .map(|port| port.0)
            .collect();
        if all.len() == 1 {
            return all[0];
        }
        let group = self.paths.destination_of(destination);
        let live = all.iter().copied();
        let live: Vec<u32> = live
            .filter(|&port| self.port_leads(port, group, destination))
            .collect();
        let ports = if live.is_empty() { all } else { live };
        let turn = hash(&[self.seed, token, u64::from(source)]).wrapping_add(u64::from(subflow));
        ports[(turn % ports.len() as u64) as usize]
    }

    /// Hosts with several ports stop using those that lead nowhere. Calls `change` with the position of each flow that
    /// gets another port, and with that port.
    pub(crate) fn change_host_ports(&mut self, mut change: impl FnMut(u32, u32)) {
        if !std::mem::take(&mut self.ports_may_differ) {
            return;
        }
        self.known_to_lead = self.prices.leading();
        self.known_up.clone_from(&self.up);
        for place in 0..self.with_ports.len() {
            let number = self.with_ports[place];
            let flow = &self.flows[number as usize];
            if self.port_leads(flow.port, flow.destination, flow.host) {
                continue;
            }
            let (connection, subflow) = (flow.connection, flow.subflow);
            let (token, source, host) = self.connections.key(connection);
            let port = self.host_port(source, host, token, subflow);
            let flow = &mut self.flows[number as usize];
            if port != flow.port {
                flow.port = port;
                change(flow.position, port);
            }
        }
    }

    /// Whether a port of a host leads to another host, as far as the switches know.
    fn port_leads(&self, port: u32, destination: u32, host: u32) -> bool {
        self.up[port as usize] && self.is_known_to_lead(self.switch_at(port), destination, host)
    }

    /// Whether a switch leads to a host, as far as is known everywhere.
    fn is_known_to_lead(&self, switch: u32, destination: u32, host: u32) -> bool {
        let is_usable = |entry: u32| self.known_to_lead[entry as usize];
        let is_up = |link: u32| self.known_up[link as usize];
        self.leads_to_host(switch, destination, host, is_usable, is_up)
    }

    /// From now on packets at this position belong to this subflow of the connection with this token, and go from
    /// `source` to `destination`.
    pub(crate) fn open(
        &mut self,
        position: u32,
        (source, destination): (u32, u32),
        token: u64,
        subflow: u32,
        port: u32,
    ) {
        let connection = self.connections.place((token, source, destination));
        let flow = Flow {
            connection,
            position,
            port,
            subflow,
            destination: self.paths.destination_of(destination),
            host: destination,
            has_last_links: self.paths.nearest_ports(destination, source).count() > 1,
            hops: Hops::default(),
        };
        let has_ports = self.paths.nearest_ports(source, destination).count() > 1;
        let number = match self.unused_flows.pop() {
            Some(number) => {
                self.flows[number as usize] = flow;
                number
            }
            None => {
                self.flows.push(flow);
                self.flows.len() as u32 - 1
            }
        };
        if has_ports {
            self.with_ports.push(number);
        }
        self.connections.get(connection).flows.push(number);
        if self.flow_at.len() <= position as usize {
            self.flow_at.resize(position as usize + 1, NONE);
        }
        self.flow_at[position as usize] = number;
    }

    /// No more packets will come at this position.
    pub(crate) fn close(&mut self, position: u32) {
        let Some(number) = self.flow(position) else {
            return;
        };
        self.flow_at[position as usize] = NONE;
        let flow = std::mem::take(&mut self.flows[number as usize]);
        for hop in flow.hops.iter() {
            self.switches[hop.switch as usize].routes -= 1;
        }
        self.with_ports.retain(|&other| other != number);
        self.connections.remove_flow(flow.connection, number);
        self.unused_flows.push(number);
    }

    fn flow(&self, position: u32) -> Option<u32> {
        let flow = self.flow_at.get(position as usize).copied();
        flow.filter(|&flow| flow != NONE)
    }

    /// Where a packet goes from the end of a link.
    #[inline]
    pub(crate) fn next(&mut self, link: u32, position: u32, now: Time) -> Next {
        // Feedback is implied only while nothing fails, and then all ports lead on.
        let switch = self.switch_at(link);
        if self.implied.is_some()
            && let Some(&flow) = self.flow_at.get(position as usize)
            && let Some(flow) = self.flows.get_mut(flow as usize)
            && let Some(hop) = flow.hops.iter_mut().find(|hop| hop.switch == switch)
            && now <= hop.last + self.config.idle_expiry
        {
            hop.last = now;
            return Next::Link(hop.link);
        }
        self.next_at(switch, position, now)
    }

    /// [`Fmp::next`] at the switch where the link ends, without the shortcut.
    fn next_at(&mut self, switch: u32, position: u32, now: Time) -> Next {
        let Some(flow) = self.flow(position).filter(|_| switch != NONE) else {
            return Next::Host;
        };
        let hops = &self.flows[flow as usize].hops;
        let Some(place) = hops.iter().position(|hop| hop.switch == switch) else {
            return self.choose(flow, switch, None, now);
        };
        let hop = hops[place];
        if !self.is_fresh(&hop, now) {
            return self.choose(flow, switch, Some(place), now);
        }
        if !self.leads(&hop, flow) {
            let next = self.choose(flow, switch, Some(place), now);
            if next != Next::None {
                self.statistics_mut(switch).reroutes += 1;
            }
            return next;
        }
        self.flows[flow as usize].hops[place].last = now;
        Next::Link(hop.link)
    }

    fn is_fresh(&self, hop: &Hop, now: Time) -> bool {
        now <= hop.last + self.config.idle_expiry
    }

    fn leads(&self, hop: &Hop, flow: u32) -> bool {
        if hop.entry == NONE {
            self.up[hop.link as usize]
        } else {
            self.entry_leads(hop.entry, flow)
        }
    }

    /// Whether a port leads to a flow's host.
    fn entry_leads(&self, entry: u32, flow: u32) -> bool {
        let flow = &self.flows[flow as usize];
        let entry = self.prices.entry(entry);
        entry.price.is_reachable()
            && (!flow.has_last_links
                || self.is_known_to_lead(self.switch_at(entry.link), flow.destination, flow.host))
    }

    /// Chooses a subflow's port. `place` is the index of its entry for the switch, if it has one.
    #[cold]
    fn choose(&mut self, flow: u32, switch: u32, place: Option<usize>, now: Time) -> Next {
        let chosen = self.port_for(flow, switch, now);
        let flow = &mut self.flows[flow as usize];
        let Some((link, entry)) = chosen else {
            self.statistics_mut(switch).unroutable += 1;
            return Next::None;
        };
        let hop = Hop {
            switch,
            link,
            entry,
            last: now,
        };
        match place {
            Some(place) => flow.hops[place] = hop,
            None => {
                flow.hops.push(hop);
                let switch = &mut self.switches[switch as usize];
                switch.routes += 1;
                switch.statistics.routes = switch.statistics.routes.max(switch.routes);
            }
        }
        Next::Link(link)
    }

    /// The link to take, and its price entry.
    fn port_for(&mut self, number: u32, switch: u32, now: Time) -> Option<(u32, u32)> {
        let flow = &self.flows[number as usize];
        let (connection, subflow) = (flow.connection, flow.subflow as usize);
        let row = self.prices.row(flow.destination, switch);
        if self.prices.is_here(row) {
            let node = self.switches[switch as usize].node;
            let is_up = |link: u32| self.up[link as usize];
            let links: Vec<u32> = self.last_links(node, flow.host, is_up).collect();
            return (!links.is_empty()).then(|| (links[subflow % links.len()], NONE));
        }
        let entries = self.order(connection, row, switch, now);
        let siblings = |entry: u32| {
            let flows = self.connections.all[connection as usize].iter();
            let others = flows
                .flat_map(|connection| &connection.flows)
                .filter(|&&flow| flow != number);
            let hops = others.flat_map(|&flow| self.flows[flow as usize].hops.iter());
            hops.filter(|hop| hop.switch == switch && hop.entry == entry && self.is_fresh(hop, now))
                .count()
        };
        // The first of the ports that are taken by the fewest siblings.
        let entries = entries.into_iter();
        let leading = entries.filter(|&entry| self.entry_leads(entry, number));
        let entry = leading.min_by_key(|&entry| siblings(entry))?;
        Some((self.prices.entry(entry).link, entry))
    }

    fn last_links(
        &self,
        switch: NodeId,
        host: u32,
        is_usable: impl Fn(u32) -> bool,
    ) -> impl Iterator<Item = u32> {
        let links = self.paths.last_links(switch, host);
        links
            .map(|link| link.0)
            .filter(move |&link| is_usable(link))
    }

    /// The order in which a connection takes the ports of a switch. It stays the same as long as one of the subflows
    /// has a fresh entry there and all of its ports lead on.
    fn order(&mut self, connection: u32, row: u32, switch: u32, now: Time) -> Vec<u32> {
        let known = self.connections.get(connection);
        let flows = known.flows.clone();
        let place = known.orders.iter().position(|order| order.switch == switch);
        let token = known.key.0;
        if let Some(place) = place {
            let order = known.orders[place].entries.clone();
            let mut hops = flows
                .iter()
                .flat_map(|&flow| self.flows[flow as usize].hops.iter());
            let in_use = hops.any(|hop| hop.switch == switch && self.is_fresh(hop, now));
            let all_lead = order
                .iter()
                .all(|&entry| self.prices.entry(entry).price.is_reachable());
            if in_use && all_lead && !order.is_empty() {
                return order;
            }
        }
        self.recall(row, now);
        let by_connection = |link: u32| hash(&[self.seed, token, u64::from(link)]);
        let entries = prices::order(self.prices.entries(row), by_connection);
        let orders = &mut self.connections.get(connection).orders;
        let order = Order {
            switch,
            entries: entries.clone(),
        };
        match place {
            Some(place) => orders[place] = order,
            None => orders.push(order),
        }
        entries
    }

    /// The links that packets at this position take now, as far as they have been chosen; none if the position belongs
    /// to no subflow that is routed here.
    pub(crate) fn links(&self, position: u32) -> Vec<u32> {
        let Some(flow) = self.flow(position) else {
            return Vec::new();
        };
        let flow = &self.flows[flow as usize];
        let mut links = vec![flow.port];
        let mut at = flow.port;
        while let Some(hop) = flow
            .hops
            .iter()
            .find(|hop| hop.switch == self.switch_at(at))
            && links.len() <= flow.hops.len()
        {
            links.push(hop.link);
            at = hop.link;
        }
        links
    }

    /// Whether packets at this position are routed here.
    pub(crate) fn routes(&self, position: u32) -> bool {
        self.flow(position).is_some()
    }

    /// Whether packets at this position can reach their host over links that carry something, whether
    /// the switches know of it or not.
    pub(crate) fn has_live_path(
        &self,
        position: u32,
        carries: impl Fn(u32) -> bool + Copy,
    ) -> bool {
        let Some(flow) = self.flow(position) else {
            return false;
        };
        let flow = &self.flows[flow as usize];
        let is_usable = |entry: u32| carries(self.prices.entry(entry).link);
        let (_, source, host) = self.connections.key(flow.connection);
        let mut ports = self.paths.nearest_ports(source, host);
        ports.any(|LinkId(port)| {
            let switch = self.switch_at(port);
            carries(port)
                && self.leads_to_host(switch, flow.destination, flow.host, is_usable, carries)
        })
    }

    /// Whether a switch, or a cable's own end, leads to a host over usable ports and a usable last link.
    fn leads_to_host(
        &self,
        switch: u32,
        destination: u32,
        host: u32,
        is_usable: impl Fn(u32) -> bool + Copy,
        is_usable_link: impl Fn(u32) -> bool + Copy,
    ) -> bool {
        if switch == NONE {
            return true; // the host's own cable
        }
        let row = self.prices.row(destination, switch);
        if self.prices.is_here(row) {
            let node = self.switches[switch as usize].node;
            return self.last_links(node, host, is_usable_link).next().is_some();
        }
        self.prices.entries(row).any(|(number, entry)| {
            let next = self.switch_at(entry.link);
            is_usable(number)
                && self.leads_to_host(next, destination, host, is_usable, is_usable_link)
        })
    }
}
