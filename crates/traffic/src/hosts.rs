//! The hosts between which traffic flows.

use crate::TrafficError;

/// What traffic needs to know of the fabric: how many hosts there are and where they stand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hosts {
    /// Number of hosts.
    pub count: u32,
    /// The rack of each host, `count` entries.
    pub rack: Vec<u32>,
    /// The pod of each host, `count` entries.
    pub pod: Vec<u32>,
}

impl Hosts {
    /// Hosts that all stand in one rack.
    pub fn in_one_rack(count: u32) -> Hosts {
        Hosts {
            count,
            rack: vec![0; count as usize],
            pod: vec![0; count as usize],
        }
    }

    /// Refuses lists that do not fit the number of hosts.
    pub(crate) fn validate(&self) -> Result<(), TrafficError> {
        let count = self.count as usize;
        if count == 0 {
            return Err(TrafficError("there are no hosts".to_owned()));
        }
        if self.rack.len() != count || self.pod.len() != count {
            return Err(TrafficError(format!(
                "there are {count} hosts, but {} racks and {} pods are given for them",
                self.rack.len(),
                self.pod.len()
            )));
        }
        Ok(())
    }

    /// The listed hosts, or all of them; refuses an empty, repeating or impossible list.
    pub(crate) fn select(
        &self,
        option: &str,
        listed: Option<&[u32]>,
    ) -> Result<Vec<u32>, TrafficError> {
        let Some(listed) = listed else {
            return Ok((0..self.count).collect());
        };
        if listed.is_empty() {
            return Err(TrafficError(format!(
                "{option} lists no host; leave it out for all hosts"
            )));
        }
        let mut seen = vec![false; self.count as usize];
        for &host in listed {
            self.check(option, host)?;
            if std::mem::replace(&mut seen[host as usize], true) {
                return Err(TrafficError(format!("{option} lists host {host} twice")));
            }
        }
        Ok(listed.to_vec())
    }

    /// Refuses a host index that does not exist.
    pub(crate) fn check(&self, option: &str, host: u32) -> Result<(), TrafficError> {
        if host < self.count {
            return Ok(());
        }
        Err(TrafficError(format!(
            "{option} names host {host}, but the fabric has {} hosts (0 to {})",
            self.count,
            i64::from(self.count) - 1
        )))
    }
}
