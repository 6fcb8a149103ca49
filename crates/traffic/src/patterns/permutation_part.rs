//! Pairs of one random permutation that several groups share.

use super::derangement::derange;
use crate::{Hosts, TrafficError};
use pathweave_random::{Stream, hash};
use std::ops::Range;

/// Pairs of a random permutation in which every host sends to one other host and receives from one. All groups that
/// name the same hosts share the permutation, so groups with disjoint parts have different senders and receivers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermutationPart {
    /// The hosts of the permutation, at least two.
    pub hosts: Option<Vec<u32>>,
    /// Which of its pairs, counted from 0. Their order is random as well.
    pub part: Range<u32>,
}

impl PermutationPart {
    /// The pairs of sender and receiver, which depend only on the seed, the hosts and the part.
    ///
    /// # Errors
    /// When the hosts or the part are impossible.
    pub fn draw(&self, hosts: &Hosts, seed: u64) -> Result<Vec<(u32, u32)>, TrafficError> {
        let mut hosts = hosts.select("pairs.permutation", self.hosts.as_deref())?;
        if hosts.len() < 2 {
            return Err(TrafficError(
                "pairs.permutation needs at least two hosts".to_owned(),
            ));
        }
        let Range { start, end } = self.part;
        if start >= end || end as usize > hosts.len() {
            return Err(TrafficError(format!(
                "pairs.part is [{start}, {end}]; the permutation has {0} pairs: give the first pair, from 0, and the one after the last, up to {0}",
                hosts.len()
            )));
        }
        hosts.sort_unstable();
        let names: Vec<u64> = hosts.iter().map(|&host| u64::from(host)).collect();
        let mut stream = Stream::new(seed, "traffic.permutation", hash(&names));
        let mut order: Vec<u32> = (0..hosts.len() as u32).collect();
        derange(&mut order, &mut stream);
        let receivers = order.iter().map(|&to| hosts[to as usize]);
        let mut pairs: Vec<(u32, u32)> = hosts.iter().copied().zip(receivers).collect();
        stream.shuffle(&mut pairs);
        Ok(pairs[start as usize..end as usize].to_vec())
    }
}
