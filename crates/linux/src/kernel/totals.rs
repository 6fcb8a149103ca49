//! What a controller has done since it was loaded (bpf/totals.h).

use crate::Failure;
use libbpf_rs::{MapCore, MapFlags, MapHandle};

/// Counts over all its connections, those that have ended as well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Connections that got a row.
    pub connections: u64,
    /// Subflows that got a row.
    pub subflows: u64,
    /// Acknowledgements received by subflows with a row.
    pub acknowledgements: u64,
    /// Acknowledgements received by subflows that found no row, and behave as Reno.
    pub acknowledgements_without_row: u64,
    /// Packets acknowledged.
    pub packets: u64,
    /// Marks echoed.
    pub marks: u64,
    /// Windows cut by marks.
    pub cuts: u64,
    /// Losses found by acknowledgements.
    pub losses: u64,
    /// Losses found by the retransmission timer.
    pub timeouts: u64,
    /// Subflows whose path has failed.
    pub failures: u64,
}

const MEMBERS: usize = 10;

impl Totals {
    /// The sum over all processors.
    pub(super) fn read(map: &MapHandle) -> Result<Totals, Failure> {
        let values = map
            .lookup_percpu(&0_u32.to_ne_bytes(), MapFlags::ANY)
            .ok()
            .flatten()
            .ok_or_else(|| Failure::new("the map of a controller's totals cannot be read"))?;
        let mut sums = [0_u64; MEMBERS];
        for value in &values {
            for (sum, bytes) in sums.iter_mut().zip(value.chunks_exact(8)) {
                *sum += u64::from_ne_bytes(bytes.try_into().expect("eight bytes"));
            }
        }
        let [
            connections,
            subflows,
            acknowledgements,
            acknowledgements_without_row,
            packets,
            marks,
            cuts,
            losses,
            timeouts,
            failures,
        ] = sums;
        Ok(Totals {
            connections,
            subflows,
            acknowledgements,
            acknowledgements_without_row,
            packets,
            marks,
            cuts,
            losses,
            timeouts,
            failures,
        })
    }
}
