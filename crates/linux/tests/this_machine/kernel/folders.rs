//! The folders of pins are root's alone: nobody can lay pins there for root to trust.

use super::inventory::Inventory;
use super::lifecycle::request;
use super::program::{kernel, shell};
use crate::this_machine;
use pathweave_linux::kernel::{self as controllers, Users};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

const PINS: &str = "/sys/fs/bpf/pathweave";
const CGROUPS: &str = "/sys/fs/bpf/pathweave_cgroups";

/// Goes with the test, whatever it is.
struct Planted(&'static str);

impl Planted {
    fn new(path: &'static str, made: &str) -> Planted {
        let planted = Planted(path);
        let done = shell(&[], &made.replace("PATH", path));
        assert_eq!(done.code, Some(0), "{done:?}");
        planted
    }
}

impl Drop for Planted {
    fn drop(&mut self) {
        let _ = fs::remove_file(self.0);
        let _ = fs::remove_dir(self.0);
    }
}

const PLANTED: [(&str, &str); 4] = [
    (
        "mkdir -m 755 PATH; chown 65534 PATH",
        "belongs to user 65534",
    ),
    (
        "mkdir -m 777 PATH; chmod 777 PATH",
        "can be written by others",
    ),
    (
        "mkdir -m 775 PATH; chmod 775 PATH",
        "can be written by others",
    ),
    ("ln -s /sys/fs/bpf PATH", "is a symbolic link"),
];

#[test]
fn what_others_have_planted_is_refused() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    for (made, said) in PLANTED {
        let planted = Planted::new(PINS, made);
        for command in [
            "load xmp",
            "unload xmp",
            "status",
            "status --json",
            "watch --count 1",
        ] {
            let refused = kernel(command);
            assert!(
                !matches!(refused.code, Some(0)),
                "{made}: {command}: {refused:?}"
            );
            let shown = format!("{}{}", refused.said, refused.out);
            assert!(
                shown.contains(&format!("{PINS} {said}")),
                "{made}: {command}: {refused:?}"
            );
        }
        drop(planted);
        let planted = Planted::new(CGROUPS, made);
        for command in ["use --list", "status"] {
            let refused = kernel(command);
            assert!(
                !matches!(refused.code, Some(0)),
                "{made}: {command}: {refused:?}"
            );
            let shown = format!("{CGROUPS} {said}");
            assert!(
                refused.said.contains(&shown),
                "{made}: {command}: {refused:?}"
            );
        }
        drop(planted);
    }
    before.assert_is_again();
}

#[test]
fn they_are_roots_whatever_the_umask() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    let loaded = shell(&[], "umask 0; exec $P kernel load xmp");
    assert_eq!(loaded.code, Some(0), "{loaded:?}");
    let about = fs::symlink_metadata(PINS).unwrap();
    assert_eq!(
        (about.uid(), about.permissions().mode() & 0o7777),
        (0, 0o755)
    );
    let about = fs::symlink_metadata(format!("{PINS}/pw_xmp")).unwrap();
    assert_eq!(
        (about.uid(), about.permissions().mode() & 0o7777),
        (0, 0o700)
    );
    controllers::unload("pw_xmp", Users::Stay).unwrap();
    before.assert_is_again();
}

#[test]
fn a_file_system_that_load_mounts_itself_is_roots() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    // Its first process shares its mounts, as it is on a machine that has just started.
    let started = [
        "unshare",
        "--mount",
        "--pid",
        "--fork",
        "--mount-proc",
        "--kill-child",
    ];
    let seen = shell(
        &started,
        "while umount /sys/fs/bpf 2>/dev/null; do :; done; $P kernel load xmp >/dev/null; stat -c '%a %u' /sys/fs/bpf; \
         stat -f -c %T /sys/fs/bpf; $P kernel status | head -n 1; $P kernel unload xmp",
    );
    assert_eq!(seen.code, Some(0), "{seen:?}");
    let lines: Vec<&str> = seen.out.lines().collect();
    // The kernel adds the sticky bit to any mode.
    assert_eq!(lines[0], "1755 0", "{seen:?}");
    assert_eq!(lines[1], "bpf_fs", "{seen:?}");
    assert!(lines[2].starts_with("pw_xmp  "), "{seen:?}");
    before.assert_is_again();
}

#[test]
fn where_mounts_cannot_be_compared_none_is_made() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    // Without these capabilities nobody may look at a process that has them.
    let seen = shell(
        &[
            "unshare",
            "--mount",
            "setpriv",
            "--bounding-set=-sys_ptrace,-sys_time",
        ],
        "mount -t tmpfs none /sys/fs/bpf; if readlink /proc/1/ns/mnt; then exit 9; fi; \
         if $P kernel load xmp; then exit 8; fi; stat -f -c %T /sys/fs/bpf",
    );
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert_eq!(
        seen.out, "tmpfs\n",
        "it says nothing else, and mounts nothing: {seen:?}"
    );
    let said = "there is no BPF file system at /sys/fs/bpf in this mount namespace";
    assert!(seen.said.contains(said), "{seen:?}");
    assert!(
        seen.said
            .contains("hint: load it outside of `ip netns exec`"),
        "{seen:?}"
    );
    before.assert_is_again();
}

#[test]
fn a_folder_that_is_theirs_holds_several_controllers() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    for name in ["xmp", "lia"] {
        controllers::load(&request(name)).unwrap().pin().unwrap();
    }
    for name in ["pw_xmp", "pw_lia"] {
        controllers::unload(name, Users::Stay).unwrap();
    }
    before.assert_is_again();
}
