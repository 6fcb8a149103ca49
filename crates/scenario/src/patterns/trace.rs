//! Recorded flows.

use super::recording::{SIZES_OF_ITS_OWN, located, recording};
use super::resolving::{InGroup, OwnSize, ResolvePattern};
use crate::resolve::Pairs;
use pathweave_traffic::Pattern;
use pathweave_traffic::patterns::Trace;
use pathweave_traffic::recordings::flow_list;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TraceTable {
    /// A file of comma-separated values, or a Parquet file (its name ends with ".parquet"), relative to the scenario's
    /// folder. Columns: start, source, destination, bytes and, if wanted, id and after. Or a list of flows of HPCC. Give this, or
    /// the next.
    #[serde(skip_serializing)]
    pub file: Option<String>,
    /// The flows themselves: lines of comma-separated values, the first one with the names of the columns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

impl ResolvePattern for TraceTable {
    /// The list is written into the table as it was understood.
    fn resolve(&mut self, group: &mut InGroup<'_, '_>) -> Option<(Pattern, Pairs)> {
        let (file, content) = (self.file.as_deref(), self.content.as_deref());
        let found = recording(file, content, group)?;
        let hosts = group.scene.fabric.hosts.len() as u32;
        let host = |text: &str| {
            let number = text.parse().ok().filter(|&number: &u32| number < hosts);
            match (group.scene.names.host(text), number) {
                (Ok(host), _) => Ok(host),
                (Err(_), Some(number)) => Ok(number),
                (Err(text), None) => Err(text),
            }
        };
        let read = flow_list::parse(&found.text, host).and_then(|rows| {
            let graph = flow_list::graph(&rows)?;
            let name = |host: u32| group.scene.fabric.host(host).name.as_str();
            Ok((flow_list::written(&rows, name), graph))
        });
        match read {
            Ok((written, graph)) => {
                *self = TraceTable {
                    file: None,
                    content: Some(written),
                };
                let trace = Trace {
                    graph: Arc::new(graph),
                };
                let (sources, destinations) = trace.hosts();
                let pairs = group.pairs(Some(&sources), Some(&destinations));
                Some((Pattern::Trace(trace), pairs))
            }
            Err(error) => {
                group.wrong_value(found.key, located(&found.called, &error));
                None
            }
        }
    }

    fn own_size(&self) -> Option<OwnSize> {
        Some(OwnSize {
            size: None,
            why_no_other: SIZES_OF_ITS_OWN,
        })
    }
}
