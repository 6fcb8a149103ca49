//! What flows that have ended leave behind, in few bytes: it is read when a window closes and when the run
//! is over, and there may be millions of them.

use crate::flows::{FlowTotals, SubflowRow};
use pathweave_units::Time;
use std::collections::BTreeMap;

/// Bytes of a chunk. A record lies in one chunk: that of 256 subflows takes less than half of it.
const CHUNK: usize = 1 << 16;

/// The counters of flows that have ended, in the order of their ends.
///
/// A record is a list of whole numbers, each in as many groups of seven bits as it needs: the flow, its
/// number of subflows, the counters of each, and the RTTs of all together where there are several. Of what
/// arrived, the record has the part that had come on another subflow before: it is mostly 0.
#[derive(Clone, Debug, Default)]
pub(crate) struct EndedFlows {
    chunks: Vec<Vec<u8>>,
    /// The record that is being written.
    record: Vec<u8>,
}

impl EndedFlows {
    /// Adds a flow: its subflows in order, and what its counters come to.
    pub fn push(&mut self, flow: u32, rows: &[SubflowRow], totals: &FlowTotals) {
        let mut record = std::mem::take(&mut self.record);
        record.clear();
        write(&mut record, u64::from(flow));
        write(&mut record, rows.len() as u64);
        for row in rows {
            write_time(&mut record, row.opened);
            for number in [
                row.received,
                row.received - row.first,
                row.sent_packets,
                row.retransmits,
                row.reinjected,
                row.timeouts,
                row.marks,
                u64::from(row.path),
            ] {
                write(&mut record, number);
            }
            write_time(&mut record, row.rtt_mean);
            write_time(&mut record, row.rtt_p99);
        }
        if rows.len() != 1 {
            write_time(&mut record, totals.rtt_mean);
            write_time(&mut record, totals.rtt_p99);
        }
        match self.chunks.last_mut() {
            Some(chunk) if chunk.len() + record.len() <= chunk.capacity() => {
                chunk.extend_from_slice(&record);
            }
            _ => {
                let mut chunk = Vec::with_capacity(CHUNK.max(record.len()));
                chunk.extend_from_slice(&record);
                self.chunks.push(chunk);
            }
        }
        self.record = record;
    }

    /// All flows, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = (u32, Vec<SubflowRow>, FlowTotals)> {
        self.chunks.iter().flat_map(|chunk| {
            let mut rest = &chunk[..];
            std::iter::from_fn(move || (!rest.is_empty()).then(|| read_flow(&mut rest)))
        })
    }

    /// Payload (bytes) that had arrived for the first time on each subflow, by flow.
    pub fn first_arrivals(&self) -> BTreeMap<u32, Vec<f64>> {
        let first = |(flow, rows, _): (u32, Vec<SubflowRow>, FlowTotals)| {
            (flow, rows.iter().map(|row| row.first as f64).collect())
        };
        self.iter().map(first).collect()
    }

    /// The rows of all subflows, by flow and subflow, and the totals of each flow.
    pub fn unpack(&self, flows: usize) -> (Vec<SubflowRow>, Vec<FlowTotals>) {
        let mut all = Vec::new();
        let mut sums = vec![FlowTotals::default(); flows];
        for (flow, rows, totals) in self.iter() {
            all.extend(rows);
            sums[flow as usize] = totals;
        }
        all.sort_by_key(|row| (row.flow, row.subflow));
        (all, sums)
    }
}

fn write(record: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        record.push(number as u8 | 0x80);
        number >>= 7;
    }
    record.push(number as u8);
}

/// Times that do not exist are 0, all others one more than they are.
fn write_time(record: &mut Vec<u8>, time: Option<Time>) {
    write(
        record,
        time.map_or(0, |time| time.as_picos().saturating_add(1)),
    );
}

fn read(bytes: &mut &[u8]) -> u64 {
    let mut number = 0;
    let mut shift = 0;
    while let Some((&byte, rest)) = bytes.split_first() {
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte < 0x80 {
            break;
        }
    }
    number
}

fn read_time(bytes: &mut &[u8]) -> Option<Time> {
    read(bytes).checked_sub(1).map(Time::from_picos)
}

fn read_flow(bytes: &mut &[u8]) -> (u32, Vec<SubflowRow>, FlowTotals) {
    let flow = read(bytes) as u32;
    let count = read(bytes) as u32;
    let mut totals = FlowTotals::default();
    let rows: Vec<SubflowRow> = (0..count)
        .map(|subflow| {
            let opened = read_time(bytes);
            let received = read(bytes);
            let row = SubflowRow {
                flow,
                subflow,
                opened,
                received,
                first: received - read(bytes),
                sent_packets: read(bytes),
                retransmits: read(bytes),
                reinjected: read(bytes),
                timeouts: read(bytes),
                marks: read(bytes),
                path: read(bytes) as u32,
                rtt_mean: read_time(bytes),
                rtt_p99: read_time(bytes),
            };
            totals.retransmits += row.retransmits;
            totals.reinjected += row.reinjected;
            totals.timeouts += row.timeouts;
            totals.marks += row.marks;
            row
        })
        .collect();
    (totals.rtt_mean, totals.rtt_p99) = match rows.as_slice() {
        [row] => (row.rtt_mean, row.rtt_p99),
        _ => (read_time(bytes), read_time(bytes)),
    };
    (flow, rows, totals)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn time() -> impl Strategy<Value = Option<Time>> {
        prop::option::of((0..u64::MAX).prop_map(Time::from_picos))
    }

    fn row() -> impl Strategy<Value = SubflowRow> {
        // Small numbers and large ones.
        let number = prop_oneof![0u64..200, any::<u64>().prop_map(|n| n >> 8)];
        let numbers = prop::collection::vec(number, 7);
        (time(), numbers, any::<u32>(), time(), time()).prop_map(
            |(opened, numbers, path, rtt_mean, rtt_p99)| SubflowRow {
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
                rtt_mean,
                rtt_p99,
                path,
            },
        )
    }

    proptest! {
        /// What is written is read again, whatever the order of the ends.
        #[test]
        fn nothing_is_lost(
            flows in prop::collection::vec((prop::collection::vec(row(), 1..6), time(), time()), 1..40),
        ) {
            let mut ended = EndedFlows::default();
            let count = flows.len() as u32;
            let mut rows = Vec::new();
            let mut sums = Vec::new();
            for (flow, (own, rtt_mean, rtt_p99)) in (0u32..).zip(flows) {
                let own: Vec<SubflowRow> = (0u32..)
                    .zip(own)
                    .map(|(subflow, row)| SubflowRow { flow, subflow, ..row })
                    .collect();
                let sum = |of: fn(&SubflowRow) -> u64| own.iter().map(of).sum();
                let lone = own.len() == 1;
                sums.push(FlowTotals {
                    retransmits: sum(|row| row.retransmits),
                    reinjected: sum(|row| row.reinjected),
                    timeouts: sum(|row| row.timeouts),
                    marks: sum(|row| row.marks),
                    rtt_mean: if lone { own[0].rtt_mean } else { rtt_mean },
                    rtt_p99: if lone { own[0].rtt_p99 } else { rtt_p99 },
                });
                rows.push(own);
            }
            for flow in (0..count).rev() {
                ended.push(flow, &rows[flow as usize], &sums[flow as usize]);
            }
            let first = ended.first_arrivals();
            for flow in 0..count {
                let own = rows[flow as usize].iter().map(|row| row.first as f64);
                prop_assert!(first[&flow].iter().copied().eq(own));
            }
            prop_assert_eq!(ended.unpack(count as usize), (rows.concat(), sums));
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
            rtt_mean: Some(Time::MAX),
            rtt_p99: None,
            path: flow,
        };
        for flow in 0..100 {
            let rows: Vec<SubflowRow> = (0..256).map(|subflow| row(flow, subflow)).collect();
            ended.push(flow, &rows, &FlowTotals::default());
        }
        assert!(ended.chunks.len() > 10);
        assert!(ended.chunks.iter().all(|chunk| chunk.capacity() == CHUNK));
        let flows: Vec<u32> = ended.iter().map(|(flow, ..)| flow).collect();
        assert!(flows.into_iter().eq(0..100));
    }
}
