//! What the machine needs before a controller can be loaded, and how to get what is missing.

use crate::Failure;
use crate::own_command::own_command;
use libbpf_rs::{ErrorKind, btf::Btf};
use std::fs;
use std::path::Path;

const CAP_NET_ADMIN: u32 = 12;
const CAP_SYS_ADMIN: u32 = 21;
const CAP_PERFMON: u32 = 38;
const CAP_BPF: u32 = 39;

/// Checks all of it.
///
/// # Errors
/// What is missing first.
pub fn check() -> Result<(), Failure> {
    check_rights()?;
    if !Path::new("/sys/kernel/btf/vmlinux").exists() {
        return Err(Failure::refused(
            "the kernel has no type information (BTF): /sys/kernel/btf/vmlinux is not there",
        )
        .hint("use a kernel built with CONFIG_DEBUG_INFO_BTF=y; those of Debian, Ubuntu and Fedora are"));
    }
    if !Path::new("/proc/sys/net/mptcp/enabled").exists() {
        return Err(
            Failure::refused("the kernel has no MPTCP: /proc/sys/net/mptcp is not there").hint(
                "use a kernel built with CONFIG_MPTCP=y; those of Debian, Ubuntu and Fedora are",
            ),
        );
    }
    if fs::read_to_string("/proc/sys/net/mptcp/enabled").is_ok_and(|text| text.trim() == "0") {
        return Err(
            Failure::refused("MPTCP is switched off in this network namespace")
                .hint("sysctl net.mptcp.enabled=1"),
        );
    }
    let Ok(kernel) = Btf::from_vmlinux() else {
        return Err(Failure::refused(
            "the kernel's type information cannot be read",
        ));
    };
    if kernel
        .type_by_name::<libbpf_rs::btf::types::Struct<'_>>("bpf_struct_ops_tcp_congestion_ops")
        .is_none()
    {
        return Err(Failure::refused(
            "the kernel takes no congestion control from eBPF (struct_ops)",
        )
        .hint("use Linux 6.10 or newer, with CONFIG_BPF_JIT=y"));
    }
    check_release(&rustix::system::uname().release().to_string_lossy())
}

/// The first kernel whose `cong_control` may be eBPF with all that it is told.
const OLDEST: (u32, u32) = (6, 10);

/// Whether a release such as 6.18.44-amd64 is new enough.
fn check_release(release: &str) -> Result<(), Failure> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit());
    let mut next = || numbers.next().and_then(|number| number.parse::<u32>().ok());
    match (next(), next()) {
        (Some(major), Some(minor)) if (major, minor) < OLDEST => Err(Failure::refused(format!(
            "the kernel is {release}, and Linux 6.10 or newer is needed"
        ))
        .hint("before, cong_control had other arguments")),
        _ => Ok(()),
    }
}

/// Checks that this process may do it at all.
///
/// # Errors
/// Which capability is missing.
pub fn check_rights() -> Result<(), Failure> {
    check_capabilities(&fs::read_to_string("/proc/self/status").unwrap_or_default())
}

/// Whether the capabilities that the text of /proc/self/status shows are enough.
fn check_capabilities(status: &str) -> Result<(), Failure> {
    let effective = status
        .lines()
        .find_map(|line| line.strip_prefix("CapEff:"))
        .and_then(|text| u64::from_str_radix(text.trim(), 16).ok())
        .unwrap_or(0);
    let has = |capability: u32| effective & (1 << capability) != 0;
    let missing: Vec<&str> = [
        (has(CAP_BPF) || has(CAP_SYS_ADMIN), "CAP_BPF"),
        (has(CAP_PERFMON) || has(CAP_SYS_ADMIN), "CAP_PERFMON"),
        (has(CAP_NET_ADMIN), "CAP_NET_ADMIN"),
    ]
    .into_iter()
    .filter_map(|(there, name)| (!there).then_some(name))
    .collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(Failure::refused(format!(
        "the right is missing to do this: {}",
        missing.join(", ")
    ))
    .hint("run it as root, for example with sudo"))
}

/// What may help after an error of the kernel.
pub fn hint_for(error: &libbpf_rs::Error) -> String {
    match error.kind() {
        ErrorKind::PermissionDenied => "run it as root, for example with sudo".to_owned(),
        ErrorKind::AlreadyExists => format!(
            "a congestion control of this name is registered: {} shows those that were loaded, and a testbed that is running has its own until it ends",
            own_command("kernel status")
        ),
        _ => {
            "Linux 6.10 or newer is needed; with PATHWEAVE_LIBBPF=1 the kernel's reasons are shown"
                .to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{check_capabilities, check_release};

    #[test]
    fn an_old_kernel_is_refused() {
        for release in ["6.10.0", "6.18.44-amd64", "7.0-rc1", "somebody's own"] {
            assert!(check_release(release).is_ok(), "{release}");
        }
        for release in ["6.9.12-generic", "5.15.0", "4.19"] {
            let failure = check_release(release).unwrap_err().to_string();
            assert!(
                failure.contains(&format!("the kernel is {release}, ")),
                "{failure}"
            );
        }
    }

    #[test]
    fn missing_capabilities_are_named() {
        let status = |set: u64| format!("Name:\tx\nCapEff:\t{set:016x}\nNoNewPrivs:\t0\n");
        assert!(check_capabilities(&status(0x1ff_ffff_ffff)).is_ok());
        assert!(check_capabilities(&status(1 << 39 | 1 << 38 | 1 << 12)).is_ok());
        assert!(check_capabilities(&status(1 << 21 | 1 << 12)).is_ok());
        for (set, missing) in [
            (0, "CAP_BPF, CAP_PERFMON, CAP_NET_ADMIN"),
            (1 << 12, "CAP_BPF, CAP_PERFMON"),
            (1 << 39 | 1 << 38, "CAP_NET_ADMIN"),
        ] {
            let failure = check_capabilities(&status(set)).unwrap_err().to_string();
            assert!(
                failure.contains(&format!("to do this: {missing}\n")),
                "{failure}"
            );
        }
    }
}
