//! Random orders in which everyone has another place.

use pathweave_random::Stream;

/// Shuffles `order`, which holds 0, 1, 2, ... in any order, into a random order without a fixed point.
///
/// Rejecting permutations with a fixed point keeps all derangements equally likely; about one in e passes, whatever the
/// number of hosts.
pub(super) fn derange(order: &mut [u32], stream: &mut Stream) {
    loop {
        stream.shuffle(order);
        if order
            .iter()
            .enumerate()
            .all(|(from, &to)| from != to as usize)
        {
            break;
        }
    }
}
