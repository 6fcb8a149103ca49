//! From the tree to typed values through serde, with every mistake at its place.
//!
//! Unknown keys are collected, all of them; other mistakes end the reading of the value at hand.

mod error;
mod tagged;

pub(crate) use error::ReadError;
pub(crate) use tagged::tagged;

use crate::diagnostics::Problem;
use crate::suggest;
use crate::tree::{Node, Table, Value};
use error::What;
use serde::de::value::StrDeserializer;
use serde::de::{
    self, DeserializeSeed, Deserializer, EnumAccess, Expected, IntoDeserializer, MapAccess,
    SeqAccess, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use std::cell::RefCell;

/// Reads the value of a key. Gives `None` when it could not be read; `problems` then says why. Unknown keys are
/// reported and passed over.
pub(crate) fn read<'de, T: de::Deserialize<'de>>(
    key: &str,
    node: &'de Node,
    problems: &mut Vec<Problem>,
) -> Option<T> {
    read_beside(key, node, &[], problems)
}

/// As [`read`], for a table some of whose keys, `also`, were taken out to be read by themselves.
pub(crate) fn read_beside<'de, T: de::Deserialize<'de>>(
    key: &str,
    node: &'de Node,
    also: &'static [&'static str],
    problems: &mut Vec<Problem>,
) -> Option<T> {
    let collected = RefCell::new(Vec::new());
    let result = T::deserialize(Reader {
        node,
        also,
        problems: &collected,
    });
    problems.append(&mut collected.into_inner());
    match result {
        Ok(value) => Some(value),
        Err(error) => {
            problems.push(error.under(key).into_problem(node.place));
            None
        }
    }
}

/// The names of a struct's fields, as its `Deserialize` implementation knows them.
pub(crate) fn field_names<T: for<'de> de::Deserialize<'de>>() -> &'static [&'static str] {
    struct Names<'a>(&'a mut &'static [&'static str]);
    impl<'de> Deserializer<'de> for Names<'_> {
        type Error = ReadError;
        fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, ReadError> {
            Err(de::Error::custom("not a struct"))
        }
        fn deserialize_struct<V: Visitor<'de>>(
            self,
            _: &'static str,
            fields: &'static [&'static str],
            _: V,
        ) -> Result<V::Value, ReadError> {
            *self.0 = fields;
            Err(de::Error::custom("only the names were wanted"))
        }
        forward_to_deserialize_any! {
            bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
            option unit unit_struct newtype_struct seq tuple tuple_struct map enum identifier
            ignored_any
        }
    }
    let mut names: &'static [&'static str] = &[];
    let _ = T::deserialize(Names(&mut names));
    names
}

#[derive(Clone, Copy)]
struct Reader<'de, 'p> {
    node: &'de Node,
    /// Keys that are accepted beside those of the table's own type.
    also: &'static [&'static str],
    problems: &'p RefCell<Vec<Problem>>,
}

impl<'de> Reader<'de, '_> {
    fn wrong(&self, expected: &str) -> ReadError {
        ReadError::misplaced(self.node.describe(), expected).at(self.node.place)
    }
}

impl<'de, 'p> Deserializer<'de> for Reader<'de, 'p> {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        let Reader { node, problems, .. } = self;
        let result = match &node.value {
            Value::Text(text) => visitor.visit_str(text),
            Value::Integer(number) => visitor.visit_i64(*number),
            Value::Number(number) => visitor.visit_f64(*number),
            Value::Truth(truth) => visitor.visit_bool(*truth),
            Value::Date(_) => {
                let expected: &dyn Expected = &visitor;
                return Err(self.wrong(&expected.to_string()));
            }
            Value::List(list) => visitor.visit_seq(Elements {
                nodes: list.iter(),
                problems,
            }),
            Value::Table(table) => visitor.visit_map(Entries::new(table, None, problems)),
        };
        result.map_err(|error| error.at(node.place))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        let Value::Table(table) = &self.node.value else {
            return Err(self.wrong("a table"));
        };
        let entries = Entries::new(table, Some(fields), self.problems);
        visitor
            .visit_map(entries)
            .map_err(|error| error.at(self.node.place))
    }

    /// Plain enums are a text. Those whose name is a key are tables in which this key says which
    /// kind they are; see the macro `tagged`.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        let Reader {
            node,
            also,
            problems,
        } = self;
        let is_tag = name.starts_with(|c: char| c.is_ascii_lowercase());
        match &node.value {
            Value::Table(table) if is_tag => {
                let Some(tag) = table.get(name) else {
                    let message = What::Message(format!("\"{name}\" is missing"));
                    let help = format!("{name} is one of: {}", suggest::list(variants));
                    return Err(ReadError::new(message, Some(help)).at(node.place));
                };
                let Some(kind) = tag.as_text() else {
                    let reader = Reader {
                        node: tag,
                        also: &[],
                        problems,
                    };
                    let expected = format!("one of: {}", suggest::list(variants));
                    return Err(reader.wrong(&expected).under(name));
                };
                if !variants.contains(&kind) {
                    let error: ReadError = de::Error::unknown_variant(kind, variants);
                    return Err(error.at(tag.place).under(name));
                }
                let entries = Tagged {
                    kind,
                    tag: name,
                    node,
                    also,
                    problems,
                };
                visitor
                    .visit_enum(entries)
                    .map_err(|error| error.at(node.place))
            }
            Value::Text(text) if !is_tag => {
                let variant: StrDeserializer<'_, ReadError> = text.as_str().into_deserializer();
                visitor
                    .visit_enum(variant)
                    .map_err(|error| error.at(node.place))
            }
            _ if is_tag => self.deserialize_any(visitor),
            _ => Err(self.wrong(&format!("one of: {}", suggest::list(variants)))),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        unit unit_struct seq tuple tuple_struct map identifier ignored_any
    }
}

struct Elements<'de, 'p> {
    nodes: std::slice::Iter<'de, Node>,
    problems: &'p RefCell<Vec<Problem>>,
}

impl<'de> SeqAccess<'de> for Elements<'de, '_> {
    type Error = ReadError;
    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, ReadError> {
        let problems = self.problems;
        let Some(node) = self.nodes.next() else {
            return Ok(None);
        };
        let element = seed.deserialize(Reader {
            node,
            also: &[],
            problems,
        });
        element.map(Some).map_err(ReadError::in_list)
    }
}

/// Unknown keys that are reported of one table.
const UNKNOWN_SHOWN: usize = 10;

struct Entries<'de, 'p> {
    table: &'de Table,
    next: usize,
    fields: Option<&'static [&'static str]>,
    /// A key that was read already.
    tag: Option<&'static str>,
    also: &'static [&'static str],
    unknown: usize,
    problems: &'p RefCell<Vec<Problem>>,
}

impl<'de, 'p> Entries<'de, 'p> {
    fn new(
        table: &'de Table,
        fields: Option<&'static [&'static str]>,
        problems: &'p RefCell<Vec<Problem>>,
    ) -> Entries<'de, 'p> {
        Entries {
            table,
            next: 0,
            fields,
            tag: None,
            also: &[],
            unknown: 0,
            problems,
        }
    }
}

impl<'de> MapAccess<'de> for Entries<'de, '_> {
    type Error = ReadError;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, ReadError> {
        while let Some((key, _)) = self.table.entries.get(self.next) {
            self.next += 1;
            let name = key.name.as_str();
            if self.tag == Some(name) {
                continue;
            }
            if let Some(fields) = self.fields
                && !fields.contains(&name)
            {
                if self.unknown < UNKNOWN_SHOWN {
                    let known: Vec<&str> = self
                        .tag
                        .iter()
                        .chain(fields)
                        .chain(self.also)
                        .copied()
                        .collect();
                    let problem = Problem::new(key.place, format!("unknown key \"{name}\""))
                        .help(suggest::accepted(name, &known));
                    self.problems.borrow_mut().push(problem);
                }
                self.unknown += 1;
                continue;
            }
            let name: StrDeserializer<'_, ReadError> = name.into_deserializer();
            return seed
                .deserialize(name)
                .map(Some)
                .map_err(|error| error.at(key.place));
        }
        Ok(None)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, ReadError> {
        let (key, node) = &self.table.entries[self.next - 1];
        let value = seed.deserialize(Reader {
            node,
            also: &[],
            problems: self.problems,
        });
        value.map_err(|error| error.under(&key.name))
    }
}

struct Tagged<'de, 'p> {
    kind: &'de str,
    tag: &'static str,
    node: &'de Node,
    also: &'static [&'static str],
    problems: &'p RefCell<Vec<Problem>>,
}

impl<'de> EnumAccess<'de> for Tagged<'de, '_> {
    type Error = ReadError;
    type Variant = Self;
    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), ReadError> {
        let kind: StrDeserializer<'_, ReadError> = self.kind.into_deserializer();
        Ok((seed.deserialize(kind)?, self))
    }
}

impl<'de, 'p> VariantAccess<'de> for Tagged<'de, 'p> {
    type Error = ReadError;

    fn unit_variant(self) -> Result<(), ReadError> {
        Ok(())
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, ReadError> {
        seed.deserialize(Rest(self))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, ReadError> {
        Err(de::Error::custom(format!("{} is a table", self.kind)))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.tuple_variant(0, visitor)
    }
}

/// A tagged table without its tag.
struct Rest<'de, 'p>(Tagged<'de, 'p>);

impl<'de> Deserializer<'de> for Rest<'de, '_> {
    type Error = ReadError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.deserialize_struct("", &[], visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        let Tagged {
            tag,
            node,
            also,
            problems,
            ..
        } = self.0;
        let Value::Table(table) = &node.value else {
            return Err(Reader {
                node,
                also,
                problems,
            }
            .wrong("a table"));
        };
        let mut entries = Entries::new(table, Some(fields), problems);
        entries.tag = Some(tag);
        entries.also = also;
        visitor
            .visit_map(entries)
            .map_err(|error| error.at(node.place))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}
