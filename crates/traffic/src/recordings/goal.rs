//! GOAL schedules, as text.
//!
//! The format of LogGOPSim (Hoefler, Schneider and Lumsdaine, "LogGOPSim: simulating large-scale applications in the
//! LogGOPS model", LSAP 2010), as its `txt2bin.re` reads it: `num_ranks N`, then for each rank a block `rank R { ... }`
//! of lines
//!
//! - `label: send 100b to 1 tag 2 cpu 0 nic 0`,
//! - `label: recv 100b from 0 tag 2 cpu 0 nic 0`,
//! - `label: calc 100 cpu 0`, in nanoseconds,
//! - `label requires other`: it begins when the other one has ended,
//! - `label irequires other`: it begins when the other one has begun.
//!
//! Labels, `tag`, `cpu` and `nic` may be left out (0), comments are `//` to the end of the line and `/* ... */`. The
//! n-th send from one rank to another one with a tag meets the n-th receive. A send has ended when its last byte was
//! delivered, a receive when the message has come and all that it requires is done; the two take no time of a processor.
//! A message of 0 B is sent as one of 1 B. A receive from any source, or with any tag (`-1`), is refused: which message
//! it meets depends on the network.

use super::Unreadable;
use crate::TrafficError;
use crate::tasks::{Action, Builder, Graph, Unbuilt};
use pathweave_units::{Bytes, Time};
use std::collections::{BTreeMap, HashMap, VecDeque};

/// A schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Goal {
    /// Its number of ranks.
    pub ranks: u32,
    /// Its tasks.
    pub graph: Graph,
    /// The largest message.
    pub largest: Bytes,
}

/// Ranks at most: those that do nothing have hosts, too.
const MOST_RANKS: u64 = 10_000_000;

/// Reads a schedule.
///
/// # Errors
/// With the line of the first thing that cannot be read, of a send or receive that meets none, or of a task that waits
/// for itself.
pub fn parse(text: &str) -> Result<Goal, Unreadable> {
    let mut reading = Reading::default();
    let mut comment = false;
    let mut line = 0;
    for (number, text) in (1u32..).zip(text.lines()) {
        line = number;
        let text = without_comments(text, &mut comment);
        reading.line(&text).map_err(|problem| Unreadable {
            line: number,
            problem,
        })?;
    }
    if comment {
        let problem = "a comment is open at the end; close it with */".to_owned();
        return Err(Unreadable { line, problem });
    }
    reading.finish(line)
}

/// What stands outside of comments; `open` says whether one began before the line, or goes on behind it.
fn without_comments(text: &str, open: &mut bool) -> String {
    let mut left = String::new();
    let mut rest = text;
    loop {
        if *open {
            let Some((_, behind)) = rest.split_once("*/") else {
                return left;
            };
            (*open, rest) = (false, behind);
        }
        // One search for both: each would look through the whole line again where the other has found something.
        let begins = |pair: &[u8]| pair == b"//" || pair == b"/*";
        let Some(at) = rest.as_bytes().windows(2).position(begins) else {
            left += rest;
            return left;
        };
        left += &rest[..at];
        if rest[at..].starts_with("//") {
            return left;
        }
        left.push(' ');
        (*open, rest) = (true, &rest[at + 2..]);
    }
}

/// Messages from one rank to another one with a tag.
type Channel = (u32, u32, u32);

/// What has been read so far.
#[derive(Default)]
struct Reading {
    ranks: Option<u32>,
    /// The rank whose block is open.
    rank: Option<u32>,
    /// Ranks whose block has been read.
    seen: Vec<bool>,
    builder: Builder,
    /// By task, its line.
    lines: Vec<u32>,
    line: u32,
    /// The labels of the open block.
    labels: HashMap<String, u32>,
    processors: HashMap<(u32, u32), u32>,
    /// Tasks that meet none yet. Ordered, as an error names the first.
    sends: BTreeMap<Channel, VecDeque<(u32, u64)>>,
    receives: BTreeMap<Channel, VecDeque<(u32, u64)>>,
    largest: u64,
}

impl Reading {
    fn line(&mut self, text: &str) -> Result<(), String> {
        self.line += 1;
        let words = words(text);
        let mut words = words.into_iter().peekable();
        while let Some(word) = words.next() {
            match word {
                "num_ranks" => self.num_ranks(&mut words)?,
                "rank" => self.begin_rank(&mut words)?,
                "}" => {
                    if self.rank.take().is_none() {
                        return Err("a block ends that has not begun; remove the }".to_owned());
                    }
                    self.labels.clear();
                }
                _ => {
                    let rank = self
                        .rank
                        .ok_or_else(|| unexpected(word, "num_ranks, or a block: rank 0 {"))?;
                    self.task(rank, word, &mut words)?;
                }
            }
        }
        Ok(())
    }

    fn num_ranks<'a>(&mut self, words: &mut impl Iterator<Item = &'a str>) -> Result<(), String> {
        let ranks = number(words.next(), "the number of ranks")?;
        if self.ranks.is_some() {
            return Err("num_ranks is given twice; give it once".to_owned());
        }
        if ranks == 0 || ranks > MOST_RANKS {
            return Err(format!(
                "num_ranks is {ranks}; it must be between 1 and {MOST_RANKS}"
            ));
        }
        self.ranks = Some(ranks as u32);
        self.seen = vec![false; ranks as usize];
        Ok(())
    }

    fn begin_rank<'a>(&mut self, words: &mut impl Iterator<Item = &'a str>) -> Result<(), String> {
        if let Some(rank) = self.rank {
            return Err(format!(
                "the block of rank {rank} is open; close it with }} first"
            ));
        }
        let rank = self.rank_of(words.next())?;
        match words.next() {
            Some("{") => {}
            other => return Err(unexpected(other.unwrap_or("the end of the line"), "{")),
        }
        if std::mem::replace(&mut self.seen[rank as usize], true) {
            return Err(format!("rank {rank} has two blocks; give it one"));
        }
        self.rank = Some(rank);
        Ok(())
    }

    fn rank_of(&self, word: Option<&str>) -> Result<u32, String> {
        let Some(ranks) = self.ranks else {
            return Err("num_ranks must come before the first rank".to_owned());
        };
        let rank = number(word, "a rank")?;
        if rank >= u64::from(ranks) {
            return Err(format!(
                "there is no rank {rank}; num_ranks is {ranks}, so ranks go from 0 to {}",
                ranks - 1
            ));
        }
        Ok(rank as u32)
    }

    /// A task, with or without a label, or a dependency.
    fn task<'a>(
        &mut self,
        rank: u32,
        first: &'a str,
        words: &mut std::iter::Peekable<impl Iterator<Item = &'a str>>,
    ) -> Result<(), String> {
        if matches!(first, "send" | "recv" | "calc") && words.peek() != Some(&":") {
            return self.operation(rank, first, words).map(drop);
        }
        if !is_label(first) {
            return Err(unexpected(first, "a label, send, recv, calc or }"));
        }
        match words.next() {
            Some(":") => {
                let kind = words.next().unwrap_or("the end of the line");
                let task = self.operation(rank, kind, words)?;
                if self.labels.insert(first.to_owned(), task).is_some() {
                    return Err(format!(
                        "two tasks of rank {rank} have the label \"{first}\"; labels must be different"
                    ));
                }
                Ok(())
            }
            Some(kind @ ("requires" | "irequires")) => {
                let other = words.next().unwrap_or("the end of the line");
                let find = |label: &str| {
                    self.labels.get(label).copied().ok_or_else(|| {
                        format!(
                            "no task of rank {rank} before has the label \"{label}\"; a dependency comes after both of its tasks"
                        )
                    })
                };
                let (task, other) = (find(first)?, find(other)?);
                if kind == "requires" {
                    self.builder.wait_for_end(task, other);
                } else {
                    self.builder.wait_for_start(task, other);
                }
                Ok(())
            }
            other => Err(unexpected(
                other.unwrap_or("the end of the line"),
                "\":\", requires or irequires after the label",
            )),
        }
    }

    fn operation<'a>(
        &mut self,
        rank: u32,
        kind: &str,
        words: &mut std::iter::Peekable<impl Iterator<Item = &'a str>>,
    ) -> Result<u32, String> {
        match kind {
            "calc" => {
                let nanoseconds = number(words.next(), "a time in nanoseconds")?;
                let cpu = option(words, "cpu")?;
                let next = self.processors.len() as u32;
                let processor = *self.processors.entry((rank, cpu)).or_insert(next);
                let time = Some(Time::from_nanos(nanoseconds.min(LONGEST_NS)));
                if nanoseconds > LONGEST_NS {
                    return Err(format!(
                        "calc {nanoseconds} is too long; times go up to {LONGEST_NS} ns"
                    ));
                }
                Ok(self.add(Action::Compute { processor, time }))
            }
            "send" | "recv" => {
                let bytes = bytes(words)?;
                let (direction, is_send) = if kind == "send" {
                    ("to", true)
                } else {
                    ("from", false)
                };
                match words.next() {
                    Some(word) if word == direction => {}
                    other => {
                        return Err(unexpected(
                            other.unwrap_or("the end of the line"),
                            direction,
                        ));
                    }
                }
                if words.peek() == Some(&"-1") {
                    return Err(
                        "a receive from any source (-1) meets a message that depends on the network; name the source that it met when it was recorded".to_owned(),
                    );
                }
                let peer = self.rank_of(words.next())?;
                let tag = option(words, "tag")?;
                option(words, "cpu")?;
                option(words, "nic")?;
                if is_send {
                    self.largest = self.largest.max(bytes);
                    let size = Bytes::new(bytes.max(1));
                    let task = self.add(Action::Send {
                        from: rank,
                        to: peer,
                        bytes: size,
                    });
                    self.meet((rank, peer, tag), task, bytes, true)?;
                    Ok(task)
                } else {
                    let task = self.add(Action::Join);
                    self.meet((peer, rank, tag), task, bytes, false)?;
                    Ok(task)
                }
            }
            other => Err(unexpected(other, "send, recv or calc")),
        }
    }

    fn add(&mut self, action: Action) -> u32 {
        self.lines.push(self.line);
        self.builder.task(action, [])
    }

    /// A send meets the first receive of its channel that is left, or waits for one; and the other way round.
    fn meet(
        &mut self,
        channel: Channel,
        task: u32,
        bytes: u64,
        is_send: bool,
    ) -> Result<(), String> {
        let (own, others) = if is_send {
            (&mut self.sends, &mut self.receives)
        } else {
            (&mut self.receives, &mut self.sends)
        };
        let Some((other, expected)) = others.get_mut(&channel).and_then(VecDeque::pop_front) else {
            own.entry(channel).or_default().push_back((task, bytes));
            return Ok(());
        };
        if bytes != expected {
            let (what, met) = if is_send {
                ("send", "receive")
            } else {
                ("receive", "send")
            };
            return Err(format!(
                "the {what} of {bytes} B meets the {met} of {expected} B in line {}; give both the same size",
                self.lines[other as usize]
            ));
        }
        let (send, receive) = if is_send {
            (task, other)
        } else {
            (other, task)
        };
        self.builder.wait_for_end(receive, send);
        Ok(())
    }

    fn finish(self, line: u32) -> Result<Goal, Unreadable> {
        let refuse = |line: u32, problem: String| Err(Unreadable { line, problem });
        let Some(ranks) = self.ranks else {
            return refuse(
                0,
                "num_ranks is missing; a schedule begins with num_ranks and the number of ranks"
                    .to_owned(),
            );
        };
        if let Some(rank) = self.rank {
            return refuse(
                line,
                format!("the block of rank {rank} is open at the end; close it with }}"),
            );
        }
        let first = |left: &BTreeMap<Channel, VecDeque<(u32, u64)>>| {
            let of = |(&channel, left): (&Channel, &VecDeque<(u32, u64)>)| {
                left.front().map(|&(task, _)| (task, channel))
            };
            left.iter().filter_map(of).min()
        };
        if let Some((task, (from, to, tag))) = first(&self.sends) {
            let problem = format!(
                "the send from rank {from} to rank {to} with tag {tag} meets no receive; add one to rank {to}"
            );
            return refuse(self.lines[task as usize], problem);
        }
        if let Some((task, (from, to, tag))) = first(&self.receives) {
            let problem = format!(
                "the receive of rank {to} from rank {from} with tag {tag} meets no send; add one to rank {from}"
            );
            return refuse(self.lines[task as usize], problem);
        }
        if self.lines.is_empty() {
            return refuse(0, "the schedule has no task; give at least one".to_owned());
        }
        let lines = self.lines;
        match self.builder.build() {
            Ok(graph) => Ok(Goal {
                ranks,
                graph,
                largest: Bytes::new(self.largest.max(1)),
            }),
            Err(Unbuilt::Circle(task)) => refuse(
                lines[task as usize],
                "the task waits, directly or not, for itself; the schedule cannot end".to_owned(),
            ),
            Err(unbuilt @ Unbuilt::TooLarge) => refuse(0, TrafficError::from(unbuilt).0),
        }
    }
}

/// The longest time that there is, in nanoseconds: 1,000,000 s.
const LONGEST_NS: u64 = 1_000_000_000_000_000;

/// The words of a line; braces and colons are words of their own.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for part in text.split_whitespace() {
        let mut rest = part;
        while let Some(place) = rest.find(['{', '}', ':']) {
            if place > 0 {
                words.push(&rest[..place]);
            }
            words.push(&rest[place..=place]);
            rest = &rest[place + 1..];
        }
        if !rest.is_empty() {
            words.push(rest);
        }
    }
    words
}

fn is_label(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(|c| c.is_ascii_alphabetic())
        && letters.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn unexpected(found: &str, expected: &str) -> String {
    format!("\"{found}\" cannot stand here; expected {expected}")
}

fn number(word: Option<&str>, what: &str) -> Result<u64, String> {
    let word = word.unwrap_or("the end of the line");
    let digits = word.bytes().all(|byte| byte.is_ascii_digit());
    let parsed = word.parse().ok().filter(|_| digits);
    parsed.ok_or_else(|| unexpected(word, what))
}

/// A size such as `100b`, with or without a space before the unit.
fn bytes<'a>(
    words: &mut std::iter::Peekable<impl Iterator<Item = &'a str>>,
) -> Result<u64, String> {
    let expected = "a size in bytes such as 100b";
    let Some(word) = words.next() else {
        return Err(unexpected("the end of the line", expected));
    };
    match word.strip_suffix('b') {
        Some(digits) => number(Some(digits), expected).map_err(|_| unexpected(word, expected)),
        None => {
            let bytes = number(Some(word), expected)?;
            match words.next() {
                Some("b") => Ok(bytes),
                other => Err(unexpected(
                    other.unwrap_or("the end of the line"),
                    "b after the size",
                )),
            }
        }
    }
}

/// An option with its number, if it comes next; else 0.
fn option<'a>(
    words: &mut std::iter::Peekable<impl Iterator<Item = &'a str>>,
    name: &str,
) -> Result<u32, String> {
    if words.peek() != Some(&name) {
        return Ok(0);
    }
    words.next();
    if name == "tag" && words.peek() == Some(&"-1") {
        return Err(
            "any tag (-1) meets a message that depends on the network; name the tag that it met when it was recorded".to_owned(),
        );
    }
    let value = number(words.next(), name)?;
    u32::try_from(value).map_err(|_| format!("{name} is {value}; it must be at most {}", u32::MAX))
}
