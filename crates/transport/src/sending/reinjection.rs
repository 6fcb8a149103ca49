//! Data of failed subflows, to be sent again on others.

use std::collections::VecDeque;

/// The numbers of the data, in the order in which they are to be sent. Usually there are none, which takes one word:
/// every acknowledgement reads what stands beside it.
#[derive(Debug, Default)]
pub(crate) struct Reinjection(Option<Box<Waiting>>);

/// At least one number. A box of a bare queue looks like a mistake to the linter.
#[derive(Debug, Default)]
struct Waiting {
    data: VecDeque<u32>,
}

impl Reinjection {
    /// Whether there are none.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// How many they are.
    pub fn segments(&self) -> u32 {
        self.0
            .as_ref()
            .map_or(0, |waiting| waiting.data.len() as u32)
    }

    /// The first one.
    pub fn first(&self) -> Option<u32> {
        self.0.as_ref()?.data.front().copied()
    }

    /// Adds some behind the others. Returns how many.
    pub fn add(&mut self, data: impl Iterator<Item = u32>) -> u64 {
        let waiting = &mut self.0.get_or_insert_default().data;
        let before = waiting.len();
        waiting.extend(data);
        let after = waiting.len();
        if after == 0 {
            self.0 = None;
        }
        (after - before) as u64
    }

    /// Takes out the first one from this number on; what is before it in the queue is forgotten.
    #[inline]
    pub fn take_from(&mut self, number: u32) -> Option<u32> {
        if self.is_empty() {
            return None;
        }
        self.take_waiting(number)
    }

    #[cold]
    #[inline(never)]
    fn take_waiting(&mut self, number: u32) -> Option<u32> {
        let waiting = self.0.as_mut()?;
        let mut taken = None;
        while taken.is_none()
            && let Some(data) = waiting.data.pop_front()
        {
            taken = Some(data).filter(|&data| data >= number);
        }
        if waiting.data.is_empty() {
            self.0 = None;
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_come_out_in_their_order_and_what_has_been_delivered_does_not() {
        let mut reinjection = Reinjection::default();
        assert_eq!(
            (reinjection.first(), reinjection.take_from(0)),
            (None, None)
        );
        assert_eq!(reinjection.add([].into_iter()), 0);
        assert!(reinjection.is_empty());
        assert_eq!(reinjection.add([5, 9, 2].into_iter()), 3);
        assert_eq!(reinjection.add([7, 1].into_iter()), 2);
        assert_eq!(reinjection.first(), Some(5));
        assert_eq!(reinjection.take_from(5), Some(5));
        assert_eq!(reinjection.take_from(3), Some(9));
        assert_eq!(reinjection.first(), Some(2));
        assert_eq!(reinjection.take_from(3), Some(7));
        assert!(!reinjection.is_empty());
        assert_eq!(reinjection.take_from(3), None);
        assert!(reinjection.is_empty());
        assert_eq!(reinjection.take_from(0), None);
    }
}
