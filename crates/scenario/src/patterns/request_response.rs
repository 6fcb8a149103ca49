//! Clients that ask a server, wait for its answer, and ask again.

use super::hosts::{HostsText, all};
use super::resolving::{InGroup, OwnSize, ResolvePattern};
use super::sizes::{request, response};
use crate::resolve::Pairs;
use crate::text::{BytesText, TimeRangeText};
use pathweave_traffic::patterns::RequestResponse;
use pathweave_traffic::{Pattern, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RequestResponseTable {
    /// The hosts that ask. Default all.
    #[serde(default = "all")]
    pub clients: HostsText,
    /// The hosts that may be asked. Default all.
    #[serde(default = "all")]
    pub servers: HostsText,
    /// Exchanges that a client has under way or thinks about.
    #[serde(default = "one")]
    pub outstanding: u32,
    /// Size of a request.
    #[serde(default = "request")]
    pub request: BytesText,
    /// Size of an answer.
    #[serde(default = "response")]
    pub response: BytesText,
    /// How long a server takes from the end of a request to the start of its answer: a time, or a range from which it is drawn.
    #[serde(default)]
    pub service_time: TimeRangeText,
    /// How long a client waits from the end of an answer to its next request: a time, or a range from which it is drawn.
    #[serde(default)]
    pub think_time: TimeRangeText,
    /// Number of exchanges of all clients together. Default: without end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
}

impl ResolvePattern for RequestResponseTable {
    fn resolve(&mut self, group: &mut InGroup<'_, '_>) -> Option<(Pattern, Pairs)> {
        let clients = group.hosts("clients", &self.clients);
        let servers = group.hosts("servers", &self.servers);
        let pairs = group.pairs(clients.as_ref(), servers.as_ref());
        let range = |text: TimeRangeText| text.0.0..=text.0.1;
        let exchanges = RequestResponse {
            clients,
            servers,
            outstanding: self.outstanding,
            request: self.request.0,
            response: self.response.0,
            service_time: range(self.service_time),
            think_time: range(self.think_time),
            count: self.count,
        };
        Some((Pattern::RequestResponse(exchanges), pairs))
    }

    fn own_size(&self) -> Option<OwnSize> {
        Some(OwnSize {
            size: Some(Size::Fixed(self.response.0)),
            why_no_other: "exchanges have the sizes request and response; remove size",
        })
    }
}

fn one() -> u32 {
    1
}
