//! Tables that say by one of their keys which kind they are.

/// Defines an enum of tables that are told apart by one of their keys. Written out it has the same
/// shape, and its JSON Schema says so.
///
/// serde's own tagged enums would lose the places of all values inside.
macro_rules! tagged {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident by $tag:literal $(, text $from_text:path, $what:literal)? {
            $($(#[$variant_meta:meta])* $key:literal => $variant:ident($content:ty),)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
        #[serde(tag = $tag)]
        $vis enum $name {
            $($(#[$variant_meta])* #[serde(rename = $key)] $variant($content),)+
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(reader: D) -> Result<$name, D::Error> {
                use serde::de::{EnumAccess, Error, VariantAccess, Visitor};
                const KINDS: &[&str] = &[$($key),+];
                struct Kinds;
                impl<'de> Visitor<'de> for Kinds {
                    type Value = $name;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        $(if true { return f.write_str($what); })?
                        #[allow(unreachable_code)]
                        f.write_str(concat!("a table with the key ", $tag))
                    }
                    $(
                        fn visit_str<E: Error>(self, text: &str) -> Result<$name, E> {
                            $from_text(text).map_err(E::custom)
                        }
                    )?
                    fn visit_enum<A: EnumAccess<'de>>(self, access: A) -> Result<$name, A::Error> {
                        let (kind, content) = access.variant::<String>()?;
                        match kind.as_str() {
                            $($key => content.newtype_variant().map($name::$variant),)+
                            _ => Err(A::Error::unknown_variant(&kind, KINDS)),
                        }
                    }
                }
                reader.deserialize_enum($tag, KINDS, Kinds)
            }
        }
    };
}
pub(crate) use tagged;
