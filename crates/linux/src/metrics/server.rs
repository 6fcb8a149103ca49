//! Answers HTTP requests with the metrics, within fixed limits.
//!
//! Everything runs on the calling thread. A connection carries one request.

use super::address::Listener;
use crate::Failure;
use hyper::body::{Body, Incoming};
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::ready;
use std::io;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// Bytes of a request's line and headers.
const HEAD: usize = 8 << 10;
/// Open connections. The next one replaces the oldest.
const CONNECTIONS: usize = 16;
/// How long a connection stays open, from accepting it to the last byte of the answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// After a failed accept, which may fail again immediately.
const BETWEEN_ACCEPTS: Duration = Duration::from_millis(100);

/// The metrics as text.
pub type Text = fn() -> Result<String, Failure>;

/// Answers until the process ends.
///
/// # Errors
/// When the kernel has no room for an event loop.
pub fn serve(listener: Listener, text: Text) -> Result<(), Failure> {
    let cannot = |error: io::Error| Failure::new(format!("cannot answer requests: {error}"));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()
        .map_err(cannot)?;
    runtime
        .block_on(async {
            match listener {
                Listener::Unix(listener) => {
                    listener.set_nonblocking(true)?;
                    let listener = UnixListener::from_std(listener)?;
                    accept(async || Ok(listener.accept().await?.0), text).await
                }
                Listener::Loopback(listener) => {
                    listener.set_nonblocking(true)?;
                    let listener = TcpListener::from_std(listener)?;
                    accept(async || Ok(listener.accept().await?.0), text).await
                }
            }
        })
        .map_err(cannot)
}

async fn accept<S>(next: impl AsyncFn() -> io::Result<S>, text: Text) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let mut open: VecDeque<JoinHandle<()>> = VecDeque::with_capacity(CONNECTIONS);
    loop {
        let Ok(stream) = next().await else {
            sleep(BETWEEN_ACCEPTS).await;
            continue;
        };
        open.retain(|connection| !connection.is_finished());
        // An answer takes milliseconds, so the oldest of that many waits for its client.
        if open.len() == CONNECTIONS
            && let Some(oldest) = open.pop_front()
        {
            oldest.abort();
            let _ = oldest.await;
        }
        open.push_back(tokio::spawn(connection(stream, text)));
    }
}

/// Reads one request and answers it.
async fn connection(stream: impl AsyncRead + AsyncWrite + Unpin + Send, text: Text) {
    let service = service_fn(move |request| ready(Ok::<_, Infallible>(response(&request, text))));
    let exchange = http1::Builder::new()
        .keep_alive(false)
        .max_buf_size(HEAD)
        // It would need a timer of its own, and the whole exchange has one.
        .header_read_timeout(None)
        .serve_connection(TokioIo::new(stream), service);
    // Neither a client that is late nor one that has gone is a failure of the server.
    let _ = timeout(PATIENCE, exchange).await;
}

/// The body is never read: hyper closes the connection where one is left.
fn response(request: &Request<Incoming>, text: Text) -> Response<String> {
    let plain = |status: StatusCode, text: &str| {
        let mut response = Response::new(format!("{text}\n"));
        *response.status_mut() = status;
        response
    };
    if request.method() != Method::GET {
        let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, "only GET is answered");
        let headers = response.headers_mut();
        headers.insert(ALLOW, HeaderValue::from_static("GET"));
        return response;
    }
    if !request.body().is_end_stream() {
        return plain(StatusCode::PAYLOAD_TOO_LARGE, "a request has no body");
    }
    if request.uri().path() != "/metrics" {
        return plain(StatusCode::NOT_FOUND, "the metrics are at /metrics");
    }
    match text() {
        Ok(text) => {
            let mut response = Response::new(text);
            let headers = response.headers_mut();
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(OPENMETRICS));
            response
        }
        Err(failure) => plain(StatusCode::INTERNAL_SERVER_ERROR, &failure.to_string()),
    }
}
