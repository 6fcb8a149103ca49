//! Work as a graph of tasks: transfers between ranks, computation, and what waits for what.
//!
//! Collective operations, recorded flows and GOAL schedules are all built as a [`Graph`] and carried out by
//! the same [`playing`] of it. Tasks name ranks, not hosts, so that jobs of one shape share one graph and each
//! job puts it on its own hosts.

pub(crate) mod playing;

use crate::TrafficError;
use pathweave_units::{Bytes, Time};

/// What a task does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A rank sends this much to another one; done when the last byte was delivered.
    Send {
        /// The rank that sends.
        from: u32,
        /// The rank that receives.
        to: u32,
        /// How much.
        bytes: Bytes,
    },
    /// A processor is busy for a time. A processor does one task at a time, in the order in which they can begin.
    Compute {
        /// The processor, from 0; those of a collective are its ranks.
        processor: u32,
        /// For how long; `None` takes the processor's time of this iteration.
        time: Option<Time>,
    },
    /// Nothing: it is done as soon as all that it waits for is.
    Join,
}

/// Tasks and what they wait for. Tasks are numbered from 0 in the order in which they were added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    actions: Vec<Action>,
    /// How many tasks each waits for.
    waits: Vec<u32>,
    /// By task, those that wait for its end.
    after_end: Lists,
    /// By task, those that wait for its beginning.
    after_start: Lists,
    /// By task, how long after the graph it begins at the earliest; empty when none waits for a time.
    earliest: Vec<Time>,
    ranks: u32,
    processors: u32,
    sends: u64,
    bytes: Bytes,
}

impl Graph {
    /// The tasks.
    pub fn actions(&self) -> &[Action] {
        &self.actions
    }

    /// Which ranks send to which, each pair once, in order.
    pub fn pairs(&self) -> Vec<(u32, u32)> {
        let sends = self.actions.iter().filter_map(|action| match *action {
            Action::Send { from, to, .. } => Some((from, to)),
            Action::Compute { .. } | Action::Join => None,
        });
        let mut pairs: Vec<(u32, u32)> = sends.collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }

    /// How many tasks each task waits for.
    pub(crate) fn waits(&self) -> &[u32] {
        &self.waits
    }

    /// The tasks that wait for the end of this one.
    pub fn after_end(&self, task: u32) -> &[u32] {
        self.after_end.of(task)
    }

    /// The tasks that wait for the beginning of this one only.
    pub fn after_start(&self, task: u32) -> &[u32] {
        self.after_start.of(task)
    }

    /// How long after the graph this task begins at the earliest.
    pub fn earliest(&self, task: u32) -> Time {
        let time = self.earliest.get(task as usize);
        time.copied().unwrap_or(Time::ZERO)
    }

    /// One more than the highest rank that sends or receives.
    pub fn ranks(&self) -> u32 {
        self.ranks
    }

    /// Number of processors.
    pub fn processors(&self) -> u32 {
        self.processors
    }

    /// Number of transfers.
    pub fn sends(&self) -> u64 {
        self.sends
    }

    /// Bytes of all transfers together.
    pub fn bytes(&self) -> Bytes {
        self.bytes
    }
}

/// A list for each task, one after the other in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Lists {
    /// Where each task's list ends; empty when all lists are.
    ends: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    /// Of pairs (whose list, item), in the order of the pairs.
    fn of_pairs(pairs: &[(u32, u32)], tasks: usize) -> Lists {
        if pairs.is_empty() {
            return Lists::default();
        }
        let mut ends = vec![0u32; tasks];
        for &(whose, _) in pairs {
            ends[whose as usize] += 1;
        }
        let mut sum = 0;
        for end in &mut ends {
            // The begin of each list for now; filling moves it to the end.
            (*end, sum) = (sum, sum + *end);
        }
        let mut items = vec![0; pairs.len()];
        for &(whose, item) in pairs {
            let place = &mut ends[whose as usize];
            items[*place as usize] = item;
            *place += 1;
        }
        Lists { ends, items }
    }

    fn of(&self, task: u32) -> &[u32] {
        let task = task as usize;
        let Some(&end) = self.ends.get(task) else {
            return &[];
        };
        let begin = task.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.items[begin as usize..end as usize]
    }
}

/// Puts a [`Graph`] together.
#[derive(Clone, Debug, Default)]
pub struct Builder {
    actions: Vec<Action>,
    /// (before, after), by the end of what comes before.
    ends: Vec<(u32, u32)>,
    /// (before, after), by its beginning.
    starts: Vec<(u32, u32)>,
    earliest: Vec<Time>,
}

/// Tasks of one graph at most: their numbers, and those of what they wait for, are 32 bits long.
const MOST: usize = 1 << 31;

impl Builder {
    /// Adds a task that waits for the end of these, and gives its number.
    pub fn task(&mut self, action: Action, after: impl IntoIterator<Item = u32>) -> u32 {
        let task = self.actions.len() as u32;
        self.actions.push(action);
        self.ends
            .extend(after.into_iter().map(|before| (before, task)));
        task
    }

    /// Lets a task wait for the end of another one, which may have been added later.
    pub fn wait_for_end(&mut self, task: u32, before: u32) {
        self.ends.push((before, task));
    }

    /// Lets a task wait for the beginning of another one.
    pub fn wait_for_start(&mut self, task: u32, before: u32) {
        self.starts.push((before, task));
    }

    /// Lets a task begin this long after the graph at the earliest.
    pub fn not_before(&mut self, task: u32, earliest: Time) {
        if earliest > Time::ZERO {
            let tasks = self.actions.len();
            self.earliest.resize(tasks, Time::ZERO);
            self.earliest[task as usize] = earliest;
        }
    }

    /// The graph.
    ///
    /// # Errors
    /// When tasks wait for each other in a circle; the error names one of them. When there are more than
    /// [`MOST`] tasks or dependencies.
    pub fn build(self) -> Result<Graph, Unbuilt> {
        let tasks = self.actions.len();
        if tasks.max(self.ends.len() + self.starts.len()) > MOST {
            return Err(Unbuilt::TooLarge);
        }
        let mut waits = vec![0u32; tasks];
        for &(_, after) in self.ends.iter().chain(&self.starts) {
            waits[after as usize] += 1;
        }
        let mut graph = Graph {
            after_end: Lists::of_pairs(&self.ends, tasks),
            after_start: Lists::of_pairs(&self.starts, tasks),
            waits,
            earliest: self.earliest,
            ..Graph::default()
        };
        for action in &self.actions {
            match *action {
                Action::Send { from, to, bytes } => {
                    graph.ranks = graph.ranks.max(from.max(to) + 1);
                    graph.sends += 1;
                    graph.bytes = Bytes::new(graph.bytes.get().saturating_add(bytes.get()));
                }
                Action::Compute { processor, .. } => {
                    graph.processors = graph.processors.max(processor + 1);
                }
                Action::Join => {}
            }
        }
        graph.actions = self.actions;
        match in_a_circle(&graph) {
            Some(task) => Err(Unbuilt::Circle(task)),
            None => Ok(graph),
        }
    }
}

/// Why there is no graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unbuilt {
    /// This task waits, directly or not, for itself.
    Circle(u32),
    /// There are more tasks or dependencies than can be numbered.
    TooLarge,
}

impl From<Unbuilt> for TrafficError {
    fn from(unbuilt: Unbuilt) -> TrafficError {
        TrafficError(match unbuilt {
            Unbuilt::Circle(task) => format!("task {task} waits, directly or not, for itself"),
            Unbuilt::TooLarge => {
                format!("there are more than {MOST} tasks or dependencies; give fewer")
            }
        })
    }
}

/// A task that waits for itself, directly or not: the one of them with the lowest number.
fn in_a_circle(graph: &Graph) -> Option<u32> {
    let mut waits = graph.waits.clone();
    let free = |(task, &waits): (usize, &u32)| (waits == 0).then_some(task as u32);
    let mut ready: Vec<u32> = waits.iter().enumerate().filter_map(free).collect();
    while let Some(task) = ready.pop() {
        for &next in graph.after_end(task).iter().chain(graph.after_start(task)) {
            waits[next as usize] -= 1;
            if waits[next as usize] == 0 {
                ready.push(next);
            }
        }
    }
    // What is left waits for a circle or is on one: going back from any of it ends up in one.
    let left = waits.iter().position(|&waits| waits > 0)?;
    let mut before = vec![u32::MAX; waits.len()];
    for task in (0..waits.len() as u32).filter(|&task| waits[task as usize] > 0) {
        for &next in graph.after_end(task).iter().chain(graph.after_start(task)) {
            before[next as usize] = before[next as usize].min(task);
        }
    }
    let mut task = left as u32;
    for _ in 0..waits.len() {
        task = before[task as usize];
    }
    let (mut lowest, first) = (task, task);
    loop {
        task = before[task as usize];
        lowest = lowest.min(task);
        if task == first {
            return Some(lowest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_is_found_behind_what_waits_for_it() {
        let mut builder = Builder::default();
        let first = builder.task(Action::Join, []);
        let a = builder.task(Action::Join, [first]);
        let b = builder.task(Action::Join, [a]);
        let c = builder.task(Action::Join, [b]);
        builder.task(Action::Join, [c, first]);
        assert!(builder.clone().build().is_ok());
        builder.wait_for_start(a, c);
        assert_eq!(builder.build(), Err(Unbuilt::Circle(a)));
    }

    #[test]
    fn lists_keep_the_order_of_what_waits() {
        let lists = Lists::of_pairs(&[(2, 7), (0, 1), (2, 5), (0, 3)], 4);
        assert_eq!(
            [0, 1, 2, 3].map(|task| lists.of(task).to_vec()),
            [vec![1, 3], vec![], vec![7, 5], vec![]]
        );
        assert!(Lists::of_pairs(&[], 4).of(3).is_empty());
    }
}
