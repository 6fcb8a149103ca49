//! A control group for the sockets of a test.

use super::program::PROGRAM;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;

/// A control group of version 2 in a mount of its own; goes with the test.
pub struct Cgroup {
    root: PathBuf,
    path: PathBuf,
}

impl Cgroup {
    pub fn new() -> Cgroup {
        let root = std::env::temp_dir().join(format!("pathweave-cgroups-{}", std::process::id()));
        fs::create_dir(&root).unwrap();
        let place = root.display();
        let mounted = Command::new("mount")
            .args(["-t", "cgroup2", "none", &place.to_string()])
            .status()
            .unwrap();
        assert!(mounted.success(), "control groups can be mounted");
        let path = root.join("pathweave-test");
        fs::create_dir(&path).unwrap();
        Cgroup { root, path }
    }

    /// Runs it as a process of the control group: sockets belong to where they are opened.
    pub fn with<T>(&self, work: impl FnOnce() -> T) -> T {
        let own = fs::read_to_string("/proc/self/cgroup").unwrap();
        let own = own
            .lines()
            .find_map(|line| line.strip_prefix("0::/"))
            .unwrap()
            .to_owned();
        let _back = Back(self.root.join(own));
        join(&self.path).unwrap();
        work()
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        Command::new(PROGRAM)
            .args(["kernel", "use"])
            .args(arguments)
            .args(["--cgroup", &self.path.display().to_string()])
            .output()
            .unwrap()
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        let removed = fs::remove_dir(&self.path);
        let _ = Command::new("umount").arg(&self.root).status();
        let _ = fs::remove_dir(&self.root);
        // A panic on top of another one would end all tests.
        if !thread::panicking() {
            removed.expect("no process is left in it");
        }
    }
}

/// The control group that this process goes back to, also when what it does in another one fails.
struct Back(PathBuf);

impl Drop for Back {
    fn drop(&mut self) {
        let joined = join(&self.0);
        if !thread::panicking() {
            joined.expect("it was there before");
        }
    }
}

/// Moves this process into a control group.
fn join(group: &Path) -> io::Result<()> {
    fs::write(group.join("cgroup.procs"), std::process::id().to_string())
}
