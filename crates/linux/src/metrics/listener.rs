//! Answers HTTP requests with the metrics, on a Unix socket or on a loopback address.

use crate::Failure;
use std::fs::{self, Permissions};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use tiny_http::{Header, Listener, Method, Response, Server};

const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Where it listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    Unix(PathBuf),
    Loopback(SocketAddr),
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Address, String> {
        if let Some(path) = text.strip_prefix("unix:") {
            if !path.starts_with('/') {
                return Err(format!(
                    "the path of a Unix socket must be absolute, got \"{path}\""
                ));
            }
            return Ok(Address::Unix(PathBuf::from(path)));
        }
        let address: SocketAddr = text.parse().map_err(|_| {
            "it must be unix:/PATH, or a loopback address with its port such as 127.0.0.1:9091 or [::1]:9091".to_owned()
        })?;
        if !address.ip().is_loopback() {
            return Err(format!(
                "{} is not a loopback address: whoever reaches it could read the metrics; take 127.0.0.1 or [::1], or a Unix socket, behind a proxy that asks who it is",
                address.ip()
            ));
        }
        Ok(Address::Loopback(address))
    }
}

/// Answers until the process ends.
///
/// # Errors
/// When it cannot listen there.
pub fn answer(
    address: &Address,
    text: impl Fn() -> Result<String, Failure>,
) -> Result<(), Failure> {
    let server = Server::from_listener(listen(address)?, None)
        .map_err(|error| Failure::new(format!("cannot answer requests: {error}")))?;
    for request in server.incoming_requests() {
        let path = request.url().split('?').next().unwrap_or_default();
        let plain =
            |text: String, status: u16| Response::from_string(text).with_status_code(status);
        let response = if !matches!(request.method(), Method::Get | Method::Head) {
            plain("only GET is answered\n".to_owned(), 405)
        } else if path != "/metrics" {
            plain("the metrics are at /metrics\n".to_owned(), 404)
        } else {
            match text() {
                Ok(text) => {
                    let kind = Header::from_bytes("Content-Type", CONTENT_TYPE).expect("a header");
                    plain(text, 200).with_header(kind)
                }
                Err(failure) => plain(format!("{failure}\n"), 500),
            }
        };
        // Whoever asked may have gone.
        let _ = request.respond(response);
    }
    Ok(())
}

fn listen(address: &Address) -> Result<Listener, Failure> {
    match address {
        Address::Loopback(address) => TcpListener::bind(address)
            .map(Listener::Tcp)
            .map_err(|error| Failure::new(format!("cannot listen on {address}: {error}"))),
        Address::Unix(path) => unix(path).map(Listener::Unix).map_err(|error| {
            Failure::new(format!("cannot listen on unix:{}: {error}", path.display()))
        }),
    }
}

/// A socket that its owner alone can connect to. One that a process has left behind gives way.
fn unix(path: &Path) -> io::Result<UnixListener> {
    let is_socket = fs::symlink_metadata(path).is_ok_and(|about| about.file_type().is_socket());
    if is_socket
        && UnixStream::connect(path)
            .is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
    {
        fs::remove_file(path)?;
    }
    let listener = UnixListener::bind(path)?;
    fs::set_permissions(path, Permissions::from_mode(0o600))?;
    Ok(listener)
}

#[cfg(test)]
mod tests {
    use super::Address;

    #[test]
    fn only_loopback_addresses_and_unix_sockets_are_taken() {
        for good in ["127.0.0.1:9091", "127.8.0.1:1", "[::1]:9091", "unix:/run/x"] {
            assert!(good.parse::<Address>().is_ok(), "{good}");
        }
        for (bad, said) in [
            ("0.0.0.0:9091", "0.0.0.0 is not a loopback address"),
            ("[::]:9091", ":: is not a loopback address"),
            ("10.0.0.1:9091", "10.0.0.1 is not a loopback address"),
            (
                "localhost",
                "it must be unix:/PATH, or a loopback address with its port",
            ),
            ("unix:run/x", "must be absolute, got \"run/x\""),
        ] {
            let message = bad.parse::<Address>().unwrap_err();
            assert!(message.contains(said), "{bad}: {message}");
        }
    }
}
