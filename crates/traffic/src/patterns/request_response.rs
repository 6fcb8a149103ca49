//! Clients that ask a server, wait for its answer, and ask again.

use super::active::Active;
use super::pairs::Pairs;
use super::{Running, check_count, check_limit};
use crate::launcher::Launcher;
use crate::{Event, FlowStart, Hosts, Job, TrafficError};
use pathweave_random::Stream;
use pathweave_units::{Bytes, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::RangeInclusive;

/// Every client has a number of exchanges under way. In each it sends a request to a random server, which answers when it has the
/// whole request and a service time has passed. A think time after the answer the client begins the next. Each exchange is a job,
/// on a connection of its own. The group's size is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestResponse {
    /// The hosts that ask.
    pub clients: Option<Vec<u32>>,
    /// The hosts that may be asked; no client asks itself.
    pub servers: Option<Vec<u32>>,
    /// Exchanges that a client has under way or thinks about.
    pub outstanding: u32,
    /// Size of a request.
    pub request: Bytes,
    /// Size of an answer.
    pub response: Bytes,
    /// How long a server takes from the end of a request to the start of its answer, drawn for each.
    pub service_time: RangeInclusive<Time>,
    /// How long a client waits from the end of an answer to its next request, drawn for each.
    pub think_time: RangeInclusive<Time>,
    /// Exchanges of all clients together; `None` goes on for ever.
    pub count: Option<u64>,
}

impl Default for RequestResponse {
    fn default() -> RequestResponse {
        RequestResponse {
            clients: None,
            servers: None,
            outstanding: 1,
            request: Bytes::new(2_000),
            response: Bytes::new(64_000),
            service_time: Time::ZERO..=Time::ZERO,
            think_time: Time::ZERO..=Time::ZERO,
            count: None,
        }
    }
}

#[derive(Debug)]
struct Exchanges {
    options: RequestResponse,
    pairs: Pairs,
    /// Which server is asked, and for how long it serves and the client thinks.
    stream: Stream,
    active: Active<Part>,
    /// When clients have thought: time, a number that keeps the order of equal times, and the client.
    thinking: BinaryHeap<Reverse<(Time, u64, u32)>>,
    thoughts: u64,
    left: Option<u64>,
}

/// A flow's part in its exchange.
#[derive(Clone, Copy, Debug)]
enum Part {
    Request { job: u32, client: u32, server: u32 },
    Response { job: u32, client: u32 },
}

impl RequestResponse {
    pub(super) fn start(
        self,
        hosts: &Hosts,
        stream: Stream,
    ) -> Result<Box<dyn Running>, TrafficError> {
        check_count("outstanding", u64::from(self.outstanding))?;
        check_count("request", self.request.get())?;
        check_count("response", self.response.get())?;
        check_limit("count", self.count)?;
        let pairs = Pairs::new(
            hosts,
            self.clients.as_deref(),
            self.servers.as_deref(),
            false,
        )?;
        Ok(Box::new(Exchanges {
            left: self.count,
            options: self,
            pairs,
            stream,
            active: Active::new(),
            thinking: BinaryHeap::new(),
            thoughts: 0,
        }))
    }
}

impl Exchanges {
    /// A client sends a request, unless all exchanges have begun.
    fn ask(&mut self, client: u32, at: Time, launcher: &mut Launcher, starts: &mut Vec<FlowStart>) {
        match &mut self.left {
            Some(0) => return,
            Some(left) => *left -= 1,
            None => {}
        }
        let server = self
            .pairs
            .pick_destination(client, &mut self.stream, |_| true)
            .expect("every client was checked to have a server");
        let job = launcher.begin_job(Job {
            start: at,
            end: None,
            flows: 2,
            bytes: self.options.request + self.options.response,
        });
        let flow = launcher.push(starts, client, server, Some(self.options.request), at);
        flow.job = Some(job);
        let part = Part::Request {
            job,
            client,
            server,
        };
        self.active.insert(flow.tag, part);
    }

    fn draw(&mut self, time: &RangeInclusive<Time>) -> Time {
        if time.start() == time.end() {
            return *time.start();
        }
        let picos = self
            .stream
            .between(time.start().as_picos(), time.end().as_picos());
        Time::from_picos(picos)
    }

    /// A client has its answer: it begins the next exchange when it has thought.
    fn think(
        &mut self,
        client: u32,
        now: Time,
        launcher: &mut Launcher,
        starts: &mut Vec<FlowStart>,
    ) {
        let time = self.options.think_time.clone();
        match self.draw(&time) {
            Time::ZERO if launcher.draining() => {}
            Time::ZERO => self.ask(client, now, launcher, starts),
            time => {
                self.thinking
                    .push(Reverse((now.saturating_add(time), self.thoughts, client)));
                self.thoughts += 1;
            }
        }
    }
}

impl Running for Exchanges {
    fn on(
        &mut self,
        event: Event,
        now: Time,
        launcher: &mut Launcher,
        starts: &mut Vec<FlowStart>,
    ) {
        match event {
            Event::Begin if launcher.draining() => {}
            Event::Begin => {
                for _ in 0..self.options.outstanding {
                    for client in self.pairs.sources.clone() {
                        let at = launcher.put_off(now);
                        self.ask(client, at, launcher, starts);
                    }
                }
            }
            Event::Wake => {
                while let Some(&Reverse((at, _, client))) = self.thinking.peek()
                    && at <= now
                    && !launcher.draining()
                {
                    self.thinking.pop();
                    // A late wake must not make a start lie in the past.
                    self.ask(client, at.max(now), launcher, starts);
                }
            }
            Event::Finished { tag, at } => match self.active.remove(tag) {
                Some(Part::Request {
                    job,
                    client,
                    server,
                }) => {
                    let time = self.options.service_time.clone();
                    let at = now.saturating_add(self.draw(&time));
                    let response = Some(self.options.response);
                    let flow = launcher.push(starts, server, client, response, at);
                    flow.job = Some(job);
                    flow.established = true;
                    self.active.insert(flow.tag, Part::Response { job, client });
                }
                Some(Part::Response { job, client }) => {
                    launcher.end_job(job, at);
                    self.think(client, now, launcher, starts);
                }
                None => {}
            },
        }
    }

    fn next_wake(&self) -> Option<Time> {
        match self.left {
            Some(0) => None,
            _ => self.thinking.peek().map(|&Reverse((at, ..))| at),
        }
    }
}
