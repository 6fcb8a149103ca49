//! `kernel status` says what the kernel has, not only what is pinned, and says so when it cannot know.

use super::hosts::Hosts;
use super::inventory::Inventory;
use super::lifecycle::request;
use super::program::{Ended, PROGRAM, kernel, shell};
use crate::this_machine;
use libbpf_rs::Link;
use pathweave_linux::kernel::{self as controllers, Users};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

const FOLDER: &str = "/sys/fs/bpf/pathweave/pw_xmp";
/// What the exit status is when what is loaded cannot be known.
const UNKNOWN: Option<i32> = Some(3);
/// Hides the pins, as other mount namespaces do.
const HIDDEN: [&str; 3] = [
    "mount -t tmpfs none",
    "mount -t bpf none",
    "mount -t ramfs none",
];

/// The only controller of `status --json`.
fn only(status: &Ended) -> Value {
    let all = status.json()["controllers"].clone();
    assert_eq!(all.as_array().map(Vec::len), Some(1), "{status:?}");
    all[0].clone()
}

fn load_xmp() {
    controllers::load(&request("xmp")).unwrap().pin().unwrap();
}

/// As the Python package calls the binary, and as an administrator does who has the binary alone.
#[test]
fn hints_name_the_command_that_was_typed() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    Inventory::before();
    for called in ["pathweave", "pathweave-linux"] {
        let run = |verb: &str| -> Ended {
            let mut command = Command::new(PROGRAM);
            let output = command.arg0(called).args(["kernel", verb]).output();
            output.expect("it was built").into()
        };
        let (status, usage) = (run("status"), run("load"));
        assert!(
            status
                .out
                .contains(&format!("; `{called} kernel load xmp` loads one")),
            "{status:?}"
        );
        let line = format!("Usage: {called} kernel load ");
        assert!(usage.said.contains(&line), "{usage:?}");
    }
}

#[test]
fn the_hint_where_pins_are_hidden_names_the_program_as_it_was_called() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    load_xmp();
    let folder = std::env::temp_dir().join(format!("pathweave-called-{}", std::process::id()));
    fs::create_dir(&folder).unwrap();
    for called in ["pathweave", "pathweave-linux"] {
        let program = folder.join(called);
        symlink(PROGRAM, &program).unwrap();
        let script = format!(
            "mount -t tmpfs none /sys/fs/bpf; exec {} kernel status",
            program.display()
        );
        let status = shell(&["unshare", "--mount"], &script);
        let line = format!("`nsenter --mount=/proc/1/ns/mnt {called} kernel status`");
        assert!(status.said.contains(&line), "{status:?}");
    }
    fs::remove_dir_all(&folder).unwrap();
    controllers::unload("pw_xmp", Users::Stay).unwrap();
    before.assert_is_again();
}

#[test]
fn nothing_loaded_is_known() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    Inventory::before();
    let status = kernel("status");
    assert_eq!(status.code, Some(0), "{status:?}");
    assert!(
        status.out.starts_with("no controller is loaded"),
        "{status:?}"
    );
    let status = kernel("status --json");
    let expected = json!({ "known": true, "problems": [], "controllers": [] });
    assert_eq!((status.code, status.json()), (Some(0), expected));
}

#[test]
fn pins_that_a_killed_loader_left_are_told_from_a_loaded_controller() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    load_xmp();
    let loaded = only(&kernel("status --json"));
    assert_eq!(loaded["state"], "loaded", "{loaded}");
    assert_eq!(loaded["registered"], true, "{loaded}");
    // As if it had been killed before it pinned the link.
    fs::remove_file(Path::new(FOLDER).join("link")).unwrap();
    let status = kernel("status");
    assert_eq!(status.code, Some(0), "{status:?}");
    assert!(
        status.out.starts_with("pw_xmp is not loaded: "),
        "{status:?}"
    );
    assert!(status.out.contains("kernel unload pw_xmp"), "{status:?}");
    let left = only(&kernel("status --json"));
    assert_eq!(left["state"], "left over", "{left}");
    assert_eq!(left["registered"], false, "{left}");
    controllers::unload("pw_xmp", Users::Stay).unwrap();
    before.assert_is_again();
}

#[test]
fn what_is_registered_and_has_maps_missing_is_half_loaded() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    load_xmp();
    fs::remove_file(Path::new(FOLDER).join("totals")).unwrap();
    let status = kernel("status");
    assert!(
        status.out.starts_with("pw_xmp is only half loaded"),
        "{status:?}"
    );
    let half = only(&kernel("status --json"));
    assert_eq!(half["state"], "incomplete", "{half}");
    assert_eq!(
        (status.code, &half["registered"]),
        (Some(0), &Value::Bool(true))
    );
    controllers::unload("pw_xmp", Users::Stay).unwrap();
    before.assert_is_again();
}

#[test]
fn what_a_process_has_registered_without_a_pin_is_named_with_the_process() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    let me = std::process::id();
    let loaded = controllers::load(&request("xmp")).unwrap();
    let held = |note: &str| {
        let status = kernel("status");
        assert_eq!(status.code, Some(0), "{status:?}");
        let begin = format!("pw_xmp is registered without a pin by process {me} (");
        assert!(status.out.starts_with(&begin), "{note}: {status:?}");
        let held = only(&kernel("status --json"));
        assert_eq!(held["state"], "unpinned", "{note}: {held}");
        assert_eq!(held["processes"][0]["pid"], me, "{note}: {held}");
    };
    held("nothing is pinned");
    let unload = kernel("unload xmp");
    assert_eq!(unload.code, Some(2), "{unload:?}");
    assert!(
        unload.said.contains(&format!("by process {me} (")),
        "{unload:?}"
    );
    drop(loaded);
    load_xmp();
    let link = Link::open(Path::new(FOLDER).join("link")).unwrap();
    fs::remove_file(Path::new(FOLDER).join("link")).unwrap();
    held("maps are pinned, the link is not");
    drop(link);
    controllers::unload("pw_xmp", Users::Stay).unwrap();
    before.assert_is_again();
}

#[test]
fn an_unload_names_the_process_that_holds_the_link() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    let me = std::process::id();
    load_xmp();
    let link = Link::open(Path::new(FOLDER).join("link")).unwrap();
    let unload = kernel("unload xmp --force --instead reno");
    assert_eq!(unload.code, Some(1), "{unload:?}");
    let holder = format!("pw_xmp is registered without a pin by process {me} (");
    assert!(unload.said.starts_with(&holder), "{unload:?}");
    assert!(
        unload.said.contains("\n  hint: end what holds it: "),
        "{unload:?}"
    );
    assert!(!unload.said.contains("socket"), "{unload:?}");
    let status = only(&kernel("status --json"));
    assert_eq!(status["state"], "unpinned", "{status}");
    drop(link);
    before.assert_is_again();
}

#[test]
fn an_unload_says_that_what_holds_the_link_cannot_be_seen() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    load_xmp();
    let link = Link::open(Path::new(FOLDER).join("link")).unwrap();
    let only_own_processes = ["unshare", "--pid", "--fork", "--mount-proc"];
    let unload = shell(&only_own_processes, "$P kernel unload xmp; exit $?");
    assert_eq!(unload.code, Some(1), "{unload:?}");
    let said = "pw_xmp has no pins any more and is still registered: a process or a pin that cannot be seen here holds its link\n";
    assert!(unload.said.starts_with(said), "{unload:?}");
    assert!(!Path::new(FOLDER).exists());
    drop(link);
    before.assert_is_again();
}

#[test]
fn a_link_that_was_detached_registers_nothing() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    load_xmp();
    let link = Link::open(Path::new(FOLDER).join("link")).unwrap();
    link.detach().unwrap();
    drop(link);
    let status = kernel("status");
    assert!(
        status.out.starts_with("pw_xmp is not loaded: "),
        "{status:?}"
    );
    let detached = only(&kernel("status --json"));
    assert_eq!(detached["state"], "detached", "{detached}");
    controllers::unload("pw_xmp", Users::Stay).unwrap();
    before.assert_is_again();
}

#[test]
fn hidden_pins_cannot_be_known() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    for hide in HIDDEN {
        // Nothing is registered, so nothing is loaded, wherever pins would be.
        let status = shell(
            &["unshare", "--mount"],
            &format!("{hide} /sys/fs/bpf; exec $P kernel status"),
        );
        assert_eq!(status.code, Some(0), "{hide}: {status:?}");
    }
    load_xmp();
    for hide in HIDDEN {
        let inside = |command: &str| {
            let script = format!("{hide} /sys/fs/bpf; exec $P kernel {command}");
            shell(&["unshare", "--mount"], &script)
        };
        let status = inside("status");
        assert_eq!(status.code, UNKNOWN, "{hide}: {status:?}");
        assert!(
            status.said.contains("pw_xmp is registered"),
            "{hide}: {status:?}"
        );
        assert!(status.said.contains("/sys/fs/bpf"), "{hide}: {status:?}");
        assert!(
            status.said.contains("hint: ") && status.said.contains("nsenter"),
            "{hide}: {status:?}"
        );
        let status = inside("status --json");
        assert_eq!(status.code, UNKNOWN, "{hide}: {status:?}");
        assert_eq!(status.json()["known"], false, "{hide}: {status:?}");
        assert_eq!(only(&status)["state"], "unknown", "{hide}: {status:?}");
        for other in ["unload xmp", "watch --count 1"] {
            let refused = inside(other);
            assert!(
                !matches!(refused.code, Some(0)),
                "{hide}: {other}: {refused:?}"
            );
            assert!(
                refused.said.contains("pw_xmp is registered"),
                "{hide}: {other}: {refused:?}"
            );
        }
    }
    assert_eq!(only(&kernel("status --json"))["state"], "loaded");
    controllers::unload("pw_xmp", Users::Stay).unwrap();
    before.assert_is_again();
}

/// The kernel's list of controls is below /proc/sys, which sandboxes hide.
#[test]
fn without_the_kernels_list_nothing_is_known_and_nothing_is_unloaded() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    let hidden = |command: &str| {
        let script = format!("mount -t tmpfs none /proc/sys; exec $P kernel {command}");
        shell(&["unshare", "--mount"], &script)
    };
    let list = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    for is_loaded in [false, true] {
        if is_loaded {
            load_xmp();
        }
        let status = hidden("status");
        assert_eq!(status.code, UNKNOWN, "{status:?}");
        assert_eq!(status.out, "", "{status:?}");
        assert_eq!(status.said.matches(list).count(), 1, "{status:?}");
        assert!(status.said.contains("\n  hint: "), "{status:?}");
        let status = hidden("status --json");
        assert_eq!(status.code, UNKNOWN, "{status:?}");
        assert_eq!(status.json()["known"], false, "{status:?}");
        if is_loaded {
            let xmp = only(&status);
            assert_eq!(
                (&xmp["state"], &xmp["registered"]),
                (&json!("unknown"), &Value::Null),
                "{status:?}"
            );
        }
        for command in [
            "unload xmp",
            "unload xmp --force --instead reno",
            "set xmp beta=5",
            "load xmp --set beta=5 --replace",
        ] {
            let refused = hidden(command);
            let is_refused = !matches!(refused.code, Some(0));
            assert!(
                is_refused && refused.said.contains(list),
                "{command}: {refused:?}"
            );
        }
    }
    assert_eq!(only(&kernel("status --json"))["state"], "loaded");
    controllers::unload("pw_xmp", Users::Stay).unwrap();
    before.assert_is_again();
}

#[test]
fn without_the_right_to_read_nothing_is_known() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    load_xmp();
    let nobody = [
        "setpriv",
        "--reuid=65534",
        "--regid=65534",
        "--clear-groups",
    ];
    let capabilities = "+bpf,+perfmon,+net_admin,+sys_admin";
    let (inheritable, ambient) = (
        format!("--inh-caps={capabilities}"),
        format!("--ambient-caps={capabilities}"),
    );
    let with_capabilities = [&nobody[..], &[&inheritable, &ambient]].concat();
    for (who, wanted) in [
        (&nobody[..], "CAP_BPF"),
        (&with_capabilities[..], "CAP_DAC_OVERRIDE"),
    ] {
        let status = shell(who, "exec $P kernel status");
        assert_eq!(status.code, UNKNOWN, "{status:?}");
        assert!(status.said.contains("pw_xmp is registered"), "{status:?}");
        assert!(status.said.contains(wanted), "{status:?}");
        let status = shell(who, "exec $P kernel status --json");
        assert_eq!(status.code, UNKNOWN, "{status:?}");
        assert_eq!(status.json()["known"], false, "{status:?}");
        assert!(
            status.json()["problems"][0].to_string().contains(wanted),
            "{status:?}"
        );
        assert_eq!(only(&status)["name"], "pw_xmp", "{status:?}");
    }
    controllers::unload("pw_xmp", Users::Stay).unwrap();
    before.assert_is_again();
}

#[test]
fn rows_their_capacity_and_connections_without_one_are_shown() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    let hosts = Hosts::new();
    let load = kernel("load xmp --connections 2");
    assert_eq!(load.code, Some(0), "{load:?}");
    let listener = hosts.listen("pw_xmp");
    // Both ends of the first take all the room; those of the second find none.
    let first = (hosts.connect("pw_xmp"), listener.accept().unwrap());
    let of = |status: &Value| {
        let rows = &status["rows"];
        (
            rows["used"].clone(),
            rows["capacity"].clone(),
            status["connections_without_row"].clone(),
        )
    };
    let full = only(&kernel("status --json"));
    assert_eq!(of(&full), (json!(2), json!(2), json!(0)), "{full}");
    let second = (hosts.connect("pw_xmp"), listener.accept().unwrap());
    let beyond = only(&kernel("status --json"));
    assert_eq!(of(&beyond), (json!(2), json!(2), json!(2)), "{beyond}");
    let status = kernel("status");
    assert!(status.out.contains("rows used: 2 of 2"), "{status:?}");
    assert!(
        status.out.contains("connections without a row: 2"),
        "{status:?}"
    );
    assert!(status.out.contains("--connections"), "{status:?}");
    drop((first, second, listener));
    controllers::unload("pw_xmp", Users::Get(None)).unwrap();
    drop(hosts);
    before.assert_is_again();
}

#[test]
fn json_has_what_the_text_has() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    let hosts = Hosts::new();
    let load = kernel("load xmp --set beta=6");
    assert_eq!(load.code, Some(0), "{load:?}");
    hosts.set(&hosts.client, "net/ipv4/tcp_congestion_control", "pw_xmp");
    let listener = hosts.listen("pw_xmp");
    let open = (hosts.connect("pw_xmp"), listener.accept().unwrap());
    let (text, status) = (kernel("status"), kernel("status --json"));
    assert_eq!(status.json()["known"], true, "{status:?}");
    let xmp = only(&status);
    assert_eq!(xmp["parameters"]["beta"], "6", "{xmp}");
    assert!(text.out.starts_with("pw_xmp  beta=6 "), "{text:?}");
    assert_eq!(xmp["rows"]["used"], 2, "{xmp}");
    assert!(xmp["subflows"].as_u64() >= Some(2), "{xmp}");
    assert_eq!(xmp["closed_namespaces"], 0, "{xmp}");
    assert_eq!(xmp["generation"], 1, "{xmp}");
    assert_eq!(xmp["sockets_with_older_program"], 0, "{xmp}");
    assert_eq!(xmp["replacement_unfinished"], false, "{xmp}");
    let since = xmp["since"].as_str().unwrap();
    assert!(since.starts_with("20") && since.ends_with('Z'), "{xmp}");
    let namespaces = xmp["network_namespaces"].as_array().unwrap();
    let of = |name: &str| namespaces.iter().find(|one| one["name"] == name).unwrap();
    assert_eq!(of(&hosts.client)["is_default"], true, "{xmp}");
    assert_eq!(of(&hosts.server)["is_default"], false, "{xmp}");
    let sockets = of(&hosts.server)["sockets"].as_array().unwrap();
    let listening = sockets
        .iter()
        .find(|socket| socket["listens"] == true)
        .unwrap();
    assert_eq!(listening["local"], "0.0.0.0:5001", "{xmp}");
    let mut shown = 0;
    for socket in namespaces
        .iter()
        .flat_map(|one| one["sockets"].as_array().unwrap())
    {
        let local = socket["local"].as_str().unwrap();
        assert!(text.out.contains(local), "{local}: {text:?}");
        shown += 1;
    }
    assert!(shown >= 3, "{xmp}");
    let replaced = kernel("load xmp --set beta=5 --replace");
    assert_eq!(replaced.code, Some(0), "{replaced:?}");
    let xmp = only(&kernel("status --json"));
    assert_eq!(xmp["state"], "loaded", "{xmp}");
    assert_eq!(xmp["generation"], 2, "{xmp}");
    let older = xmp["sockets_with_older_program"].as_u64().unwrap();
    assert!(older >= 2, "both ends keep the first program: {xmp}");
    let text = kernel("status");
    let line = format!(
        "replaced {}; {older} sockets keep the program",
        xmp["since"].as_str().unwrap()
    );
    assert!(text.out.contains(&line), "{line}: {text:?}");
    drop((open, listener));
    controllers::unload("pw_xmp", Users::Get(None)).unwrap();
    drop(hosts);
    before.assert_is_again();
}
