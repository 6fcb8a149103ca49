//! The table of switches' shared memory.

use crate::table::{Column, Table};
use pathweave_fabric::Fabric;
use pathweave_network::SharedBuffer;
use std::rc::Rc;

pub(crate) fn buffers(fabric: &Fabric, buffers: &[Option<Rc<SharedBuffer>>]) -> Table {
    let nodes = fabric.nodes.iter().zip(buffers);
    let (names, shared): (Vec<String>, Vec<&SharedBuffer>) = nodes
        .filter_map(|(node, buffer)| Some((node.name.clone(), buffer.as_deref()?)))
        .unzip();
    let integers = |of: &dyn Fn(&SharedBuffer) -> u64| {
        Column::Integers(shared.iter().map(|b| of(b)).collect())
    };
    let columns = vec![
        ("switch", Column::texts(names.into_iter())),
        ("most_bytes", integers(&|buffer| buffer.most().get())),
        ("refused", integers(&SharedBuffer::refused)),
    ];
    Table {
        name: "buffers",
        columns,
    }
}
