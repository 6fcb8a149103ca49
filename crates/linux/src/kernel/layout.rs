//! How a program lays its maps out: whether it can go on with those of another one.

use super::fingerprint;
use crate::Failure;
use libbpf_rs::btf::types::{Array, Composite, Enum, Int, MemberAttr, Struct};
use libbpf_rs::btf::{Btf, BtfKind, BtfType};
use std::ffi::OsStr;
use std::fmt::Write as _;

/// The types of the maps' values.
const VALUES: [&str; 2] = ["connection", "history"];

/// A number for the types that an object's maps hold, and for LAYOUT of bpf/hooks.h: what members mean.
///
/// # Errors
/// When the object has no type information.
pub fn of(object: &[u8], meaning: u64) -> Result<u64, Failure> {
    let unknown = || Failure::new("the object does not say how its maps are laid out");
    let btf = Btf::from_raw("pathweave", object)
        .ok()
        .flatten()
        .ok_or_else(unknown)?;
    let mut text = format!("{meaning}");
    for value in VALUES {
        let found = btf
            .type_by_kind::<Struct<'_>>()
            .find(|known| known.name() == Some(OsStr::new(value)))
            .ok_or_else(unknown)?;
        describe(&btf, *found, &mut text);
    }
    Ok(fingerprint::of(text.as_bytes()))
}

/// Names, places and sizes of all that lies in a type.
fn describe(btf: &Btf<'_>, of: BtfType<'_>, text: &mut String) {
    let this = of.skip_mods_and_typedefs();
    let _ = write!(text, " {:?}", this.kind());
    match this.kind() {
        BtfKind::Struct | BtfKind::Union => {
            let Ok(all) = Composite::try_from(this) else {
                return;
            };
            text.push('{');
            for member in all.iter() {
                let (size, offset) = match member.attr {
                    MemberAttr::Normal { offset } => (0, offset),
                    MemberAttr::BitField { size, offset } => (size, offset),
                };
                let _ = write!(text, " {:?}@{offset}:{size}", member.name);
                if let Some(inner) = btf.type_by_id::<BtfType<'_>>(member.ty) {
                    describe(btf, inner, text);
                }
            }
            text.push('}');
        }
        BtfKind::Array => {
            if let Ok(array) = Array::try_from(this) {
                let _ = write!(text, "[{}]", array.capacity());
                describe(btf, array.contained_type(), text);
            }
        }
        BtfKind::Int => {
            if let Ok(int) = Int::try_from(this) {
                let _ = write!(text, " {} {:?}", int.bits, int.encoding);
            }
        }
        BtfKind::Enum => {
            if let Ok(choices) = Enum::try_from(this) {
                for choice in choices.iter() {
                    let _ = write!(text, " {:?}", choice.name);
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use crate::kernel::object;

    #[test]
    fn layouts_differ_where_types_or_their_meaning_do() {
        let of = |name: &str, meaning| super::of(object::of(name).unwrap(), meaning).unwrap();
        // Both are pooled.h.
        assert_eq!(of("eutcp", 1), of("semicoupled", 1));
        assert_ne!(of("eutcp", 1), of("eutcp", 2));
        assert_ne!(of("eutcp", 1), of("xmp", 1));
    }
}
