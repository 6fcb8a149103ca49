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
    states: States<State>,
}

/// The states so far. Most connections of a run may be short and have one subflow: nothing is allocated for it.
#[derive(Clone, Debug)]
enum States<State> {
    None,
    One(State),
    Several(Vec<State>),
}

impl<State: Clone> PerSubflow<State> {
    /// No subflow yet; each will start as `fresh`.
    pub const fn new(fresh: State) -> PerSubflow<State> {
        PerSubflow {
            fresh,
            states: States::None,
        }
    }

    /// The state of subflow `r`.
    #[inline]
    pub fn get(&mut self, r: SubflowId) -> &mut State {
        let index = r.0 as usize;
        if index >= self.all().len() {
            self.add(index);
        }
        &mut self.all_mut()[index]
    }

    /// Subflows up to this one are there.
    #[inline(never)]
    fn add(&mut self, index: usize) {
        self.states = if index == 0 {
            States::One(self.fresh.clone())
        } else {
            let mut states = self.all().to_vec();
            states.resize(index + 1, self.fresh.clone());
            States::Several(states)
        };
    }

    #[inline]
    fn all(&self) -> &[State] {
        match &self.states {
            States::None => &[],
            States::One(state) => core::slice::from_ref(state),
            States::Several(states) => states,
        }
    }

    #[inline]
    fn all_mut(&mut self) -> &mut [State] {
        match &mut self.states {
            States::None => &mut [],
            States::One(state) => core::slice::from_mut(state),
            States::Several(states) => states,
        }
    }

    /// Forgets all subflows.
    pub fn forget(&mut self) {
        self.states = States::None;
    }

    /// Forgets what was known of subflow `r`.
    pub fn restart(&mut self, r: SubflowId) {
        if r.0 as usize >= self.all().len() {
            self.add(r.0 as usize);
        } else {
            *self.get(r) = self.fresh.clone();
        }
    }

    /// The states so far, to be changed.
    pub fn iter_mut(&mut self) -> core::slice::IterMut<'_, State> {
        self.all_mut().iter_mut()
    }

    /// The states so far, in the order of the subflows' numbers.
    #[inline]
    pub fn iter(&self) -> core::slice::Iter<'_, State> {
        self.all().iter()
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
