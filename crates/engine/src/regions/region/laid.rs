//! The routes that subflows have and had.

use pathweave_network::RouteId;
use pathweave_transport::SendingSubflow;

/// The two routes of a subflow: the first in the region of its source, the second in that of its destination.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SubflowRoutes {
    pub forward: RouteId,
    pub back: RouteId,
    /// Each packet draws its own routes instead.
    pub sprayed: bool,
}

/// What one subflow has.
#[derive(Clone, Debug, Default)]
struct Entry {
    own: Option<SubflowRoutes>,
    /// Those that its packets draw from; none if it keeps to one path.
    sprayed: Vec<SubflowRoutes>,
    /// Those that it had before it was rerouted: packets may still be on them.
    retired: Vec<SubflowRoutes>,
    /// Its path: a place in the run's list.
    path: u32,
}

/// The routes of all subflows, by the places of their sending halves.
#[derive(Clone, Debug, Default)]
pub(crate) struct Laid(Vec<Entry>);

impl Laid {
    fn at(&mut self, SendingSubflow(place): SendingSubflow) -> &mut Entry {
        let place = place as usize;
        if self.0.len() <= place {
            self.0.resize_with(place + 1, Entry::default);
        }
        &mut self.0[place]
    }

    fn get(&self, SendingSubflow(place): SendingSubflow) -> Option<&Entry> {
        self.0.get(place as usize)
    }

    /// A subflow takes these from now on, and its packets draw from the sprayed ones if there are any. What it had
    /// before is retired.
    pub fn lay(
        &mut self,
        subflow: SendingSubflow,
        own: SubflowRoutes,
        sprayed: Vec<SubflowRoutes>,
        path: u32,
    ) {
        let entry = self.at(subflow);
        if let Some(before) = entry.own.replace(own)
            && !before.sprayed
        {
            entry.retired.push(before);
        }
        entry.retired.append(&mut entry.sprayed);
        entry.sprayed = sprayed;
        entry.path = path;
    }

    /// A subflow is done. Gives the routes that it had.
    pub fn end(&mut self, subflow: SendingSubflow) -> impl Iterator<Item = SubflowRoutes> + use<> {
        let entry = self.at(subflow);
        let own = entry.own.take().filter(|routes| !routes.sprayed);
        let mut others = Vec::new();
        if !(entry.sprayed.is_empty() && entry.retired.is_empty()) {
            others.append(&mut entry.sprayed);
            others.append(&mut entry.retired);
        }
        own.into_iter().chain(others)
    }

    /// The routes of a subflow that keeps to one path, or that stand for those it draws.
    pub fn own(&self, subflow: SendingSubflow) -> Option<SubflowRoutes> {
        self.get(subflow)?.own
    }

    /// The routes that a subflow's packets draw from; none if it keeps to one path.
    pub fn sprayed(&self, subflow: SendingSubflow) -> &[SubflowRoutes] {
        self.get(subflow).map_or(&[], |entry| &entry.sprayed)
    }

    /// All routes that a subflow's packets may take from now on.
    pub fn all(&self, subflow: SendingSubflow) -> impl Iterator<Item = SubflowRoutes> {
        self.own(subflow)
            .into_iter()
            .chain(self.sprayed(subflow).iter().copied())
    }

    /// The path of a subflow: a place in the run's list.
    pub fn path(&self, subflow: SendingSubflow) -> u32 {
        self.get(subflow).map_or(0, |entry| entry.path)
    }

    /// Switches have chosen this path for a subflow.
    pub fn set_path(&mut self, subflow: SendingSubflow, path: u32) {
        self.at(subflow).path = path;
    }
}
