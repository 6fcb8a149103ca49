//! `kernel check`: what this kernel has of what the controllers need, found by trying it.

use super::{cgroup, object, requirements};
use crate::Failure;
use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::{Func, Struct};
use libbpf_rs::{ObjectBuilder, ProgramType};
use std::fs;
use std::path::Path;

/// One thing that is there or not.
struct Probe {
    what: String,
    is_there: bool,
    /// Whether no controller can be loaded without it.
    is_needed: bool,
    /// What gets it.
    remedy: String,
}

/// Prints all of it, a line each.
///
/// # Errors
/// When something is missing without which no controller can be loaded.
pub fn print() -> Result<(), Failure> {
    let probes = all();
    for probe in &probes {
        let answer = if probe.is_there { "yes" } else { "no " };
        println!("{answer}  {}", probe.what);
        if !probe.is_there {
            println!("       {}", probe.remedy);
        }
    }
    let missing: Vec<&str> = probes
        .iter()
        .filter(|probe| probe.is_needed && !probe.is_there)
        .map(|probe| probe.what.as_str())
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(Failure::new(format!(
        "controllers cannot be loaded here: {}",
        missing.join("; ")
    )))
}

fn all() -> Vec<Probe> {
    super::libbpf::quiet_libbpf();
    let newer = newer_kernel(&fs::read_to_string("/etc/os-release").unwrap_or_default());
    let needed = |what: &str, is_there: bool, remedy: &str| Probe {
        what: what.to_owned(),
        is_there,
        is_needed: true,
        remedy: remedy.to_owned(),
    };
    let btf = Btf::from_vmlinux().ok();
    let has_struct = |name: &str| {
        btf.as_ref()
            .is_some_and(|btf| btf.type_by_name::<Struct<'_>>(name).is_some())
    };
    let has_function = |name: &str| {
        btf.as_ref()
            .is_some_and(|btf| btf.type_by_name::<Func<'_>>(name).is_some())
    };
    let rights = requirements::check_rights();
    let may = rights.is_ok();
    let mut probes = vec![
        needed(
            "the right to load programs into the kernel",
            may,
            "run it as root, or with CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN; what follows needs it as well",
        ),
        needed(
            "type information (BTF) of the kernel",
            btf.is_some(),
            &newer,
        ),
        needed(
            "MPTCP",
            Path::new("/proc/sys/net/mptcp/enabled").exists(),
            &newer,
        ),
        needed(
            "MPTCP switched on in this network namespace",
            fs::read_to_string("/proc/sys/net/mptcp/enabled").is_ok_and(|text| text.trim() != "0"),
            "sysctl net.mptcp.enabled=1",
        ),
        needed(
            "congestion controls in eBPF (struct_ops)",
            has_struct("bpf_struct_ops_tcp_congestion_ops"),
            &newer,
        ),
        needed(
            "links that keep them registered",
            has_struct("bpf_struct_ops_link"),
            &newer,
        ),
        needed(
            "loops over numbers in eBPF",
            has_function("bpf_iter_num_new"),
            &newer,
        ),
    ];
    for name in object::names() {
        let bytes = object::of(name).unwrap_or_default();
        probes.push(needed(
            &format!("the verifier takes {name}"),
            verifier_takes(bytes),
            &newer,
        ));
    }
    probes.push(needed(
        "the verifier takes the search for sockets that `status` and `unload` make",
        verifier_takes(object::SOCKETS),
        &newer,
    ));
    let optional = |what: &str, is_there: bool, remedy: &str| Probe {
        is_needed: false,
        ..needed(what, is_there, remedy)
    };
    probes.push(optional(
        "programs of control groups (for `kernel use --cgroup`)",
        ProgramType::SockOps.is_supported().unwrap_or(false) && verifier_takes(object::CGROUP),
        "use a kernel built with CONFIG_CGROUP_BPF=y",
    ));
    probes.push(optional(
        "control groups of version 2 (for `kernel use --cgroup`)",
        !cgroup::mounts().is_empty(),
        "mount -t cgroup2 none /sys/fs/cgroup",
    ));
    probes
}

/// Loads an object and lets it go again; nothing is registered.
fn verifier_takes(bytes: &[u8]) -> bool {
    let open = ObjectBuilder::default().open_memory(bytes);
    open.and_then(libbpf_rs::OpenObject::load).is_ok()
}

/// Where a newer kernel comes from, by the text of /etc/os-release.
fn newer_kernel(release: &str) -> String {
    let value = |key: &str| {
        let mut lines = release.lines();
        let value = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
        value.unwrap_or_default().trim_matches('"').to_owned()
    };
    match (value("ID").as_str(), value("VERSION_ID").as_str()) {
        ("debian", "12") => "install Debian's backported kernel: apt install -t bookworm-backports linux-image-amd64".to_owned(),
        _ => "use Linux 6.10 or newer with CONFIG_MPTCP, CONFIG_BPF_JIT and CONFIG_DEBUG_INFO_BTF; Debian 13, Ubuntu 24.10 and Fedora 41 have one".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::newer_kernel;

    #[test]
    fn debian_12_is_told_of_its_backported_kernel() {
        let old = newer_kernel("PRETTY_NAME=\"Debian\"\nVERSION_ID=\"12\"\nID=debian\n");
        assert!(
            old.contains("bookworm-backports linux-image-amd64"),
            "{old}"
        );
        for other in [
            "VERSION_ID=\"13\"\nID=debian\n",
            "ID=fedora\nVERSION_ID=12\n",
            "",
        ] {
            assert!(
                newer_kernel(other).contains("Linux 6.10 or newer"),
                "{other}"
            );
        }
    }
}
