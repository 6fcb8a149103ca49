//! The table of switches' shared memory.

use crate::record::Buffer;
use crate::table::{Column, Table};
use pathweave_fabric::{Fabric, NodeId};

pub(super) fn buffers(fabric: &Fabric, buffers: &[Buffer]) -> Table {
    let names = buffers
        .iter()
        .map(|buffer| &fabric.node(NodeId(buffer.node)).name);
    let integers = |of: fn(&Buffer) -> u64| Column::Integers(buffers.iter().map(of).collect());
    let columns = vec![
        ("switch", Column::texts(names.collect())),
        ("most_bytes", integers(|buffer| buffer.most.get())),
        ("refused", integers(|buffer| buffer.refused)),
    ];
    Table {
        name: "buffers",
        columns,
    }
}
