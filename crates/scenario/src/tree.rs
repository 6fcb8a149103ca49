//! A scenario's text as a tree in which every key and value knows where it was written.
//!
//! Sizes, variants and the command line change values in this tree; each value keeps its own place,
//! so that a mistake in an override is shown where the override stands.

/// Which text something was written in, an index into the sources of a scenario.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SourceId(pub usize);

/// A range of bytes in one of a scenario's texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Place {
    pub source: SourceId,
    pub start: usize,
    pub end: usize,
}

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub place: Place,
    pub value: Value,
}

#[derive(Clone, Debug)]
pub(crate) enum Value {
    Text(String),
    Integer(i64),
    Number(f64),
    Truth(bool),
    Date(String),
    List(Vec<Node>),
    Table(Table),
}

/// A table in the order of its keys in the text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    pub entries: Vec<(Key, Node)>,
    /// Whether it came about through keys with dots. Used as an override, such a table reaches into
    /// what it overrides; one that is written out replaces it.
    pub dotted: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub name: String,
    pub place: Place,
}

impl Table {
    pub fn get(&self, name: &str) -> Option<&Node> {
        Some(&self.entry(name)?.1)
    }

    pub fn entry(&self, name: &str) -> Option<&(Key, Node)> {
        self.entries.iter().find(|(key, _)| key.name == name)
    }

    pub fn take(&mut self, name: &str) -> Option<(Key, Node)> {
        let index = self.entries.iter().position(|(key, _)| key.name == name)?;
        Some(self.entries.remove(index))
    }

    /// Sets a key, in the place of an earlier one of this name or at the end.
    pub fn set(&mut self, key: Key, node: Node) {
        match self
            .entries
            .iter_mut()
            .find(|(known, _)| known.name == key.name)
        {
            Some(entry) => *entry = (key, node),
            None => self.entries.push((key, node)),
        }
    }

    /// How many values are in it.
    pub fn count(&self) -> u64 {
        self.entries.iter().map(|(_, node)| node.count()).sum()
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|(key, _)| key.name.as_str())
    }
}

impl Node {
    /// How many values it consists of.
    pub fn count(&self) -> u64 {
        match &self.value {
            Value::List(list) => 1 + list.iter().map(Node::count).sum::<u64>(),
            Value::Table(table) => 1 + table.count(),
            _ => 1,
        }
    }

    pub fn as_table(&self) -> Option<&Table> {
        match &self.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    pub fn as_text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// What it is, to follow "cannot be".
    pub fn describe(&self) -> String {
        match &self.value {
            Value::Text(text) => format!("\"{text}\""),
            Value::Integer(number) => number.to_string(),
            Value::Number(number) => number.to_string(),
            Value::Truth(truth) => truth.to_string(),
            Value::Date(date) => format!("the date {date}"),
            Value::List(_) => "a list".to_owned(),
            Value::Table(_) => "a table".to_owned(),
        }
    }

    /// The same as JSON, as it was written; a number that JSON does not have is its text.
    pub fn json(&self) -> serde_json::Value {
        match &self.value {
            Value::Text(text) | Value::Date(text) => text.as_str().into(),
            Value::Integer(number) => (*number).into(),
            Value::Number(number) => serde_json::Number::from_f64(*number)
                .map_or_else(|| number.to_string().into(), Into::into),
            Value::Truth(truth) => (*truth).into(),
            Value::List(list) => list.iter().map(Node::json).collect(),
            Value::Table(table) => table
                .entries
                .iter()
                .map(|(key, node)| (key.name.clone(), node.json()))
                .collect(),
        }
    }

    /// The value of a key of a table, or of an index of a list.
    pub fn child(&self, step: &str) -> Option<&Node> {
        match &self.value {
            Value::Table(table) => table.get(step),
            Value::List(list) => list.get(step.parse::<usize>().ok()?),
            _ => None,
        }
    }

    /// The place of the value at the end of these steps, or of the nearest one around it that was
    /// written: what is left out has no place of its own.
    pub fn place_of(&self, steps: &[&str]) -> Place {
        let mut node = self;
        for step in steps {
            match node.child(step) {
                Some(child) => node = child,
                None => break,
            }
        }
        node.place
    }

    /// The place of the key at the end of these steps, if it was written.
    pub fn key_place(&self, steps: &[&str]) -> Option<Place> {
        let (last, before) = steps.split_last()?;
        let mut node = self;
        for step in before {
            node = node.child(step)?;
        }
        Some(node.as_table()?.entry(last)?.0.place)
    }
}

/// The position in a list of the element with this `name`, or with this index.
pub(crate) fn position(list: &[Node], step: &str) -> Option<usize> {
    let named = |node: &Node| {
        let name = node.as_table().and_then(|table| table.get("name"));
        name.and_then(Node::as_text) == Some(step)
    };
    let by_index = || step.parse().ok().filter(|&index| index < list.len());
    list.iter().position(named).or_else(by_index)
}
