//! What a subflow has sent and not yet had acknowledged cumulatively.

use super::rack::{Judged, Rack};
use crate::segment::{SACK_BLOCKS, SackBlock};
use pathweave_units::Time;

/// What the sender knows of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Sent once; in the network as far as anybody knows.
    InFlight,
    /// Sent again; in the network as far as anybody knows.
    SentAgain,
    /// Taken for lost and not sent again yet.
    Lost,
    /// Selectively acknowledged.
    Sacked,
}

#[derive(Clone, Copy, Debug)]
struct Sent {
    /// The data it carries.
    data: u32,
    state: State,
    /// Whether it has been sent more than once.
    again: bool,
}

/// The segments from the lowest unacknowledged one to the newest, in a ring.
///
/// `in flight = outstanding - sacked - lost` holds at all times. Under NewReno no block says which
/// segment has left the network; each duplicate acknowledgement then counts as one in `sacked`.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Scoreboard {
    ring: Box<[Sent]>,
    /// Lowest number not acknowledged cumulatively.
    una: u32,
    /// Number of the next new segment.
    next: u32,
    /// Segments in state `Lost`.
    lost: u32,
    /// Segments in state `Sacked`, or duplicate acknowledgements under NewReno.
    sacked: u32,
    /// No segment below this is `Lost`.
    lost_from: u32,
    /// One past the highest number selectively acknowledged.
    sacked_to: u32,
    /// Everything below this that is not sacked has been judged lost by the three above it.
    judged_to: u32,
    /// Blocks of the last acknowledgements, known to be sacked throughout: the next ones usually
    /// repeat or extend them.
    recent: [SackBlock; SACK_BLOCKS],
}

impl Scoreboard {
    pub fn new() -> Scoreboard {
        let unused = Sent {
            data: 0,
            state: State::InFlight,
            again: false,
        };
        Scoreboard::on(vec![unused; 16].into_boxed_slice())
    }

    /// Makes it as new, keeping its memory.
    pub fn reset(&mut self) {
        *self = Scoreboard::on(std::mem::take(&mut self.ring));
    }

    fn on(ring: Box<[Sent]>) -> Scoreboard {
        Scoreboard {
            ring,
            una: 0,
            next: 0,
            lost: 0,
            sacked: 0,
            lost_from: 0,
            sacked_to: 0,
            judged_to: 0,
            recent: [SackBlock::default(); SACK_BLOCKS],
        }
    }

    #[inline(always)]
    fn at(&mut self, number: u32) -> &mut Sent {
        let mask = self.ring.len() - 1;
        &mut self.ring[number as usize & mask]
    }

    #[inline]
    pub fn una(&self) -> u32 {
        self.una
    }
    #[inline]
    pub fn next(&self) -> u32 {
        self.next
    }
    #[inline]
    pub fn lost(&self) -> u32 {
        self.lost
    }
    /// Segments that are known to have arrived beyond the lowest unacknowledged one.
    #[inline]
    pub fn sacked(&self) -> u32 {
        self.sacked
    }
    /// Segments that have arrived as far as the sender knows, since the first.
    #[inline]
    pub fn delivered(&self) -> u32 {
        self.una + self.sacked
    }
    #[inline]
    pub fn outstanding(&self) -> u32 {
        self.next - self.una
    }
    #[inline]
    pub fn in_flight(&self) -> u32 {
        self.outstanding() - self.sacked - self.lost
    }
    /// Whether nothing is known to have gone astray.
    #[inline]
    pub fn is_clean(&self) -> bool {
        self.sacked == 0 && self.lost == 0
    }

    /// Data of all outstanding segments that were not selectively acknowledged, oldest first.
    pub fn unacknowledged_data(&self) -> impl Iterator<Item = u32> {
        let mask = self.ring.len() - 1;
        (self.una..self.next)
            .map(move |number| self.ring[number as usize & mask])
            .filter(|sent| sent.state != State::Sacked)
            .map(|sent| sent.data)
    }

    /// Data of all outstanding segments, oldest first.
    pub fn outstanding_data(&self) -> impl Iterator<Item = u32> {
        let mask = self.ring.len() - 1;
        (self.una..self.next).map(move |number| self.ring[number as usize & mask].data)
    }

    /// A new segment is sent. Returns its number.
    #[inline(always)]
    pub fn push(&mut self, data: u32) -> u32 {
        if self.outstanding() as usize == self.ring.len() {
            self.grow();
        }
        let number = self.next;
        *self.at(number) = Sent {
            data,
            state: State::InFlight,
            again: false,
        };
        self.next += 1;
        number
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let mut larger = vec![self.ring[0]; self.ring.len() * 2].into_boxed_slice();
        let (old, new) = (self.ring.len() - 1, larger.len() - 1);
        for number in self.una..self.next {
            larger[number as usize & new] = self.ring[number as usize & old];
        }
        self.ring = larger;
    }

    /// A cumulative acknowledgement when nothing is astray: everything below `to` has arrived.
    #[inline]
    pub fn acknowledge_clean(&mut self, to: u32) {
        debug_assert!(self.is_clean());
        self.una = to;
    }

    /// A cumulative acknowledgement. Returns how many of the segments had not been selectively
    /// acknowledged before. Under NewReno `sacked` is only a number: the caller goes on to
    /// [`Scoreboard::deflate`] or [`Scoreboard::forget_duplicates`].
    /// `arrived` is called for each of them, with its number and whether it was retransmitted.
    #[inline]
    pub fn acknowledge(&mut self, to: u32, mut arrived: impl FnMut(u32, bool)) -> u32 {
        let mut fresh = 0;
        for number in self.una..to {
            let sent = *self.at(number);
            if sent.state != State::Sacked {
                arrived(number, sent.again);
            }
            match sent.state {
                State::Lost => {
                    self.lost -= 1;
                    fresh += 1;
                }
                State::Sacked => self.sacked -= 1,
                State::InFlight | State::SentAgain => fresh += 1,
            }
        }
        self.una = to;
        self.lost_from = self.lost_from.max(to);
        self.judged_to = self.judged_to.max(to);
        fresh
    }

    /// Takes the blocks of an acknowledgement. Returns how many segments they newly cover.
    /// `arrived` is called for each of them, with its number and whether it was retransmitted.
    pub fn acknowledge_blocks(
        &mut self,
        blocks: &[SackBlock],
        mut arrived: impl FnMut(u32, bool),
    ) -> u32 {
        if let Some(&first) = blocks.first()
            && self.only_lengthens_first(blocks)
        {
            let fresh = self.acknowledge_range(self.recent[0].end, first.end, &mut arrived);
            self.recent[0] = first;
            self.sacked_to = self.sacked_to.max(first.end.min(self.next));
            return fresh;
        }
        let known = self.recent;
        let mut fresh = 0;
        for (place, block) in blocks.iter().enumerate() {
            // Most stand where they stood the last time, or one further because a new one has come before them.
            if *block == known[place] {
                continue;
            }
            self.recent[place] = *block;
            if place > 0 && *block == known[place - 1] {
                continue;
            }
            let within = |inner: &&SackBlock| {
                block.start <= inner.start && inner.end <= block.end && inner.start < inner.end
            };
            // And most others have become longer at their end.
            let same = Some(&known[place]).filter(|same| same.start == block.start && within(same));
            let inner = same.or_else(|| {
                let inner = known.iter().filter(within);
                inner.max_by_key(|inner| inner.end - inner.start)
            });
            fresh += match inner {
                Some(inner) => {
                    self.acknowledge_range(block.start, inner.start, &mut arrived)
                        + self.acknowledge_range(inner.end, block.end, &mut arrived)
                }
                None => self.acknowledge_range(block.start, block.end, &mut arrived),
            };
            self.sacked_to = self.sacked_to.max(block.end.min(self.next));
        }
        fresh
    }

    /// Whether blocks say what the last ones said, except that the first has become longer at its end: what happens
    /// while the packets behind a lost one arrive.
    #[inline(always)]
    fn only_lengthens_first(&self, blocks: &[SackBlock]) -> bool {
        let known = &self.recent;
        let lengthens = blocks[0].start == known[0].start
            && known[0].start < known[0].end
            && known[0].end < blocks[0].end;
        let pairs = || blocks.iter().zip(known).skip(1);
        lengthens && pairs().all(|(block, known)| block == known)
    }

    fn acknowledge_range(
        &mut self,
        start: u32,
        end: u32,
        arrived: &mut impl FnMut(u32, bool),
    ) -> u32 {
        let (mut fresh, mut found) = (0, 0);
        for number in start.max(self.una)..end.min(self.next) {
            let sent = self.at(number);
            let (is_new, again) = (sent.state != State::Sacked, sent.again);
            fresh += u32::from(is_new);
            found += u32::from(sent.state == State::Lost);
            sent.state = State::Sacked;
            if is_new {
                arrived(number, again);
            }
        }
        self.lost -= found;
        self.sacked += fresh;
        fresh
    }

    /// Judges lost every segment that has `threshold` selectively acknowledged ones above it and was
    /// not sent again (RFC 6675, IsLost). Returns whether there are new ones.
    pub fn judge_by_blocks(&mut self, threshold: u32) -> bool {
        let floor = self.judged_to.max(self.una);
        let mask = self.ring.len() - 1;
        // The highest number with `threshold` sacked segments above it. Where the latest block is the highest, all of
        // it is sacked.
        let mut above = 0;
        let mut number = self.sacked_to;
        let latest = self.recent[0];
        if latest.end == number && latest.start.max(floor).saturating_add(threshold) <= number {
            above = threshold;
            number -= threshold;
        }
        while number > floor && above < threshold {
            number -= 1;
            above += u32::from(self.ring[number as usize & mask].state == State::Sacked);
        }
        if above < threshold {
            return false;
        }
        let mut found = false;
        for candidate in floor..number {
            if self.ring[candidate as usize & mask].state == State::InFlight {
                self.mark_lost(candidate);
                found = true;
            }
        }
        self.judged_to = self.judged_to.max(number);
        found
    }

    /// One past the highest number that is known to have arrived.
    pub fn highest(&self) -> u32 {
        if self.sacked > 0 {
            self.sacked_to
        } else {
            self.una
        }
    }

    /// Marks segments lost that were sent long enough before one that has arrived (RACK_detect_loss).
    pub fn judge_by_time(&mut self, rack: &mut Rack, now: Time, window: Time) -> Judged {
        let mut judged = Judged::default();
        // Segments that were sent once were sent in the order of their numbers.
        let mut number = self.judged_to.max(self.una);
        let mut all_decided = true;
        while number < self.next {
            let segment = *self.at(number);
            if segment.state == State::InFlight {
                let sent = rack.sent(number);
                let rest = rack.rest(sent, now, window);
                if !rack.is_earlier(number, sent) {
                    if !segment.again {
                        break;
                    }
                    all_decided = false;
                } else if rest == Time::ZERO {
                    self.mark_lost(number);
                    judged.lost += 1;
                } else {
                    judged.wait = judged.wait.max(rest);
                    all_decided = false;
                }
            }
            number += 1;
            if all_decided {
                self.judged_to = number;
            }
        }
        rack.retain_retransmitted(|rack, number, sent| {
            if !self.is_retransmitted(rack, number, sent) {
                return false;
            }
            let rest = rack.rest(sent, now, window);
            if !rack.is_earlier(number, sent) {
                return true;
            }
            if rest > Time::ZERO {
                judged.wait = judged.wait.max(rest);
                return true;
            }
            self.mark_lost(number);
            judged.lost += 1;
            judged.lost_retransmissions += 1;
            false
        });
        judged
    }

    /// The retransmission timer has fired: marks the lowest segment lost, and all that were sent more than an RTT ago
    /// (tcp_timeout_mark_lost).
    pub fn judge_old(&mut self, rack: &Rack, now: Time) {
        for number in self.una..self.next {
            let state = self.at(number).state;
            let is_outstanding = matches!(state, State::InFlight | State::SentAgain);
            let is_old = || rack.rest(rack.sent(number), now, Time::ZERO) == Time::ZERO;
            if is_outstanding && (number == self.una || is_old()) {
                self.mark_lost(number);
            }
        }
        self.judged_to = self.una;
    }

    /// Whether a retransmission is outstanding or the lowest segment has been retransmitted (tcp_any_retrans_done).
    pub fn has_retransmissions(&self, rack: &Rack) -> bool {
        let lowest = self.ring[self.una as usize & (self.ring.len() - 1)];
        self.outstanding() > 0 && lowest.again || self.retransmissions_outstanding(rack)
    }

    /// Whether a retransmission is outstanding.
    pub fn retransmissions_outstanding(&self, rack: &Rack) -> bool {
        let mut all = rack.retransmitted();
        all.any(|(number, sent)| self.is_retransmitted(rack, number, sent))
    }

    /// Whether the retransmission of a segment at this time is its last one, and outstanding.
    fn is_retransmitted(&self, rack: &Rack, number: u32, sent: Time) -> bool {
        let segment = self.ring[number as usize & (self.ring.len() - 1)];
        number >= self.una && segment.state == State::SentAgain && rack.sent(number) == sent
    }

    /// Marks nothing as lost any more.
    pub fn forget_losses(&mut self) {
        for number in self.una..self.next {
            let sent = self.at(number);
            if sent.state == State::Lost {
                sent.state = State::InFlight;
            }
        }
        self.lost = 0;
        self.judged_to = self.una;
    }

    /// The last segment is repeated as a probe, without changing its state. Returns its number and data.
    pub fn repeat_last(&mut self) -> (u32, u32) {
        let number = self.next - 1;
        let last = self.at(number);
        last.again = true;
        (number, last.data)
    }

    /// Judges lost the lowest outstanding segment, as NewReno does.
    pub fn judge_first(&mut self) {
        if self.at(self.una).state != State::Lost {
            let una = self.una;
            self.mark_lost(una);
            // What was counted as gone must leave room for the one now known to be lost.
            self.sacked = self.sacked.min(self.outstanding() - self.lost);
        }
    }

    fn mark_lost(&mut self, number: u32) {
        self.at(number).state = State::Lost;
        self.lost += 1;
        self.lost_from = self.lost_from.min(number);
    }

    /// NewReno: a duplicate acknowledgement says that one more segment has left the network.
    pub fn count_duplicate(&mut self, duplicates: u32) {
        self.sacked = (self.sacked + duplicates).min(self.outstanding() - self.lost);
    }

    /// NewReno: a partial acknowledgement of this many segments; all but the one that was sent again
    /// had been counted as gone. What is left counted cannot exceed what is outstanding.
    pub fn deflate(&mut self, acknowledged: u32) {
        let gone = self.sacked.saturating_sub(acknowledged.saturating_sub(1));
        self.sacked = gone.min(self.outstanding() - self.lost);
    }

    /// NewReno: recovery is over, duplicates count no more.
    pub fn forget_duplicates(&mut self) {
        self.sacked = 0;
    }

    /// The timer expired: everything not selectively acknowledged counts as lost.
    pub fn judge_all(&mut self, selective: bool) {
        if !selective {
            self.sacked = 0;
        }
        self.lost = 0;
        for number in self.una..self.next {
            let sent = self.at(number);
            if !(selective && sent.state == State::Sacked) {
                sent.state = State::Lost;
                self.lost += 1;
            }
        }
        self.lost_from = self.una;
        self.judged_to = self.next;
    }

    /// The number of the lowest lost segment.
    #[inline]
    pub fn first_lost(&self) -> Option<u32> {
        if self.lost == 0 {
            return None;
        }
        let mask = self.ring.len() - 1;
        let mut number = self.lost_from.max(self.una);
        while self.ring[number as usize & mask].state != State::Lost {
            number += 1;
        }
        Some(number)
    }

    /// The lowest lost segment, which is being sent again: its number and data.
    pub fn send_again(&mut self) -> Option<(u32, u32)> {
        let number = self.first_lost()?;
        self.lost_from = number + 1;
        self.lost -= 1;
        let sent = self.at(number);
        sent.state = State::SentAgain;
        sent.again = true;
        Some((number, sent.data))
    }

    /// Recounts the segments. Without selective acknowledgements what left the network is only a number,
    /// which has to leave room for what is lost.
    ///
    /// # Errors
    /// What does not agree.
    #[cfg(any(test, feature = "checks"))]
    pub fn check(&self, selective: bool) -> Result<(), String> {
        let mask = self.ring.len() - 1;
        let state = |number: u32| self.ring[number as usize & mask].state;
        let count = |wanted| {
            (self.una..self.next)
                .filter(|&number| state(number) == wanted)
                .count()
        };
        if self.una > self.next || self.outstanding() as usize > self.ring.len() {
            return Err(format!("{} to {} are outstanding", self.una, self.next));
        }
        if count(State::Lost) != self.lost as usize {
            return Err(format!(
                "{} are lost, {} counted",
                count(State::Lost),
                self.lost
            ));
        }
        if selective && count(State::Sacked) != self.sacked as usize {
            return Err(format!(
                "{} are sacked, {} counted",
                count(State::Sacked),
                self.sacked
            ));
        }
        if self.sacked + self.lost > self.outstanding() {
            let (sacked, lost) = (self.sacked, self.lost);
            return Err(format!(
                "{sacked} sacked and {lost} lost of {}",
                self.outstanding()
            ));
        }
        let below =
            (self.una..self.lost_from.min(self.next)).find(|&number| state(number) == State::Lost);
        if let Some(below) = below {
            return Err(format!("{below} is lost, below {}", self.lost_from));
        }
        let above = (self.sacked_to.max(self.una)..self.next)
            .find(|&number| state(number) == State::Sacked);
        if let Some(above) = above.filter(|_| selective) {
            return Err(format!("{above} is sacked, from {} on", self.sacked_to));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sent(count: u32) -> Scoreboard {
        let mut board = Scoreboard::new();
        (0..count).for_each(|data| {
            board.push(data + 100);
        });
        board
    }

    fn acknowledge_block(board: &mut Scoreboard, start: u32, end: u32) {
        board.acknowledge_blocks(&[SackBlock { start, end }], |_, _| ());
    }

    #[test]
    fn three_above_make_a_segment_lost() {
        let mut board = sent(10);
        acknowledge_block(&mut board, 3, 5);
        assert!(!board.judge_by_blocks(3));
        acknowledge_block(&mut board, 6, 7);
        // Sacked: 3, 4, 6. Below 3 all have three above; 5 has one.
        assert!(board.judge_by_blocks(3));
        assert_eq!((board.lost(), board.sacked(), board.in_flight()), (3, 3, 4));
        assert!(!board.judge_by_blocks(3));
        assert_eq!(board.send_again(), Some((0, 100)));
        assert_eq!(board.send_again(), Some((1, 101)));
        assert_eq!(board.in_flight(), 6);
        acknowledge_block(&mut board, 7, 9);
        // Now 5 has three above.
        assert!(board.judge_by_blocks(3));
        assert_eq!(board.send_again(), Some((2, 102)));
        assert_eq!(board.send_again(), Some((5, 105)));
        assert_eq!(board.send_again(), None);
        assert_eq!(board.acknowledge(9, |_, _| ()), 4);
        assert_eq!((board.lost(), board.sacked(), board.in_flight()), (0, 0, 1));
    }

    #[test]
    fn a_timeout_loses_all_but_the_sacked() {
        let mut board = sent(6);
        acknowledge_block(&mut board, 2, 4);
        board.judge_all(true);
        assert_eq!((board.lost(), board.in_flight()), (4, 0));
        let again: Vec<u32> = std::iter::from_fn(|| board.send_again())
            .map(|(n, _)| n)
            .collect();
        assert_eq!(again, [0, 1, 4, 5]);
        board.judge_all(false);
        assert_eq!((board.lost(), board.sacked()), (6, 0));
    }

    #[test]
    fn newreno_counts_duplicates() {
        let mut board = sent(10);
        board.count_duplicate(3);
        assert_eq!(board.in_flight(), 7);
        board.judge_first();
        assert_eq!((board.lost(), board.in_flight()), (1, 6));
        assert_eq!(board.send_again(), Some((0, 100)));
        assert_eq!(board.in_flight(), 7);
        // A partial acknowledgement of 4: the first was sent again, 3 had been counted as gone.
        assert_eq!(board.acknowledge(4, |_, _| ()), 4);
        board.deflate(4);
        assert_eq!((board.sacked(), board.in_flight()), (0, 6));
    }

    #[test]
    fn a_partial_acknowledgement_keeps_what_later_duplicates_counted() {
        // The first and the seventh of ten are lost: eight duplicates, then everything below the seventh.
        let mut board = sent(10);
        board.count_duplicate(3);
        board.judge_first();
        board.send_again();
        board.count_duplicate(5);
        assert_eq!(board.in_flight(), 2);
        assert_eq!(board.acknowledge(6, |_, _| ()), 6);
        board.deflate(6);
        // The duplicates of the three behind the seventh still count: it alone is in the network.
        assert_eq!((board.sacked(), board.in_flight()), (3, 1));
    }

    #[derive(Clone, Debug)]
    enum Step {
        Push(u32),
        Acknowledge(u32),
        Block(u32, u32),
        Judge,
        Timeout,
        Again,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            3 => (1u32..20).prop_map(Step::Push),
            2 => (0u32..20).prop_map(Step::Acknowledge),
            4 => (0u32..40, 1u32..10).prop_map(|(start, count)| Step::Block(start, count)),
            2 => Just(Step::Judge),
            1 => Just(Step::Timeout),
            3 => Just(Step::Again),
        ]
    }

    proptest! {
        /// Against a plain list of states, with the definition of IsLost taken literally.
        #[test]
        fn agrees_with_a_list(steps in prop::collection::vec(step(), 1..150)) {
            let mut board = Scoreboard::new();
            let mut list: Vec<State> = Vec::new();
            let mut una = 0usize;
            for step in steps {
                match step {
                    Step::Push(count) => for _ in 0..count {
                        board.push(0);
                        list.push(State::InFlight);
                    },
                    Step::Acknowledge(count) => {
                        let to = (una + count as usize).min(list.len());
                        let fresh = list[una..to].iter().filter(|s| **s != State::Sacked).count();
                        prop_assert_eq!(board.acknowledge(to as u32, |_, _| ()), fresh as u32);
                        una = to;
                    }
                    Step::Block(start, count) => {
                        // A receiver acknowledges only what was sent.
                        let sent = list.len() as u32;
                        let start = (una as u32 + start).min(sent);
                        let end = (start + count).min(sent);
                        acknowledge_block(&mut board, start, end);
                        for n in start..end.min(list.len() as u32) {
                            list[n as usize] = State::Sacked;
                        }
                    }
                    Step::Judge => {
                        board.judge_by_blocks(3);
                        for n in una..list.len() {
                            let above = list[n + 1..].iter().filter(|s| **s == State::Sacked).count();
                            if list[n] == State::InFlight && above >= 3 {
                                list[n] = State::Lost;
                            }
                        }
                    }
                    Step::Timeout => {
                        board.judge_all(true);
                        list[una..].iter_mut().filter(|s| **s != State::Sacked)
                            .for_each(|s| *s = State::Lost);
                    }
                    Step::Again => {
                        let lowest = (una..list.len()).find(|n| list[*n] == State::Lost);
                        prop_assert_eq!(board.send_again().map(|(n, _)| n as usize), lowest);
                        if let Some(n) = lowest { list[n] = State::SentAgain; }
                    }
                }
                let count = |state| list[una..].iter().filter(|s| **s == state).count() as u32;
                prop_assert_eq!(board.lost(), count(State::Lost));
                prop_assert_eq!(board.sacked(), count(State::Sacked));
                prop_assert_eq!(
                    board.in_flight(),
                    count(State::InFlight) + count(State::SentAgain)
                );
            }
        }
    }
}
