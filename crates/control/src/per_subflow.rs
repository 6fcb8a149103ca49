//! What a controller remembers of each subflow.

use crate::SubflowId;
use alloc::vec::Vec;

/// A controller's state of each subflow.
///
/// A subflow that is heard of for the first time starts with a copy of the fresh state, so a loss
/// that is reported before the subflow has opened does no harm.
#[derive(Clone, Debug)]
pub struct PerSubflow<State> {
    fresh: State,
    states: Vec<State>,
}

impl<State: Clone> PerSubflow<State> {
    /// No subflow yet; each will start as `fresh`.
    pub const fn new(fresh: State) -> PerSubflow<State> {
        PerSubflow {
            fresh,
            states: Vec::new(),
        }
    }

    /// The state of subflow `r`.
    #[inline]
    pub fn get(&mut self, r: SubflowId) -> &mut State {
        let index = r.0 as usize;
        if index >= self.states.len() {
            self.states.resize(index + 1, self.fresh.clone());
        }
        &mut self.states[index]
    }

    /// Forgets all subflows.
    pub fn forget(&mut self) {
        self.states.clear();
    }

    /// Forgets what was known of subflow `r`.
    pub fn restart(&mut self, r: SubflowId) {
        *self.get(r) = self.fresh.clone();
    }

    /// The states so far, to be changed.
    pub fn iter_mut(&mut self) -> core::slice::IterMut<'_, State> {
        self.states.iter_mut()
    }

    /// The states so far, in the order of the subflows' numbers.
    #[inline]
    pub fn iter(&self) -> core::slice::Iter<'_, State> {
        self.states.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::PerSubflow;
    use crate::SubflowId;

    #[test]
    fn subflows_start_fresh_and_are_kept_apart() {
        let mut states = PerSubflow::new(7);
        *states.get(SubflowId(2)) += 1;
        assert!(states.iter().eq(&[7, 7, 8]));
        *states.get(SubflowId(0)) = 1;
        assert_eq!(*states.get(SubflowId(1)), 7);
        assert_eq!(*states.get(SubflowId(2)), 8);
        states.restart(SubflowId(2));
        assert!(states.iter().eq(&[1, 7, 7]));
        states.restart(SubflowId(3));
        assert!(states.iter().eq(&[1, 7, 7, 7]));
        for state in states.iter_mut() {
            *state += 1;
        }
        assert!(states.iter().eq(&[2, 8, 8, 8]));
    }
}
