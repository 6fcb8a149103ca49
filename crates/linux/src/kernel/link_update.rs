//! Putting another controller behind the link that keeps a name registered.
//!
//! libbpf's bpf_link__update_map() is only for links that the same process has attached: of one that was opened from its
//! pin it would read more than there is. So the map's value is put together here, by the running kernel's types.

use libbpf_rs::btf::types::{MemberAttr, Struct};
use libbpf_rs::btf::{Btf, BtfType};
use libbpf_rs::{Link, MapCore, MapFlags, MapHandle, Object};
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// Of linux/bpf.h: the link must still have the old one.
const BPF_F_REPLACE: u32 = 1 << 2;

/// What is to be registered: programs named `pathweave_` and the hook, and what is no program.
pub struct Control<'a> {
    pub object: &'a Object,
    pub name: &'a str,
    pub flags: u32,
}

/// Registers it in place of what the link has, which must be `old`. Who chooses the name from then on gets the new one.
///
/// # Errors
/// What the kernel says; EPERM when the link has another one by now.
pub fn update(
    link: &Link,
    new: &MapHandle,
    old: &MapHandle,
    control: &Control<'_>,
) -> io::Result<()> {
    new.update(&0_u32.to_ne_bytes(), &value(control)?, MapFlags::ANY)
        .map_err(io::Error::other)?;
    let options = libbpf_sys::bpf_link_update_opts {
        sz: size_of::<libbpf_sys::bpf_link_update_opts>() as libbpf_sys::size_t,
        flags: BPF_F_REPLACE,
        old_map_fd: old.as_fd().as_raw_fd() as u32,
        ..Default::default()
    };
    // SAFETY: the three descriptors are open, and the options live across the call.
    let done = unsafe {
        libbpf_sys::bpf_link_update(
            link.as_fd().as_raw_fd(),
            new.as_fd().as_raw_fd(),
            &raw const options,
        )
    };
    match done {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(-error)),
    }
}

/// `struct bpf_struct_ops_tcp_congestion_ops`, with the programs' descriptors where it has its hooks.
fn value(control: &Control<'_>) -> io::Result<Vec<u8>> {
    let unknown =
        |what: &str| io::Error::other(format!("the kernel's type information has no {what}"));
    let kernel = Btf::from_vmlinux().map_err(io::Error::other)?;
    let whole: Struct<'_> = kernel
        .type_by_name("bpf_struct_ops_tcp_congestion_ops")
        .ok_or_else(|| unknown("bpf_struct_ops_tcp_congestion_ops"))?;
    let (data, begin) = member(&kernel, &whole, "data").ok_or_else(|| unknown("data"))?;
    let data = Struct::try_from(data).map_err(|_| unknown("tcp_congestion_ops"))?;
    let mut value = vec![0; libbpf_rs::btf::HasSize::size(&whole)];
    let mut put = |name: &str, bytes: &[u8]| {
        let (_, at) = member(&kernel, &data, name).ok_or_else(|| unknown(name))?;
        value[begin + at..][..bytes.len()].copy_from_slice(bytes);
        Ok::<(), io::Error>(())
    };
    put("name", control.name.as_bytes())?;
    put("flags", &control.flags.to_ne_bytes())?;
    for program in control.object.progs() {
        let name = program.name().to_string_lossy();
        let hook = name.strip_prefix("pathweave_").unwrap_or(&name);
        put(hook, &(program.as_fd().as_raw_fd() as u64).to_ne_bytes())?;
    }
    Ok(value)
}

/// A member's type, and its place in bytes.
fn member<'a>(kernel: &'a Btf<'_>, of: &'a Struct<'_>, name: &str) -> Option<(BtfType<'a>, usize)> {
    let found = of
        .iter()
        .find(|member| member.name == Some(OsStr::new(name)))?;
    let MemberAttr::Normal { offset } = found.attr else {
        return None;
    };
    let this: BtfType<'_> = kernel.type_by_id(found.ty)?;
    Some((this.skip_mods_and_typedefs(), offset as usize / 8))
}
