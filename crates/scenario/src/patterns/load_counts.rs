//! What a load counts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a load counts.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LoadCounts {
    /// The sizes of the flows.
    #[default]
    Payload,
    /// What full data packets and their ACKs take on the wire.
    Wire,
}

impl LoadCounts {
    pub fn is_payload(&self) -> bool {
        *self == LoadCounts::Payload
    }
}
