//! Where the ranks of jobs are.

use crate::{Hosts, TrafficError};
use pathweave_random::Stream;

/// Which hosts jobs get.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Each job gets the next hosts of the list, so that its ranks are neighbours.
    Packed(Option<Vec<u32>>),
    /// Each job gets hosts of the list at random, in random order; no two jobs share one.
    Random(Option<Vec<u32>>),
    /// The hosts of each job, by rank. Jobs may share hosts.
    Listed(Vec<Vec<u32>>),
}

/// The hosts of each job, by rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Teams {
    /// By job.
    pub hosts: Vec<Vec<u32>>,
}

impl Placement {
    /// The hosts that jobs may get, each once; `None` for all.
    pub fn hosts(&self) -> Option<Vec<u32>> {
        match self {
            Placement::Packed(hosts) | Placement::Random(hosts) => hosts.clone(),
            Placement::Listed(teams) => {
                let mut hosts = teams.concat();
                hosts.sort_unstable();
                hosts.dedup();
                Some(hosts)
            }
        }
    }

    /// The hosts of `jobs` jobs of this many ranks each; `None` makes as many jobs as fit. `too_few` says what to do
    /// about a job with more ranks than there are hosts.
    pub(crate) fn teams(
        &self,
        hosts: &Hosts,
        ranks: u32,
        jobs: Option<u32>,
        too_few: impl FnOnce(usize) -> String,
        mut stream: Stream,
    ) -> Result<Teams, TrafficError> {
        let refuse = |text: String| Err(TrafficError(text));
        let mut places = match self {
            Placement::Packed(listed) | Placement::Random(listed) => {
                hosts.select("hosts", listed.as_deref())?
            }
            Placement::Listed(lists) => {
                for (index, list) in lists.iter().enumerate() {
                    let option = format!("placement[{index}]");
                    hosts.select(&option, Some(list))?;
                    if list.len() != ranks as usize {
                        return refuse(format!(
                            "{option} lists {} hosts for {ranks} ranks; list one for each",
                            list.len()
                        ));
                    }
                }
                if let Some(jobs) = jobs.filter(|&jobs| jobs as usize != lists.len()) {
                    return refuse(format!(
                        "jobs is {jobs}, but placement lists the hosts of {}; leave jobs out",
                        lists.len()
                    ));
                }
                return Ok(Teams {
                    hosts: lists.clone(),
                });
            }
        };
        if matches!(self, Placement::Random(_)) {
            stream.shuffle(&mut places);
        }
        let fit = places.len() / ranks.max(1) as usize;
        let jobs = jobs.map_or(fit, |jobs| jobs as usize);
        if fit == 0 {
            return refuse(too_few(places.len()));
        }
        if jobs == 0 || jobs > fit {
            let accepted = match fit {
                1 => format!("one job of {ranks} ranks: give jobs = 1"),
                _ => format!("{fit} jobs of {ranks} ranks: give 1 to {fit}"),
            };
            return refuse(format!(
                "jobs is {jobs}; the {} hosts are enough for {accepted}",
                places.len()
            ));
        }
        let teams = places.chunks_exact(ranks as usize).take(jobs);
        Ok(Teams {
            hosts: teams.map(<[u32]>::to_vec).collect(),
        })
    }
}
