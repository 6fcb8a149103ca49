//! Data packets whose sizes differ: which size each has.

use pathweave_random::{Stream, hash};

/// Equally likely ranks that a distribution is kept by.
const RANKS: usize = 1 << RANK_BITS;
const RANK_BITS: u32 = 12;

/// A distribution of the sizes of data packets on the wire, headers included.
///
/// It is kept as the sizes at 4096 equally likely ranks: what is rarer than one packet in 4096 counts
/// as its neighbour.
#[derive(Clone, PartialEq, Eq)]
pub struct PacketMix {
    by_rank: Box<[u16; RANKS]>,
}

impl PacketMix {
    /// The distribution in which a share `p` of the packets has at most `quantile(p)` bytes, a whole
    /// number after rounding.
    pub fn new(quantile: impl Fn(f64) -> f64) -> PacketMix {
        let mut by_rank = Box::new([0; RANKS]);
        for (rank, size) in by_rank.iter_mut().enumerate() {
            let probability = (rank as f64 + 0.5) / RANKS as f64;
            // `as` keeps what does not fit at the ends of the range.
            *size = quantile(probability).round() as u16;
        }
        PacketMix { by_rank }
    }

    /// The smallest size in bytes.
    pub fn smallest(&self) -> u16 {
        self.by_rank.iter().copied().min().unwrap_or(0)
    }

    /// The mean size in bytes.
    pub fn mean(&self) -> f64 {
        let sum: u64 = self.by_rank.iter().map(|&size| u64::from(size)).sum();
        sum as f64 / RANKS as f64
    }

    /// The size of a connection's packet with this number: the same whenever it is asked for.
    #[inline]
    pub fn size(&self, key: PacketKey, number: u32) -> u16 {
        let bits = hash(&[key.0, u64::from(number)]);
        self.by_rank[(bits >> (u64::BITS - RANK_BITS)) as usize]
    }
}

impl std::fmt::Debug for PacketMix {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PacketMix {{ mean: {} B }}", self.mean())
    }
}

/// What the sizes of a connection's packets follow from, besides their distribution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketKey(u64);

impl PacketKey {
    /// That of a run's flow.
    pub fn new(seed: u64, flow: u32) -> PacketKey {
        PacketKey(Stream::new(seed, "packets", u64::from(flow)).bits())
    }
}
