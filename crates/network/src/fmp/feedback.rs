//! What switches tell each other.

use super::Fmp;
use super::prices::Price;
use super::switch::{NONE, reverse};
use pathweave_units::{Bytes, Rate, Time};

/// Bytes of a feedback packet, apart from its lines.
const HEADER: u16 = 16;
/// Bytes of a line: one destination's congestion degree and delay.
const LINE: u16 = 8;
/// Lines that fit into a packet of 1,500 bytes.
const MOST_LINES: usize = ((1500 - HEADER) / LINE) as usize;

/// Messages in a link's queue beyond which no more are sent: the link cannot carry all that is told.
pub(super) const MOST_IN_QUEUE: f64 = 100.0;

/// The lines of a feedback packet: prices, each with the index of an announcement of its link.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    places: Places,
    pub(super) prices: Vec<Price>,
}

/// Which announcements a message is about.
#[derive(Clone, Debug)]
enum Places {
    /// Consecutive ones from here on, one for each price.
    From(u32),
    /// These, one for each price.
    Each(Vec<u32>),
}

impl Message {
    /// A message about the first announcements of a link, one for each price.
    pub(super) fn from_first(prices: Vec<Price>) -> Message {
        let places = Places::From(0);
        Message { places, prices }
    }

    /// Bytes on the wire.
    pub fn size(&self) -> u16 {
        size_of_lines(self.prices.len())
    }
}

fn size_of_lines(lines: usize) -> u16 {
    HEADER + LINE * lines as u16
}

impl Fmp {
    /// The links over which a switch tells its neighbours: those that are up.
    pub(crate) fn ports(&self, switch: u32) -> Vec<u32> {
        let ports = self.switches[switch as usize].ports.iter().copied();
        ports.filter(|&port| self.up[port as usize]).collect()
    }

    /// Whether this many messages under way show that a link cannot carry all that is told over it.
    pub(super) fn has_too_many(&self, link: u32, under_way: usize) -> bool {
        let on_its_way = self.delay[link as usize] / self.config.feedback_period.as_secs_f64();
        under_way as f64 > on_its_way + MOST_IN_QUEUE
    }

    /// Bytes of the message that a switch sends over a link every period; zero if it has nothing to tell.
    pub(super) fn size_of_telling(&self, link: u32) -> u16 {
        match self.prices.announcements(link).len() {
            0 => 0,
            lines => size_of_lines(lines),
        }
    }

    /// Whether everything that a switch tells over a link fits into one packet and is sent within a period, and no
    /// neighbour falls silent while nothing fails. `time` gives how long a link takes to send this many bytes.
    pub(crate) fn is_regular(&self, time: impl Fn(u32, Bytes) -> Time) -> bool {
        let period = self.config.feedback_period;
        (0..self.switch_at.len() as u32).all(|link| {
            let lines = self.prices.announcements(link).len();
            // The longest gap between arrivals is a period plus the time of a packet that is in the way.
            let packet = Bytes::new(u64::from(size_of_lines(MOST_LINES))).max(self.longest_packet);
            let message = Bytes::new(u64::from(self.size_of_telling(link)));
            lines == 0
                || lines <= MOST_LINES
                    && time(link, message) + Time::from_picos(1) < period
                    && period + time(link, packet)
                        <= self.config.silence_timeout + time(link, self.longest_packet)
        })
    }

    /// Calls `send` with each link and message by which a switch tells its neighbours in every period. A neighbour that
    /// has fallen silent is told that nothing can be reached: a link that fails in one direction is noticed only at its
    /// far end, and the switch that sends into it has to learn of it.
    pub(crate) fn tell_all(&mut self, switch: u32, mut send: impl FnMut(&mut Fmp, u32, Message)) {
        let mut best = std::mem::take(&mut self.best);
        self.prices.best_of(switch, &mut best);
        for link in self.ports(switch) {
            if self.has_too_many(link, self.under_way[link as usize].len()) {
                continue;
            }
            let lines = self.prices.announcements(link).len();
            for from in (0..lines).step_by(MOST_LINES) {
                let mut prices = self.spare.pop().unwrap_or_default();
                prices.clear();
                let part = &self.prices.announcements(link)[from..lines.min(from + MOST_LINES)];
                if self.hearing[reverse(link) as usize].silent {
                    prices.resize(part.len(), Price::UNREACHABLE);
                } else {
                    prices.extend(part.iter().map(|line| best[line.destination as usize]));
                }
                let places = Places::From(from as u32);
                send(self, link, Message { places, prices });
            }
        }
        self.best = best;
    }

    /// Calls `send` with each link and path-failure notice for rows that have no port left.
    pub(crate) fn notify(&mut self, rows: &[u32], mut send: impl FnMut(&mut Fmp, u32, Message)) {
        let mut tellers: Vec<u32> = rows
            .iter()
            .map(|&row| self.prices.switch_of_row(row))
            .collect();
        tellers.sort_unstable();
        tellers.dedup();
        for switch in tellers {
            for link in self.ports(switch) {
                let announced = (0u32..).zip(self.prices.announcements(link));
                let lost = announced.filter(|(_, line)| {
                    let row = self.prices.row(line.destination, switch);
                    rows.contains(&row)
                });
                let lost: Vec<u32> = lost.map(|(place, _)| place).collect();
                for part in lost.chunks(MOST_LINES) {
                    self.statistics_mut(switch).notices += 1;
                    let message = Message {
                        places: Places::Each(part.to_vec()),
                        prices: vec![Price::UNREACHABLE; part.len()],
                    };
                    send(self, link, message);
                }
            }
        }
    }

    /// A message has entered the port of a link.
    pub(crate) fn on_sent(&mut self, link: u32, message: Message) {
        let teller = self.switch_at(reverse(link));
        let statistics = self.statistics_mut(teller);
        statistics.feedback_packets += 1;
        statistics.feedback_bytes += u64::from(message.size());
        self.under_way[link as usize].push_back(message);
        self.in_network += 1;
    }

    /// A link has lost a packet in transit; if it was feedback, it was the oldest message.
    pub(crate) fn on_lost(&mut self, link: u32, is_feedback: bool) {
        self.hearing[link as usize].lost += 1;
        if is_feedback {
            self.under_way[link as usize].pop_front();
            self.in_network -= 1;
        }
    }

    /// The oldest message on a link arrives. `own` is what the port in the other direction adds to its prices. Adds
    /// rows that have no port left to `cut_off`.
    pub(crate) fn on_message(&mut self, link: u32, now: Time, own: f64, cut_off: &mut Vec<u32>) {
        self.hearing[link as usize].at = now;
        let Some(message) = self.under_way[link as usize].pop_front() else {
            unreachable!("feedback arrives in the order in which it was sent")
        };
        self.in_network -= 1;
        let port = reverse(link);
        let (delay, is_up) = (self.delay[port as usize], self.up[port as usize]);
        let mut hear = |place: u32, told: Price| {
            let entry = self.prices.announcements(link)[place as usize].entry;
            let leads = told.is_reachable() && is_up;
            self.ports_may_differ |= leads != self.prices.entry(entry).price.is_reachable();
            if leads {
                let price = Price {
                    congestion: told.congestion + own,
                    delay: told.delay + delay,
                };
                self.prices.set(entry, price);
            } else {
                self.prices.remove(entry, cut_off);
            }
        };
        match &message.places {
            Places::From(from) => {
                for (place, &told) in (*from..).zip(&message.prices) {
                    hear(place, told);
                }
            }
            Places::Each(places) => {
                for (&place, &told) in places.iter().zip(&message.prices) {
                    hear(place, told);
                }
            }
        }
        self.spare.push(message.prices);
    }

    /// A switch checks which neighbours have been silent for too long. `sent` gives the number of packets that a link
    /// has delivered so far, and its rate. Adds rows that have no port left to `cut_off`.
    pub(crate) fn find_silent(
        &mut self,
        switch: u32,
        now: Time,
        sent: impl Fn(u32) -> (u64, Rate),
        cut_off: &mut Vec<u32>,
    ) {
        for port in self.ports(switch) {
            let from = reverse(port);
            let (delivered, rate) = sent(from);
            let heard = &mut self.hearing[from as usize];
            let packets = delivered - heard.lost;
            if packets != heard.packets {
                heard.packets = packets;
                heard.at = heard.at.max(now);
            }
            let longest = rate.time_for(self.longest_packet);
            // A neighbour that has nothing to tell sends no feedback.
            let tells = !self.prices.announcements(from).is_empty();
            let silent = tells && now > heard.at + self.config.silence_timeout + longest;
            heard.silent = silent;
            if silent && self.leads_on(port) {
                self.prices.remove_port(port, cut_off);
                self.ports_may_differ = true;
                self.statistics_mut(switch).silences += 1;
            }
        }
    }

    /// Whether any destination can be reached over a port.
    fn leads_on(&self, port: u32) -> bool {
        let mut told = self.prices.announcements(reverse(port)).iter();
        told.any(|told| self.prices.entry(told.entry).price.is_reachable())
    }

    /// A link went down, and everything on it is lost. Adds rows that have no port left to `cut_off`.
    pub(crate) fn on_down(&mut self, link: u32, cut_off: &mut Vec<u32>) {
        self.up[link as usize] = false;
        self.ports_may_differ = true;
        self.in_network -= self.under_way[link as usize].len();
        self.under_way[link as usize].clear();
        if self.switch_at(reverse(link)) != NONE {
            self.prices.remove_port(link, cut_off);
        }
    }

    /// A link came back: the neighbour's next feedback says where it leads.
    pub(crate) fn on_up(&mut self, link: u32, now: Time) {
        self.up[link as usize] = true;
        self.ports_may_differ = true;
        self.hearing[link as usize].at = now + Time::from_secs_f64(self.delay[link as usize]);
    }
}
