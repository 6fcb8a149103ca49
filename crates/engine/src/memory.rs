//! What the process has used of the machine's memory.

/// Peak resident memory of the process in megabytes, from the kernel's accounting; zero where there is
/// none.
pub fn peak_rss_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line
        .and_then(|line| line.split_whitespace().next())
        .and_then(|n| n.parse().ok());
    kib.map_or(0.0, |kib: f64| kib * 1024.0 / 1e6)
}
