//! What flows that have ended leave behind, in few bytes: it is read when a window closes and when the run
//! is over, and there may be millions of them.

use crate::flows::rows::{
    FlowTotals, Rtts, SubflowColumns, SubflowRow, TotalsColumns, WaitColumns,
};
use pathweave_transport::WAITS;
use pathweave_units::Time;

/// Bytes of a chunk. A record lies in one chunk: that of 256 subflows takes less than half of it.
const CHUNK: usize = 1 << 16;

/// Most numbers of a group, and the bytes in front of them that say how long each is.
const MOST_NUMBERS: usize = 6;
const LENGTHS: usize = 3;
const MOST_BYTES: usize = LENGTHS + 8 * MOST_NUMBERS;

/// What a chunk begins with: numbers are read as the ends of eight bytes.
const BEFORE: [u8; 8] = [0; 8];

/// Flows whose records are read before their rows go into columns.
const FLOWS_AT_ONCE: usize = 64;

/// The place of a flow that has left nothing.
const NOWHERE: u64 = u64::MAX;

/// The counters of flows that have ended.
///
/// A record is the number of subflows, two groups of numbers for each of them, one with the RTTs of all together where
/// there are several, and the times that the flow has waited: a word that says for what, and eight bytes for each. A group begins with the lengths of its numbers, four bits each, and has each number in as many
/// bytes as it needs. In the second one are those that are mostly 0. Of what arrived, this is the part that had come on
/// another subflow before.
#[derive(Clone, Debug, Default)]
pub(crate) struct EndedFlows {
    chunks: Vec<Vec<u8>>,
    /// Where the record of each flow begins: the chunk's number, and the place in it in the lowest 16 bits.
    places: Vec<u64>,
    subflows: usize,
}

impl EndedFlows {
    /// Begins the record of a flow with this many subflows, which are to be added in order.
    pub fn begin(&mut self, flow: u32, subflows: u32) -> Leaving<'_> {
        let count = subflows as usize;
        let most = 2 + (2 * count + 1) * MOST_BYTES + 2 + 8 * WAITS;
        let fits = |chunk: &Vec<u8>| chunk.len() + most <= chunk.capacity();
        if !self.chunks.last().is_some_and(fits) {
            let mut chunk = Vec::with_capacity(CHUNK.max(most + BEFORE.len()));
            chunk.extend_from_slice(&BEFORE);
            self.chunks.push(chunk);
        }
        let number = self.chunks.len() - 1;
        let chunk = &mut self.chunks[number];
        let flow = flow as usize;
        if self.places.len() <= flow {
            self.places.resize(flow + 1, NOWHERE);
        }
        self.places[flow] = (number as u64) << 16 | chunk.len() as u64;
        self.subflows += count;
        chunk.extend_from_slice(&(subflows as u16).to_le_bytes());
        Leaving { chunk }
    }

    /// Payload (bytes) that had arrived for the first time on each subflow of a flow.
    pub fn first_arrivals(&self, flow: u32) -> impl Iterator<Item = f64> {
        let (chunk, mut at, count) = self.record(flow).unwrap_or_default();
        (0..count).map(move |_| {
            let [_, received] = read(chunk, &mut at);
            let [before] = read(chunk, &mut at);
            (received - before) as f64
        })
    }

    /// The chunk that has the record of a flow, the place of its first group and the number of subflows.
    fn record(&self, flow: u32) -> Option<(&[u8], usize, u16)> {
        let place = *self.places.get(flow as usize)?;
        if place == NOWHERE {
            return None;
        }
        let chunk = &self.chunks[(place >> 16) as usize][..];
        let at = (place & 0xffff) as usize;
        let count = u16::from_le_bytes([chunk[at], chunk[at + 1]]);
        Some((chunk, at + 2, count))
    }

    /// Hands the subflows of a flow to `each`, in order, and what it has waited for to `each_wait`, by [`Wait::ALL`], and
    /// gives what the subflows come to; `None` if it has left nothing.
    ///
    /// [`Wait::ALL`]: pathweave_transport::Wait::ALL
    #[inline(always)]
    fn read(
        &self,
        flow: u32,
        mut each: impl FnMut(SubflowRow),
        mut each_wait: impl FnMut(u32, Time),
    ) -> Option<FlowTotals> {
        let (chunk, mut at, count) = self.record(flow)?;
        let mut totals = FlowTotals::default();
        for subflow in 0..u32::from(count) {
            let [opened, received, sent_packets, path, mean, p99] = read(chunk, &mut at);
            let [before, retransmits, reinjected, timeouts, marks, held] = read(chunk, &mut at);
            let row = SubflowRow {
                flow,
                subflow,
                opened: to_time(opened),
                received,
                first: received - before,
                sent_packets,
                retransmits,
                reinjected,
                timeouts,
                marks,
                held,
                rtts: Rtts {
                    mean: to_time(mean),
                    p99: to_time(p99),
                },
                path: path as u32,
            };
            totals.add(&row);
            totals.rtts = row.rtts;
            each(row);
        }
        if count != 1 {
            let [mean, p99] = read(chunk, &mut at);
            totals.rtts = Rtts {
                mean: to_time(mean),
                p99: to_time(p99),
            };
        }
        let [low, high] = [chunk[at], chunk[at + 1]];
        at += 2;
        let mut waited = u16::from_le_bytes([low, high]);
        while waited != 0 {
            let wait = waited.trailing_zeros();
            waited &= waited - 1;
            let bytes = chunk[at..].first_chunk().expect("eight bytes");
            at += 8;
            each_wait(wait, Time::from_picos(u64::from_le_bytes(*bytes)));
        }
        Some(totals)
    }

    /// The rows of all subflows, by flow and subflow, the totals of each of the first `flows` flows, and what these have
    /// waited for.
    pub fn columns(&self, flows: u32) -> (SubflowColumns, TotalsColumns, WaitColumns) {
        let mut subflows = SubflowColumns::with_capacity(self.subflows);
        let mut totals = TotalsColumns::with_capacity(flows as usize);
        let mut waits = WaitColumns::default();
        let mut rows = Vec::new();
        let mut sums = Vec::new();
        for from in (0..flows).step_by(FLOWS_AT_ONCE) {
            rows.clear();
            sums.clear();
            for flow in from..flows.min(from.saturating_add(FLOWS_AT_ONCE as u32)) {
                let own = self.read(
                    flow,
                    |row| rows.push(row),
                    |wait, time| waits.push(flow, wait, time),
                );
                sums.push(own.unwrap_or_default());
            }
            subflows.extend(&rows);
            totals.extend(&sums);
        }
        (subflows, totals, waits)
    }
}

/// A flow whose record is being written.
pub(crate) struct Leaving<'a> {
    chunk: &'a mut Vec<u8>,
}

impl Leaving<'_> {
    /// Adds the next subflow.
    #[inline]
    pub fn add(&mut self, row: &SubflowRow) {
        let usual = [
            from_time(row.opened),
            row.received,
            row.sent_packets,
            u64::from(row.path),
            from_time(row.rtts.mean),
            from_time(row.rtts.p99),
        ];
        let unusual = [
            row.received - row.first,
            row.retransmits,
            row.reinjected,
            row.timeouts,
            row.marks,
            row.held,
        ];
        write(self.chunk, usual);
        write(self.chunk, unusual);
    }

    /// Adds the RTTs of all subflows together, of a flow that has not just one.
    pub fn add_rtts(&mut self, rtts: Rtts) {
        write(self.chunk, [from_time(rtts.mean), from_time(rtts.p99)]);
    }

    /// Adds what the flow has waited for: `each` calls what it is given with places in [`Wait::ALL`], in order, and times.
    ///
    /// [`Wait::ALL`]: pathweave_transport::Wait::ALL
    #[inline]
    pub fn add_waits(&mut self, each: impl FnOnce(&mut dyn FnMut(usize, Time))) {
        let at = self.chunk.len();
        self.chunk.extend_from_slice(&[0; 2]);
        let mut waited = 0u16;
        each(&mut |wait, time| {
            if time != Time::ZERO {
                waited |= 1 << wait;
                self.chunk.extend_from_slice(&time.as_picos().to_le_bytes());
            }
        });
        self.chunk[at..at + 2].copy_from_slice(&waited.to_le_bytes());
    }
}

/// Adds a group of numbers to a chunk.
fn write<const COUNT: usize>(chunk: &mut Vec<u8>, numbers: [u64; COUNT]) {
    const { assert!(COUNT <= MOST_NUMBERS) };
    if numbers.iter().all(|&number| number == 0) {
        chunk.extend_from_slice(&[0; LENGTHS]);
        return;
    }
    let mut bytes = [0; MOST_BYTES];
    let mut lengths = 0;
    let mut at = LENGTHS;
    for (place, number) in numbers.into_iter().enumerate() {
        let length = (u64::BITS - number.leading_zeros()).div_ceil(8);
        lengths |= u64::from(length) << (4 * place);
        bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
        at += length as usize;
    }
    bytes[..LENGTHS].copy_from_slice(&lengths.to_le_bytes()[..LENGTHS]);
    chunk.extend_from_slice(&bytes[..at]);
}

/// Reads the group that begins at this place of a chunk, and goes on to what is behind it.
#[inline]
fn read<const COUNT: usize>(chunk: &[u8], at: &mut usize) -> [u64; COUNT] {
    // The eight bytes that end with a number have it in their highest bytes.
    let ending = |end: usize| {
        let bytes = chunk[..end].last_chunk();
        u64::from_le_bytes(*bytes.expect("eight bytes"))
    };
    let mut end = *at + LENGTHS;
    let mut lengths = ending(end) >> (8 * (8 - LENGTHS));
    if lengths == 0 {
        *at = end;
        return [0; COUNT];
    }
    let numbers = [(); COUNT].map(|()| {
        let length = lengths & 0xf;
        lengths >>= 4;
        end += length as usize;
        // In two steps, as a word cannot be shifted by all of its bits.
        let half = 32 - 4 * length;
        ending(end) >> half >> half
    });
    // What is left of the group.
    while lengths > 0 {
        end += (lengths & 0xf) as usize;
        lengths >>= 4;
    }
    *at = end;
    numbers
}

/// Times that do not exist are 0, all others one more than they are.
fn from_time(time: Option<Time>) -> u64 {
    time.map_or(0, |time| time.as_picos().saturating_add(1))
}

fn to_time(number: u64) -> Option<Time> {
    number.checked_sub(1).map(Time::from_picos)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pathweave_transport::Waits;
    use proptest::prelude::*;

    fn time() -> impl Strategy<Value = Option<Time>> {
        prop::option::of((0..u64::MAX).prop_map(Time::from_picos))
    }

    fn rtts() -> impl Strategy<Value = Rtts> {
        (time(), time()).prop_map(|(mean, p99)| Rtts { mean, p99 })
    }

    fn row() -> impl Strategy<Value = SubflowRow> {
        // Small numbers and large ones.
        let number = prop_oneof![0u64..200, any::<u64>().prop_map(|n| n >> 8)];
        let numbers = prop::collection::vec(number, 8);
        (time(), numbers, any::<u32>(), rtts()).prop_map(|(opened, numbers, path, rtts)| {
            SubflowRow {
                flow: 0,
                subflow: 0,
                opened,
                received: numbers[0],
                first: numbers[0].saturating_sub(numbers[1]),
                sent_packets: numbers[2],
                retransmits: numbers[3],
                reinjected: numbers[4],
                timeouts: numbers[5],
                marks: numbers[6],
                held: numbers[7],
                rtts,
                path,
            }
        })
    }

    /// Adds a flow.
    fn push(ended: &mut EndedFlows, flow: u32, rows: &[SubflowRow], rtts: Rtts, waits: &Waits) {
        let mut leaving = ended.begin(flow, rows.len() as u32);
        rows.iter().for_each(|row| leaving.add(row));
        if rows.len() != 1 {
            leaving.add_rtts(rtts);
        }
        leaving.add_waits(|add| (0..).zip(*waits).for_each(|(wait, time)| add(wait, time)));
    }

    fn waits() -> impl Strategy<Value = Waits> {
        let wait = prop_oneof![Just(0), any::<u64>().prop_map(|picos| picos >> 20)];
        prop::array::uniform10(wait.prop_map(Time::from_picos))
    }

    proptest! {
        /// What is written is read again, whatever the order of the ends.
        #[test]
        fn nothing_is_lost(
            flows in prop::collection::vec((prop::collection::vec(row(), 1..6), rtts(), waits()), 1..40),
        ) {
            let mut ended = EndedFlows::default();
            let of = |flow: u32, own: &[SubflowRow]| -> Vec<SubflowRow> {
                let own = (0u32..).zip(own.iter().cloned());
                own.map(|(subflow, row)| SubflowRow { flow, subflow, ..row }).collect()
            };
            // Every second flow leaves nothing.
            for place in (0..flows.len()).rev() {
                let (own, rtts, waits) = &flows[place];
                let flow = 2 * place as u32;
                push(&mut ended, flow, &of(flow, own), *rtts, waits);
            }
            for (place, (own, rtts, waits)) in (0u32..).zip(&flows) {
                let flow = 2 * place;
                let own = of(flow, own);
                let rtts = if let [row] = &own[..] { row.rtts } else { *rtts };
                let expected = FlowTotals::new(&own, rtts);
                let mut rows = Vec::new();
                let mut read = Waits::default();
                let totals = ended.read(
                    flow,
                    |row| rows.push(row),
                    |wait, time| read[wait as usize] = time,
                );
                prop_assert_eq!(totals, Some(expected));
                prop_assert_eq!(&read, waits);
                prop_assert_eq!(&rows, &own);
                let first = own.iter().map(|row| row.first as f64);
                prop_assert!(ended.first_arrivals(flow).eq(first));
                prop_assert_eq!(ended.first_arrivals(flow + 1).count(), 0);
                prop_assert_eq!(ended.read(flow + 1, |_| unreachable!(), |_, _| unreachable!()), None);
            }
            let count = 2 * flows.len() as u32;
            let (columns, totals, _) = ended.columns(count);
            let expected: usize = flows.iter().map(|(own, ..)| own.len()).sum();
            prop_assert_eq!((columns.flow.len(), totals.marks.len()), (expected, count as usize));
            prop_assert!(columns.flow.is_sorted());
        }
    }

    #[test]
    fn records_do_not_cross_chunks() {
        let mut ended = EndedFlows::default();
        let row = |flow, subflow| SubflowRow {
            flow,
            subflow,
            opened: Some(Time::from_secs(u64::from(flow))),
            received: u64::MAX,
            first: 0,
            sent_packets: u64::MAX,
            retransmits: 0,
            reinjected: 0,
            timeouts: 0,
            marks: 1 << 50,
            held: 0,
            rtts: Rtts {
                mean: Some(Time::MAX - Time::from_picos(1)),
                p99: None,
            },
            path: flow,
        };
        let rows_of =
            |flow| -> Vec<SubflowRow> { (0..256).map(|number| row(flow, number)).collect() };
        for flow in 0..100 {
            push(
                &mut ended,
                flow,
                &rows_of(flow),
                Rtts::default(),
                &Waits::default(),
            );
        }
        assert!(ended.chunks.len() > 10);
        assert!(ended.chunks.iter().all(|chunk| chunk.capacity() == CHUNK));
        for flow in 0..100 {
            let mut rows = Vec::new();
            assert!(ended.read(flow, |row| rows.push(row), |_, _| ()).is_some());
            assert_eq!(rows, rows_of(flow));
        }
    }
}
