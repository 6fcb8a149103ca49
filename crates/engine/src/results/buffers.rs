//! The table of switches' shared memory.

use crate::table::{Column, Table};
use pathweave_fabric::Fabric;
use pathweave_network::SharedBuffer;

/// `shared` gives the memory of each switch that has one, by its number.
pub(crate) fn buffers<'a>(
    fabric: &Fabric,
    shared: impl Fn(u32) -> Option<&'a SharedBuffer>,
) -> Table {
    let nodes = (0u32..).zip(&fabric.nodes);
    let (names, shared): (Vec<&str>, Vec<&SharedBuffer>) = nodes
        .filter_map(|(number, node)| Some((node.name.as_str(), shared(number)?)))
        .unzip();
    let integers = |of: &dyn Fn(&SharedBuffer) -> u64| {
        Column::Integers(shared.iter().map(|b| of(b)).collect())
    };
    let columns = vec![
        ("switch", Column::texts(names.into_iter().collect())),
        ("most_bytes", integers(&|buffer| buffer.most().get())),
        ("refused", integers(&SharedBuffer::refused)),
    ];
    Table {
        name: "buffers",
        columns,
    }
}
