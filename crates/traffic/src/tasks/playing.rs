//! Carrying out graphs of tasks: one or several jobs, each of which repeats its graph for some iterations.

use super::{Action, Graph};
use crate::Iteration;
use crate::launcher::Launcher;
use crate::patterns::{Active, Running};
use crate::{Event, FlowStart, Job};
use pathweave_random::Stream;
use pathweave_units::{Bytes, Time};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

/// One job: a graph, the hosts of its ranks, and how often it is carried out.
#[derive(Debug)]
pub(crate) struct Work {
    pub graph: Arc<Graph>,
    /// The host of each rank.
    pub hosts: Vec<u32>,
    pub iterations: u64,
    /// How long processors without a time of their own compute.
    pub computing: Option<Computing>,
}

/// How long processors compute in an iteration: uniformly drawn between two times, times the factor of each.
#[derive(Debug)]
pub(crate) struct Computing {
    pub least: Time,
    pub most: Time,
    /// Of each processor.
    pub factors: Vec<f64>,
    pub stream: Stream,
}

impl Computing {
    /// The times of one iteration.
    fn draw(&mut self, times: &mut Vec<Time>) {
        times.clear();
        for &factor in &self.factors {
            let picos = self
                .stream
                .between(self.least.as_picos(), self.most.as_picos());
            // As a whole number of picoseconds; exact where the factor is 1.
            let slowed = if factor == 1.0 {
                picos
            } else {
                (picos as f64 * factor) as u64
            };
            times.push(Time::from_picos(slowed));
        }
    }
}

/// What a job is about at the moment.
#[derive(Debug)]
struct Progress {
    work: Work,
    /// Iterations that have not begun.
    to_come: u64,
    /// When this iteration began.
    began: Time,
    job: u32,
    /// How many tasks each task still waits for.
    waits: Vec<u32>,
    /// When each processor is free.
    free: Vec<Time>,
    /// How long each processor computes in this iteration.
    times: Vec<Time>,
    tasks_left: usize,
    sends_left: u64,
    /// Transfers that have not begun in this iteration.
    sends_to_begin: u64,
    /// When the last of what has ended did.
    last_end: Time,
}

/// The jobs of a group at work.
#[derive(Debug)]
pub(crate) struct Playing {
    jobs: Vec<Progress>,
    /// The job and task of each flow under way.
    active: Active<(u32, u32)>,
    /// When tasks end or begin and iterations begin: time, job, and what.
    timers: BinaryHeap<Reverse<(Time, u32, u32)>>,
    /// Timers of tasks.
    tasks_timed: usize,
    /// Pairs of hosts that have a connection.
    connected: Active<()>,
    manner: Manner,
    /// Tasks that can begin, of the job that is being told something.
    ready: VecDeque<u32>,
}

/// In a timer, in place of a task: an iteration begins.
const ITERATION: u32 = u32::MAX;

/// In a timer, with a task's number: the task may begin. Without it, it ends.
const BEGINS: u32 = 1 << 31;

/// How a group's jobs are carried out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner {
    /// Flows between two hosts share a connection that stays open.
    pub keep_connections: bool,
    /// An iteration that has begun goes on to its end when nothing new shall start.
    pub whole_iterations: bool,
    /// The first iteration is put off by the jitter.
    pub put_off: bool,
}

impl Playing {
    pub fn new(works: Vec<Work>, manner: Manner) -> Playing {
        let progress = |work: Work| Progress {
            to_come: work.iterations,
            began: Time::ZERO,
            job: 0,
            waits: Vec::new(),
            free: vec![Time::ZERO; work.graph.processors() as usize],
            times: Vec::new(),
            tasks_left: 0,
            sends_left: 0,
            sends_to_begin: 0,
            last_end: Time::ZERO,
            work,
        };
        Playing {
            jobs: works.into_iter().map(progress).collect(),
            active: Active::new(),
            timers: BinaryHeap::new(),
            tasks_timed: 0,
            connected: Active::new(),
            manner,
            ready: VecDeque::new(),
        }
    }

    fn begin_iteration(
        &mut self,
        index: u32,
        now: Time,
        launcher: &mut Launcher,
        starts: &mut Vec<FlowStart>,
    ) {
        let progress = &mut self.jobs[index as usize];
        if launcher.draining() || progress.to_come == 0 {
            return;
        }
        progress.to_come -= 1;
        let graph = Arc::clone(&progress.work.graph);
        progress.began = now;
        progress.waits.clear();
        progress.waits.extend_from_slice(graph.waits());
        progress.free.fill(now);
        if let Some(computing) = &mut progress.work.computing {
            computing.draw(&mut progress.times);
        }
        progress.tasks_left = graph.actions().len();
        progress.sends_left = graph.sends();
        progress.sends_to_begin = graph.sends();
        progress.last_end = now;
        progress.job = launcher.begin_job(Job {
            start: now,
            end: None,
            flows: graph.sends() as u32,
            bytes: graph.bytes(),
        });
        launcher.begin_iteration(Iteration {
            job: progress.job,
            team: index,
            number: progress.work.iterations - progress.to_come - 1,
            began: now,
            ended: None,
        });
        let free = (0u32..).zip(&progress.waits);
        let free = free.filter(|&(_, &waits)| waits == 0);
        self.ready.extend(free.map(|(task, _)| task));
        self.go_on(index, now, launcher, starts);
    }

    /// Begins all tasks that can begin, and those that can because of it.
    fn go_on(
        &mut self,
        index: u32,
        now: Time,
        launcher: &mut Launcher,
        starts: &mut Vec<FlowStart>,
    ) {
        if !self.may_begin(launcher) {
            self.ready.clear();
        }
        while let Some(task) = self.ready.pop_front() {
            let progress = &mut self.jobs[index as usize];
            let graph = Arc::clone(&progress.work.graph);
            let earliest = progress.began.saturating_add(graph.earliest(task));
            if earliest > now {
                self.set_timer(earliest, index, task | BEGINS);
                continue;
            }
            release(
                &mut progress.waits,
                graph.after_start(task),
                &mut self.ready,
            );
            match graph.actions()[task as usize] {
                Action::Send { from, to, bytes } => {
                    self.send(index, task, (from, to, bytes), now, launcher, starts);
                }
                Action::Compute { processor, time } => {
                    let own = || progress.times.get(processor as usize).copied();
                    let time = time.or_else(own).unwrap_or(Time::ZERO);
                    let free = &mut progress.free[processor as usize];
                    let end = now.max(*free).saturating_add(time);
                    *free = end;
                    if end <= now {
                        self.end(index, task, now, launcher);
                    } else {
                        self.set_timer(end, index, task);
                    }
                }
                Action::Join => self.end(index, task, now, launcher),
            }
        }
        let progress = &self.jobs[index as usize];
        if progress.tasks_left == 0 && progress.to_come > 0 && !launcher.draining() {
            // By way of a timer, so that iterations without anything to wait for do not nest.
            self.timers.push(Reverse((now, index, ITERATION)));
        }
    }

    fn send(
        &mut self,
        index: u32,
        task: u32,
        (from, to, bytes): (u32, u32, Bytes),
        now: Time,
        launcher: &mut Launcher,
        starts: &mut Vec<FlowStart>,
    ) {
        let progress = &mut self.jobs[index as usize];
        let [source, destination] = [from, to].map(|rank| progress.work.hosts[rank as usize]);
        if progress.sends_to_begin == progress.work.graph.sends() {
            launcher.set_job_start(progress.job, now);
        }
        progress.sends_to_begin -= 1;
        if source == destination {
            // Within a host no packet leaves it.
            progress.sends_left -= 1;
            if progress.sends_left == 0 {
                launcher.end_job(progress.job, now);
            }
            self.end(index, task, now, launcher);
            return;
        }
        let pair = u64::from(source) << 32 | u64::from(destination);
        let known = self.manner.keep_connections && self.connected.insert(pair, ()).is_some();
        let flow = launcher.push(starts, source, destination, Some(bytes), now);
        flow.job = Some(progress.job);
        flow.established = known;
        self.active.insert(flow.tag, (index, task));
    }

    /// Whether tasks may still begin.
    fn may_begin(&self, launcher: &Launcher) -> bool {
        self.manner.whole_iterations || !launcher.draining()
    }

    fn set_timer(&mut self, at: Time, index: u32, task: u32) {
        self.tasks_timed += 1;
        self.timers.push(Reverse((at, index, task)));
    }

    /// A task was done at this time.
    fn end(&mut self, index: u32, task: u32, at: Time, launcher: &mut Launcher) {
        let progress = &mut self.jobs[index as usize];
        let graph = Arc::clone(&progress.work.graph);
        if graph.actions()[task as usize] != Action::Join {
            progress.last_end = progress.last_end.max(at);
        }
        release(&mut progress.waits, graph.after_end(task), &mut self.ready);
        progress.tasks_left -= 1;
        if progress.tasks_left == 0 {
            launcher.end_iteration(progress.job, progress.last_end);
            if graph.sends() == 0 {
                launcher.end_job(progress.job, progress.last_end);
            }
        }
    }
}

/// These wait for one task less.
fn release(waits: &mut [u32], tasks: &[u32], ready: &mut VecDeque<u32>) {
    for &task in tasks {
        let waits = &mut waits[task as usize];
        *waits -= 1;
        if *waits == 0 {
            ready.push_back(task);
        }
    }
}

impl Running for Playing {
    fn on(
        &mut self,
        event: Event,
        now: Time,
        launcher: &mut Launcher,
        starts: &mut Vec<FlowStart>,
    ) {
        match event {
            Event::Begin => {
                for index in 0..self.jobs.len() as u32 {
                    let put_off = self.manner.put_off;
                    let at = if put_off { launcher.put_off(now) } else { now };
                    self.timers.push(Reverse((at, index, ITERATION)));
                }
            }
            Event::Wake => {}
            Event::Finished { tag, at } => {
                let Some((index, task)) = self.active.remove(tag) else {
                    return;
                };
                let progress = &mut self.jobs[index as usize];
                progress.sends_left -= 1;
                if progress.sends_left == 0 {
                    launcher.end_job(progress.job, at);
                }
                self.end(index, task, at, launcher);
                self.go_on(index, now, launcher, starts);
            }
        }
        while let Some(&Reverse((_, index, task))) =
            self.timers.peek().filter(|Reverse((at, ..))| *at <= now)
        {
            self.timers.pop();
            if task == ITERATION {
                self.begin_iteration(index, now, launcher, starts);
                continue;
            }
            self.tasks_timed -= 1;
            if task & BEGINS == 0 {
                self.end(index, task, now, launcher);
            } else if self.may_begin(launcher) {
                self.ready.push_back(task & !BEGINS);
            }
            self.go_on(index, now, launcher, starts);
        }
    }

    fn next_wake(&self) -> Option<Time> {
        self.timers.peek().map(|Reverse((at, ..))| *at)
    }

    fn wake_while_draining(&self) -> Option<Time> {
        // Iterations that do not begin any more hold up nothing.
        let awaited = self.manner.whole_iterations && self.tasks_timed > 0;
        self.next_wake().filter(|_| awaited)
    }

    fn to_come(&self) -> Option<u64> {
        let of = |progress: &Progress| {
            let flows = progress.work.graph.sends();
            progress.sends_to_begin + progress.to_come.saturating_mul(flows)
        };
        Some(self.jobs.iter().map(of).fold(0, u64::saturating_add))
    }
}
