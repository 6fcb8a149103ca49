//! What links are called.

use crate::{Fabric, LinkId};
use std::collections::HashMap;

/// The names of a fabric's links. Cables between the same two nodes are numbered in the order in which they were added, and the
/// second and later ones have their number in the name: "A->B", "A->B#2", "A->B#3".
#[derive(Clone, Debug)]
pub struct LinkNames<'a> {
    fabric: &'a Fabric,
    /// The number of each link's cable among those that join its two nodes, from 1.
    numbers: Vec<u32>,
}

impl<'a> LinkNames<'a> {
    /// Numbers the cables.
    pub fn new(fabric: &'a Fabric) -> LinkNames<'a> {
        let mut counts: HashMap<_, u32> = HashMap::new();
        let mut numbers = Vec::with_capacity(fabric.links.len());
        for cable in fabric.links.chunks(2) {
            let ends = (cable[0].from, cable[0].to);
            let count = counts
                .entry((ends.0.min(ends.1), ends.0.max(ends.1)))
                .or_default();
            *count += 1;
            numbers.extend(cable.iter().map(|_| *count));
        }
        LinkNames { fabric, numbers }
    }

    /// The number of a link's cable among those that join its two nodes, from 1.
    pub fn number(&self, LinkId(link): LinkId) -> u32 {
        self.numbers[link as usize]
    }

    /// A link's name: "A->B", or "A->B#2".
    pub fn link(&self, id: LinkId) -> String {
        name(self.fabric, id, "->", self.number(id))
    }

    /// The name of both directions of a cable, of which `id` is one: "A-B", or "A-B#2".
    pub fn cable(&self, id: LinkId) -> String {
        name(self.fabric, id, "-", self.number(id))
    }

    /// The node at the end of a link as a step of a path: "B", or "B#2" if the second cable leads there.
    pub fn step(&self, id: LinkId) -> String {
        let to = &self.fabric.node(self.fabric.link(id).to).name;
        format!("{to}{}", suffix(self.number(id)))
    }
}

/// The name of a link whose cable has this number.
pub(crate) fn name(fabric: &Fabric, id: LinkId, joint: &str, number: u32) -> String {
    let link = fabric.link(id);
    let (from, to) = (&fabric.node(link.from).name, &fabric.node(link.to).name);
    format!("{from}{joint}{to}{}", suffix(number))
}

fn suffix(number: u32) -> String {
    match number {
        1 => String::new(),
        number => format!("#{number}"),
    }
}

/// Splits the number of a cable from a text: "A-B#2" into "A-B" and the number, and "A-B#*", which means all cables, into "A-B" and
/// [`Cables::All`]. What follows a "#" is part of the name if it is neither a number nor "*".
pub fn split_number(text: &str) -> (&str, Option<Cables>) {
    let Some((name, number)) = text.rsplit_once('#') else {
        return (text, None);
    };
    if number == "*" {
        return (name, Some(Cables::All));
    }
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    match number.parse() {
        Ok(number) if is_number => (name, Some(Cables::Number(number))),
        _ => (text, None),
    }
}

/// Which of the cables between two nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cables {
    /// The one of this number, from 1.
    Number(u32),
    /// All of them.
    All,
}

impl Fabric {
    /// A link's name in results: "from->to", or "from->to#2" if it is the second between the two nodes. Searches all links;
    /// [`LinkNames`] names many.
    pub fn link_name(&self, id: LinkId) -> String {
        let link = self.link(id);
        let place = self
            .links_between(link.from, link.to)
            .position(|other| other == id);
        name(self, id, "->", place.unwrap_or(0) as u32 + 1)
    }

    /// Names the links.
    pub fn link_names(&self) -> LinkNames<'_> {
        LinkNames::new(self)
    }
}
