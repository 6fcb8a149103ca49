//! Options of sockets that no crate has types for, as bytes.

use rustix::fd::{AsFd, AsRawFd};
use std::io;

/// Sets an option whose value is one 32-bit number.
///
/// # Errors
/// The kernel's.
pub fn set_option(socket: impl AsFd, level: i32, name: i32, value: u32) -> io::Result<()> {
    let bytes = value.to_ne_bytes();
    // SAFETY: `bytes` lives across the call and its length is given with it; the kernel only reads it.
    let done = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            level,
            name,
            bytes.as_ptr().cast(),
            bytes.len() as libc::socklen_t,
        )
    };
    if done == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Reads an option into a buffer, which the kernel may also read, and gives the length that it wrote.
///
/// # Errors
/// The kernel's.
pub fn get_option(
    socket: impl AsFd,
    level: i32,
    name: i32,
    buffer: &mut [u8],
) -> io::Result<usize> {
    let mut length = buffer.len() as libc::socklen_t;
    // SAFETY: the buffer and the length that goes with it live across the call, and the kernel writes no
    // more than that length; any bytes are valid bytes.
    let done = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            level,
            name,
            buffer.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if done == 0 {
        Ok(length as usize)
    } else {
        Err(io::Error::last_os_error())
    }
}
