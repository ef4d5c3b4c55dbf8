//! Connections: how many, for how long, and how they end.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// After a failed accept, as when the process is out of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

/// Request line and headers together; larger ones are refused with 431.
const LARGEST_HEAD: usize = 64 << 10;

/// Bounds what clients can take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Connections at the same time; further ones wait in the system's queue.
    pub connections: usize,
    /// From the opening of a connection, or the end of an answer, to the end of the next request's
    /// headers.
    pub header_timeout: Duration,
    /// After this a connection takes no further request.
    pub lifetime: Duration,
    /// After this a request that is under way is cut off, when its connection or the agent ends.
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 256,
            header_timeout: Duration::from_secs(10),
            lifetime: Duration::from_secs(60),
            drain: Duration::from_secs(10),
        }
    }
}

/// Says why nothing can be served at an address.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {address}: {reason}")]
pub struct ServeError {
    /// The address.
    pub address: SocketAddr,
    /// Why, and what to do.
    pub reason: String,
    /// What the system said.
    pub source: io::Error,
}

/// Holds an address on which nothing is answered yet.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
}

impl Listener {
    /// Takes an address; port 0 takes a free port.
    ///
    /// # Errors
    ///
    /// A [`ServeError`] that says what to do.
    pub async fn bind(address: SocketAddr) -> Result<Self, ServeError> {
        let bound = async {
            let socket = TcpListener::bind(address).await?;
            let address = socket.local_addr()?;
            Ok(Self { socket, address })
        };
        bound.await.map_err(|source: io::Error| ServeError {
            address,
            reason: reason(&source),
            source,
        })
    }

    /// Returns the address, with the port that was taken.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop`, then lets requests under way end, for `limits.drain` at most.
    pub async fn serve(self, routes: Router, stop: CancellationToken, limits: Limits) {
        let cut = CancellationToken::new();
        let tasks = TaskTracker::new();
        let places = Arc::new(Semaphore::new(limits.connections));
        while let Some((stream, place)) = next(&self.socket, &places, &stop).await {
            let end = End { stop: stop.clone(), cut: cut.clone(), limits };
            tasks.spawn(connection(stream, routes.clone(), end, place));
        }
        drop(self.socket);
        tasks.close();
        if tokio::time::timeout(limits.drain, tasks.wait()).await.is_err() {
            tracing::warn!("requests were cut off, because they did not end in time");
            cut.cancel();
            tasks.wait().await;
        }
    }
}

fn reason(error: &io::Error) -> String {
    let advice = match error.kind() {
        io::ErrorKind::AddrInUse => {
            "another program listens there; stop it, or choose another address with listen"
        }
        io::ErrorKind::AddrNotAvailable => {
            "this machine has no such address; choose another with listen"
        }
        io::ErrorKind::PermissionDenied => {
            "the port needs more rights; choose one above 1023 with listen"
        }
        _ => return error.to_string(),
    };
    advice.to_owned()
}

/// Waits for a place and then for a client, so that a client is not accepted to wait.
async fn next(
    socket: &TcpListener,
    places: &Arc<Semaphore>,
    stop: &CancellationToken,
) -> Option<(TcpStream, OwnedSemaphorePermit)> {
    let client = async {
        let place = places.clone().acquire_owned().await.ok()?;
        loop {
            match socket.accept().await {
                Ok((stream, _)) => return Some((stream, place)),
                Err(error) => {
                    tracing::warn!(%error, "a connection was not accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    };
    tokio::select! {
        biased;
        () = stop.cancelled() => None,
        client = client => client,
    }
}

/// Says when a connection ends.
struct End {
    stop: CancellationToken,
    cut: CancellationToken,
    limits: Limits,
}

async fn connection(stream: TcpStream, routes: Router, end: End, _place: OwnedSemaphorePermit) {
    // An answer is one write: without this the last packet of it may wait for the client's ack.
    let _ = stream.set_nodelay(true);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(end.limits.header_timeout)
        .max_buf_size(LARGEST_HEAD)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(routes));
    let mut connection = std::pin::pin!(connection);
    // How a client ended is its own business; nothing is lost with it.
    tokio::select! {
        biased;
        _ = connection.as_mut() => return,
        () = end.stop.cancelled() => {}
        () = tokio::time::sleep(end.limits.lifetime) => {}
    }
    connection.as_mut().graceful_shutdown();
    tokio::select! {
        biased;
        _ = connection => {}
        () = end.cut.cancelled() => {}
        () = tokio::time::sleep(end.limits.drain) => {}
    }
}
