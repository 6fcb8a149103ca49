//! Network namespaces: one a host, by names that `ip netns` knows.

use crate::Failure;
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, open};
use rustix::mount::{UnmountFlags, mount_bind, unmount};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Where `ip netns` looks for them.
const FOLDER: &str = "/run/netns";
/// What the names of all of ours begin with; the maker's process number follows.
pub const PREFIX: &str = "pwt-";

/// A network namespace of ours; it goes with this value.
#[derive(Debug)]
pub struct Namespace {
    name: String,
    file: OwnedFd,
}

impl Namespace {
    /// Makes one for a host.
    ///
    /// # Errors
    /// What the kernel says to it.
    pub fn new(host: u32) -> Result<Namespace, Failure> {
        let name = format!("{PREFIX}{}-h{host}", std::process::id());
        let failed = |what: &str, error: io::Error| {
            Failure::new(format!(
                "cannot {what} the network namespace {name}: {error}"
            ))
        };
        fs::create_dir_all(FOLDER).map_err(|error| failed("make a place for", error))?;
        let path = path(&name);
        fs::File::create(&path).map_err(|error| failed("make a place for", error))?;
        // A thread's namespace is its own: this one's ends with it, and the name keeps what it made.
        let made = std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                // SAFETY: only this thread's network namespace changes, and it does nothing but give
                // that a name. No file descriptors or memory are unshared.
                if unsafe { libc::unshare(libc::CLONE_NEWNET) } != 0 {
                    return Err(io::Error::last_os_error());
                }
                mount_bind("/proc/thread-self/ns/net", &path).map_err(io::Error::from)
            });
            thread
                .join()
                .unwrap_or_else(|_| Err(io::Error::other("a thread panicked")))
        });
        let file = made.and_then(|()| {
            open(&path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).map_err(io::Error::from)
        });
        match file {
            Ok(file) => Ok(Namespace { name, file }),
            Err(error) => {
                remove(&name);
                Err(failed("make", error))
            }
        }
    }

    /// Does something with this thread in the namespace.
    ///
    /// # Errors
    /// When the thread cannot go there or come back, and what `work` gives.
    pub fn inside<T>(
        &self,
        home: &Home,
        work: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let enter = |file: &OwnedFd| {
            move_into_link_name_space(
                rustix::fd::AsFd::as_fd(file),
                Some(LinkNameSpaceType::Network),
            )
            .map_err(|error| Failure::new(format!("cannot enter {}: {error}", self.name)))
        };
        enter(&self.file)?;
        let done = work();
        enter(&home.file)?;
        done
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        remove(&self.name);
    }
}

/// The network namespace that the process was started in.
#[derive(Debug)]
pub struct Home {
    file: OwnedFd,
}

impl Home {
    /// That of this thread.
    ///
    /// # Errors
    /// When the kernel has no namespaces.
    pub fn new() -> Result<Home, Failure> {
        open(
            "/proc/thread-self/ns/net",
            OFlags::RDONLY | OFlags::CLOEXEC,
            Mode::empty(),
        )
        .map(|file| Home { file })
        .map_err(|error| {
            Failure::refused(format!("this kernel has no network namespaces: {error}"))
                .hint("build it with CONFIG_NET_NS")
        })
    }
}

/// Sets a kernel parameter of the namespace that the thread is in, where there is one of the name.
///
/// # Errors
/// When the kernel does not accept it.
pub fn set_parameter(name: &str, value: &str) -> Result<(), Failure> {
    if !has_parameter(name) {
        return Ok(());
    }
    let path = parameter(name);
    fs::write(&path, value)
        .map_err(|error| Failure::new(format!("cannot set {name} to {value}: {error}")))
}

/// Whether the kernel has a parameter of this name.
pub fn has_parameter(name: &str) -> bool {
    parameter(name).exists()
}

fn parameter(name: &str) -> PathBuf {
    PathBuf::from("/proc/sys").join(name.replace('.', "/"))
}

fn path(name: &str) -> PathBuf {
    Path::new(FOLDER).join(name)
}

/// Takes a namespace's name away; the namespace itself goes when nothing is in it.
fn remove(name: &str) {
    let path = path(name);
    // It may not have come so far as to be mounted.
    let _ = unmount(&path, UnmountFlags::DETACH);
    if let Err(error) = fs::remove_file(&path)
        && error.kind() != io::ErrorKind::NotFound
    {
        eprintln!("cannot remove the network namespace {name}: {error}");
    }
}

/// Removes the namespaces of processes that are gone, and gives their names.
pub fn remove_orphans() -> Vec<String> {
    let entries = fs::read_dir(FOLDER).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let orphans: Vec<String> = names
        .filter(|name| maker(name).is_some_and(|process| !is_alive(process)))
        .collect();
    orphans.iter().for_each(|name| remove(name));
    orphans
}

/// The process that made the namespace of this name, if it is one of ours.
fn maker(name: &str) -> Option<u32> {
    let (process, _) = name.strip_prefix(PREFIX)?.split_once('-')?;
    process.parse().ok()
}

/// Whether there is such a process. One that its parent has not heard of yet is none.
pub fn is_alive(process: u32) -> bool {
    let about = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // Behind the program's name, which may have parentheses of its own.
    let state = about
        .rsplit(") ")
        .next()
        .and_then(|rest| rest.chars().next());
    !matches!(state, None | Some('Z' | 'X'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_names_have_a_maker() {
        assert_eq!(maker("pwt-12-h3"), Some(12));
        for other in ["pwt-12", "pwt-x-h3", "blue", "pwx-12-h3", "pwt--h1"] {
            assert_eq!(maker(other), None, "{other}");
        }
    }

    #[test]
    fn a_process_is_alive_until_it_ends() {
        assert!(is_alive(std::process::id()) && !is_alive(u32::MAX));
        let mut child = std::process::Command::new("cat")
            .stdin(std::process::Stdio::piped())
            .spawn()
            .expect("it starts");
        assert!(is_alive(child.id()));
        drop(child.stdin.take());
        let begin = std::time::Instant::now();
        while is_alive(child.id()) {
            assert!(begin.elapsed().as_secs() < 20, "it has ended, unheard of");
            std::thread::yield_now();
        }
        child.wait().expect("it has ended");
    }
}
