//! Usual sizes of requests and answers.

use crate::text::BytesText;
use pathweave_units::Bytes;

pub(super) fn request() -> BytesText {
    BytesText(Bytes::new(2_000))
}

pub(super) fn response() -> BytesText {
    BytesText(Bytes::new(64_000))
}
