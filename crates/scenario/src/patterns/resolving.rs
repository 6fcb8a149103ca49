//! What a pattern's table does to become a pattern.

use super::hosts::HostsText;
use super::load_counts::LoadCounts;
use crate::resolve::{Pairs, Problems, Scene};
use pathweave_traffic::{Pattern, Size};

/// A table of keys that becomes a pattern. It fills in its defaults.
pub(crate) trait ResolvePattern {
    /// The pattern, and the pairs of hosts between which it sends. `None` when there were problems.
    fn resolve(&mut self, group: &mut InGroup<'_, '_>) -> Option<(Pattern, Pairs)>;

    /// What flows send, where the pattern says it, and why the group's `size` must not be given.
    fn own_size(&self) -> Option<OwnSize> {
        None
    }

    /// What its load counts.
    fn load_counts(&self) -> LoadCounts {
        LoadCounts::Payload
    }
}

/// A pattern says what its flows send.
pub(crate) struct OwnSize {
    /// `None` where only the pattern knows it, once it is resolved.
    pub size: Option<Size>,
    pub why_no_other: &'static str,
}

/// The group that a pattern is resolved for.
pub(crate) struct InGroup<'a, 'p> {
    /// Where the group's table is.
    pub steps: &'a [&'a str],
    /// What its flows send, if that is known and sound.
    pub size: Option<&'a Size>,
    pub scene: &'a Scene<'a>,
    pub problems: &'a mut Problems<'p>,
    /// Problems that there were before.
    before: usize,
}

impl<'a, 'p> InGroup<'a, 'p> {
    pub fn new(
        steps: &'a [&'a str],
        size: Option<&'a Size>,
        scene: &'a Scene<'a>,
        problems: &'a mut Problems<'p>,
    ) -> InGroup<'a, 'p> {
        let before = problems.found.len();
        InGroup {
            steps,
            size,
            scene,
            problems,
            before,
        }
    }

    /// Whether the pattern has had problems.
    pub fn has_problems(&self) -> bool {
        self.problems.found.len() > self.before
    }

    /// Notes a mistake of the table as a whole.
    pub fn wrong(&mut self, text: impl AsRef<str>) {
        self.problems.wrong(self.steps, text);
    }

    /// Notes a mistake in the value of a key.
    pub fn wrong_value(&mut self, key: &str, text: impl AsRef<str>) {
        self.problems.wrong(&[self.steps, &[key]].concat(), text);
    }

    /// Notes that a key must not be there.
    pub fn wrong_key(&mut self, key: &str, text: impl AsRef<str>) {
        self.problems
            .wrong_key(&[self.steps, &[key]].concat(), text);
    }

    /// The hosts that a key names, by index; `None` for all.
    pub fn hosts(&mut self, key: &str, hosts: &HostsText) -> Option<Vec<u32>> {
        let at = [self.steps, &[key]].concat();
        self.scene.names.select(hosts, &at, self.problems)
    }

    /// The host that a key names.
    pub fn host(&mut self, key: &str, name: &str) -> Option<u32> {
        match self.scene.names.host(name) {
            Ok(index) => Some(index),
            Err(text) => {
                self.wrong_value(key, text);
                None
            }
        }
    }

    /// The indexes of all hosts.
    pub fn all_hosts(&self) -> Vec<u32> {
        (0..self.scene.fabric.hosts.len() as u32).collect()
    }

    /// All pairs of these hosts; `None` is all of them.
    pub fn pairs(&self, sources: Option<&Vec<u32>>, destinations: Option<&Vec<u32>>) -> Pairs {
        Pairs {
            sources: sources.cloned().unwrap_or_else(|| self.all_hosts()),
            destinations: destinations.cloned().unwrap_or_else(|| self.all_hosts()),
            different_racks: false,
            only: None,
        }
    }

    /// Refuses a rate that is none.
    pub fn check_rate(&mut self, key: &str, rate: Option<f64>) {
        if let Some(rate) = rate
            && !(rate.is_finite() && rate > 0.0)
        {
            self.wrong_value(key, format!("{key} is {rate}; expected a number above 0"));
        }
    }
}
