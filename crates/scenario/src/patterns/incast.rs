//! Jobs in which a client asks several servers.

use super::arriving::{at_load, check_beside_load};
use super::hosts::{HostsText, all};
use super::load_counts::LoadCounts;
use super::resolving::{InGroup, OwnSize, ResolvePattern};
use super::sizes::{request, response};
use crate::resolve::Pairs;
use crate::text::BytesText;
use pathweave_traffic::patterns::{Arrivals, Incast};
use pathweave_traffic::{Pattern, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct IncastTable {
    /// The hosts that jobs pick from. Default all.
    #[serde(default = "all")]
    pub hosts: HostsText,
    /// Jobs under way at a time: each starts when another has ended. Default 8. Give this, or one of the next two, with which
    /// jobs arrive by a Poisson process, however many are under way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jobs: Option<u32>,
    /// Jobs per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jobs_per_second: Option<f64>,
    /// Mean utilisation that requests and answers offer to the links of `layer` that they use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<f64>,
    /// The layer that `load` is a share of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layer: Option<String>,
    /// What `load` counts.
    #[serde(default, skip_serializing_if = "LoadCounts::is_payload")]
    pub load_counts: LoadCounts,
    /// Servers that a job asks.
    #[serde(default = "eight")]
    pub servers: u32,
    /// Size of a request. With "0 B" servers answer when the job starts.
    #[serde(default = "request")]
    pub request: BytesText,
    /// Size of an answer.
    #[serde(default = "response")]
    pub response: BytesText,
}

impl ResolvePattern for IncastTable {
    fn resolve(&mut self, group: &mut InGroup<'_, '_>) -> Option<(Pattern, Pairs)> {
        let hosts = group.hosts("hosts", &self.hosts);
        let pairs = group.pairs(hosts.as_ref(), hosts.as_ref());
        if group.has_problems() {
            return None;
        }
        let arrivals = match (self.jobs, self.jobs_per_second, self.load) {
            (_, None, None) => None,
            (None, Some(rate), None) => Some(Arrivals::PerSecond(rate)),
            (None, None, Some(share)) => {
                Some(at_load(group, share, self.layer.as_deref(), &pairs)?)
            }
            _ => {
                group.wrong("jobs follow each other or arrive at a rate; give one of jobs, jobs_per_second, and load with layer");
                return None;
            }
        };
        group.check_rate("jobs_per_second", self.jobs_per_second);
        check_beside_load(group, self.load, self.layer.is_some(), self.load_counts);
        let jobs = match arrivals {
            None => *self.jobs.get_or_insert(8),
            Some(_) => 1,
        };
        let incast = Incast {
            hosts,
            jobs,
            arrivals,
            servers: self.servers,
            request: self.request.0,
            response: self.response.0,
        };
        Some((Pattern::Incast(incast), pairs))
    }

    fn own_size(&self) -> Option<OwnSize> {
        Some(OwnSize {
            size: Some(Size::Fixed(self.response.0)),
            why_no_other: "incast jobs have the sizes request and response; remove size",
        })
    }

    fn load_counts(&self) -> LoadCounts {
        self.load_counts
    }
}

fn eight() -> u32 {
    8
}
