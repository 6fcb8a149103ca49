//! Bytes through connections.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

/// Sends so many bytes and waits until the other end has them all and has closed; gives what it received.
pub fn carry(listener: &TcpListener, connection: TcpStream, bytes: usize) -> usize {
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
        let block = vec![7; 1 << 16];
        let mut left = bytes;
        while left > 0 {
            let now = left.min(block.len());
            connection
                .write_all(&block[..now])
                .expect("the connection holds");
            left -= now;
        }
        drop(connection);
        receiver.join().expect("the receiver does not fail")
    })
}
