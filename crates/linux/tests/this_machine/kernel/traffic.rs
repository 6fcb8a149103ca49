//! Bytes through connections.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

/// Sends this many bytes and waits until the other end has them all and has closed; gives what it received.
pub fn carry(listener: &TcpListener, connection: TcpStream, bytes: usize) -> usize {
    let mut left = bytes;
    let received = carry_blocks(listener, connection, || {
        let now = left.min(BLOCK);
        left -= now;
        now
    });
    assert_eq!(received.0, received.1);
    received.1
}

const BLOCK: usize = 1 << 16;

/// Sends blocks of as many bytes as `next` says, until it says 0. Gives what was sent and what was received.
pub fn carry_blocks(
    listener: &TcpListener,
    connection: TcpStream,
    mut next: impl FnMut() -> usize,
) -> (usize, usize) {
    thread::scope(|scope| {
        let receiver = scope.spawn(|| {
            let (mut stream, _) = listener.accept().expect("the connection");
            let mut buffer = vec![0; 1 << 16];
            let mut received = 0;
            loop {
                let read = stream.read(&mut buffer).expect("the connection holds");
                if read == 0 {
                    return received;
                }
                received += read;
            }
        });
        let mut connection = connection;
        let block = vec![7; BLOCK];
        let mut sent = 0;
        loop {
            let now = next();
            if now == 0 {
                break;
            }
            connection
                .write_all(&block[..now])
                .expect("the connection holds");
            sent += now;
        }
        drop(connection);
        (sent, receiver.join().expect("the receiver does not fail"))
    })
}
