//! Jobs in which one client asks several servers at once.

use super::active::Active;
use super::poisson::{check_rate, next_arrival};
use super::{Arrivals, Running, check_count};
use crate::launcher::Launcher;
use crate::{Event, FlowStart, Hosts, Job, TrafficError};
use pathweave_random::Stream;
use pathweave_units::{Bytes, Time};

/// Jobs that pick one client and its servers at random: the client sends a request to each server, each server answers when it
/// has the whole request, and the job ends when the client has all answers. There is a number of jobs at all times, or they
/// arrive by a Poisson process, however many are under way. The group's size is not used.
#[derive(Clone, Debug, PartialEq)]
pub struct Incast {
    /// The hosts that jobs pick from, more than `servers`.
    pub hosts: Option<Vec<u32>>,
    /// Jobs under way at a time, where they do not arrive by themselves.
    pub jobs: u32,
    /// How often jobs arrive by themselves: jobs take the place of flows, and hosts that of sources. `None` starts a job
    /// whenever another has ended.
    pub arrivals: Option<Arrivals>,
    /// Servers that a job asks.
    pub servers: u32,
    /// Size of a request. Without a byte servers answer when the job starts, on connections that they open.
    pub request: Bytes,
    /// Size of an answer.
    pub response: Bytes,
}

impl Default for Incast {
    fn default() -> Incast {
        Incast {
            hosts: None,
            jobs: 8,
            arrivals: None,
            servers: 8,
            request: Bytes::new(2_000),
            response: Bytes::new(64_000),
        }
    }
}

#[derive(Debug)]
struct Jobs {
    options: Incast,
    /// The hosts in an order of which the next job shuffles the front.
    hosts: Vec<u32>,
    stream: Stream,
    active: Active<Part>,
    /// Answers that each job under way still lacks, by slot.
    missing: Vec<u32>,
    /// Slots of jobs that have ended and that no job has followed.
    free: Vec<u32>,
    /// Mean time between arrivals in seconds, and the next one, where jobs arrive by themselves.
    arrivals: Option<(f64, Time)>,
}

/// A flow's part in its job.
#[derive(Clone, Copy, Debug)]
enum Part {
    Request {
        slot: u32,
        job: u32,
        client: u32,
        server: u32,
    },
    Response {
        slot: u32,
        job: u32,
    },
}

impl Incast {
    /// The bytes of a job: all requests and answers.
    pub fn bytes(&self) -> Bytes {
        let each = self.request + self.response;
        Bytes::new(each.get().saturating_mul(u64::from(self.servers)))
    }

    /// The jobs that arrive in a second on average, on a fabric with `all` hosts; `None` where they follow each other.
    ///
    /// # Errors
    /// When the rate is impossible.
    pub fn jobs_per_second(&self, all: u32) -> Result<Option<f64>, TrafficError> {
        let hosts = self.hosts.as_ref().map_or(all, |own| own.len() as u32);
        let rate =
            |arrivals: &Arrivals| arrivals.per_second(hosts, Some(self.bytes().get() as f64));
        self.arrivals.as_ref().map(rate).transpose()
    }

    pub(super) fn start(
        self,
        hosts: &Hosts,
        stream: Stream,
    ) -> Result<Box<dyn Running>, TrafficError> {
        check_count("jobs", u64::from(self.jobs))?;
        check_count("servers", u64::from(self.servers))?;
        check_count("response", self.response.get())?;
        let rate = self.jobs_per_second(hosts.count)?;
        check_rate(rate.unwrap_or_default(), "jobs")?;
        let hosts = hosts.select("hosts", self.hosts.as_deref())?;
        if hosts.len() as u64 <= u64::from(self.servers) {
            return Err(TrafficError(format!(
                "servers is {}, but with the client a job then needs {} hosts and there are {}",
                self.servers,
                u64::from(self.servers) + 1,
                hosts.len()
            )));
        }
        Ok(Box::new(Jobs {
            missing: Vec::new(),
            free: Vec::new(),
            arrivals: rate.map(|rate| (1.0 / rate, Time::MAX)),
            options: self,
            hosts,
            stream,
            active: Active::new(),
        }))
    }
}

impl Jobs {
    /// Starts the next job: all its requests leave the client together, or all answers their servers where there are none.
    fn begin_job(&mut self, at: Time, launcher: &mut Launcher, starts: &mut Vec<FlowStart>) {
        let servers = self.options.servers;
        for place in 0..=servers as usize {
            let left = (self.hosts.len() - place) as u64;
            self.hosts
                .swap(place, place + self.stream.below(left) as usize);
        }
        let asks = self.options.request > Bytes::ZERO;
        let job = launcher.begin_job(Job {
            start: at,
            end: None,
            flows: servers * if asks { 2 } else { 1 },
            bytes: self.options.bytes(),
        });
        let slot = self.free.pop().unwrap_or_else(|| {
            self.missing.push(0);
            self.missing.len() as u32 - 1
        });
        self.missing[slot as usize] = servers;
        let client = self.hosts[0];
        for &server in &self.hosts[1..=servers as usize] {
            let (from, to, size, part) = if asks {
                let part = Part::Request {
                    slot,
                    job,
                    client,
                    server,
                };
                (client, server, self.options.request, part)
            } else {
                let part = Part::Response { slot, job };
                (server, client, self.options.response, part)
            };
            let flow = launcher.push(starts, from, to, Some(size), at);
            flow.job = Some(job);
            self.active.insert(flow.tag, part);
        }
    }

    /// Starts a job a little later, if jobs follow each other.
    fn follow(&mut self, now: Time, launcher: &mut Launcher, starts: &mut Vec<FlowStart>) {
        if self.arrivals.is_none() && !launcher.draining() {
            let at = launcher.put_off(now);
            self.begin_job(at, launcher, starts);
        }
    }
}

impl Running for Jobs {
    fn on(
        &mut self,
        event: Event,
        now: Time,
        launcher: &mut Launcher,
        starts: &mut Vec<FlowStart>,
    ) {
        match event {
            Event::Begin => match &mut self.arrivals {
                Some((mean_gap, next)) => *next = next_arrival(&mut self.stream, *mean_gap, now),
                None => {
                    for _ in 0..self.options.jobs {
                        self.follow(now, launcher, starts);
                    }
                }
            },
            Event::Wake => {
                while let Some((mean_gap, arrival)) = self.arrivals
                    && arrival <= now
                    && !launcher.draining()
                {
                    // A late wake must not make a start lie in the past.
                    self.begin_job(arrival.max(now), launcher, starts);
                    let next = next_arrival(&mut self.stream, mean_gap, arrival);
                    self.arrivals = Some((mean_gap, next));
                }
            }
            Event::Finished { tag, at } => match self.active.remove(tag) {
                Some(Part::Request {
                    slot,
                    job,
                    client,
                    server,
                }) => {
                    let response = Some(self.options.response);
                    let flow = launcher.push(starts, server, client, response, now);
                    flow.job = Some(job);
                    flow.established = true;
                    self.active.insert(flow.tag, Part::Response { slot, job });
                }
                Some(Part::Response { slot, job }) => {
                    self.missing[slot as usize] -= 1;
                    if self.missing[slot as usize] == 0 {
                        launcher.end_job(job, at);
                        self.free.push(slot);
                        self.follow(now, launcher, starts);
                    }
                }
                None => {}
            },
        }
    }

    fn next_wake(&self) -> Option<Time> {
        self.arrivals
            .map(|(_, next)| next)
            .filter(|&next| next < Time::MAX)
    }
}
