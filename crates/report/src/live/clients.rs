//! The clients of the page server: how many at a time, and which makes room for another.

use std::net::{IpAddr, Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Limits of clients.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClientLimits {
    /// For a whole request, and again for its answer.
    pub timeout: Duration,
    /// Connections at a time.
    pub connections: usize,
    /// Of these, from one address.
    pub of_address: usize,
    /// Who has been silent for so long may be closed for another.
    pub silence: Duration,
}

/// So many refusals are written at a time; a client more is closed without a word.
const REFUSALS_MOST: usize = 16;

/// How much longer than a silent client one that is being answered is waited for.
const ANSWER_PATIENCE: u32 = 10;

/// The connections that are open.
pub(super) struct Clients {
    limits: ClientLimits,
    open: Arc<Mutex<OpenClients>>,
}

#[derive(Default)]
struct OpenClients {
    next: u64,
    served: Vec<Client>,
    refusals: usize,
}

struct Client {
    id: u64,
    address: IpAddr,
    since: Instant,
    is_answered: bool,
    /// To close it from another thread.
    stream: TcpStream,
}

/// A place among the clients, until it is dropped.
pub(super) struct ClientPlace {
    open: Arc<Mutex<OpenClients>>,
    /// `None` for one that is refused.
    id: Option<u64>,
}

impl Clients {
    pub(super) fn new(limits: ClientLimits) -> Clients {
        Clients { limits, open: Arc::default() }
    }

    /// A place for a new client, if need be one to be refused in; `None` where there are too
    /// many even of those.
    pub(super) fn enter(&self, stream: &TcpStream, address: IpAddr) -> Option<ClientPlace> {
        let mut open = lock(&self.open);
        let of_address = open.served.iter().filter(|client| client.address == address).count();
        let has_room = if of_address >= self.limits.of_address {
            self.make_room(&mut open, Some(address))
        } else {
            open.served.len() < self.limits.connections || self.make_room(&mut open, None)
        };
        let place = |id| ClientPlace { open: self.open.clone(), id };
        if let (true, Ok(stream)) = (has_room, stream.try_clone()) {
            open.next += 1;
            let (id, since) = (open.next, Instant::now());
            open.served.push(Client { id, address, since, is_answered: false, stream });
            return Some(place(Some(id)));
        }
        if open.refusals >= REFUSALS_MOST {
            return None;
        }
        open.refusals += 1;
        Some(place(None))
    }

    /// Close the client that has been silent for longest, of this address if one is given;
    /// whether there was one.
    fn make_room(&self, open: &mut OpenClients, of: Option<IpAddr>) -> bool {
        let is_over = |client: &Client| {
            let patience = if client.is_answered { ANSWER_PATIENCE } else { 1 };
            client.since.elapsed() >= self.limits.silence.saturating_mul(patience)
        };
        let may_go = |client: &&Client| of.is_none_or(|of| client.address == of) && is_over(client);
        let oldest = open.served.iter().filter(may_go).min_by_key(|c| (c.is_answered, c.since));
        let Some(id) = oldest.map(|client| client.id) else { return false };
        let Some(at) = open.served.iter().position(|client| client.id == id) else { return false };
        // Its thread sees the end of the stream, and ends.
        let _ = open.served.remove(at).stream.shutdown(Shutdown::Both);
        true
    }
}

impl ClientPlace {
    /// Whether its client gets nothing but a refusal.
    pub(super) fn is_refused(&self) -> bool {
        self.id.is_none()
    }

    /// The request is complete: the client is silent no more.
    pub(super) fn begin_answer(&self) {
        let mut open = lock(&self.open);
        for client in open.served.iter_mut().filter(|client| Some(client.id) == self.id) {
            (client.is_answered, client.since) = (true, Instant::now());
        }
    }
}

impl Drop for ClientPlace {
    fn drop(&mut self) {
        let mut open = lock(&self.open);
        match self.id {
            Some(id) => open.served.retain(|client| client.id != id),
            None => open.refusals -= 1,
        }
    }
}

/// The list is consistent between any two statements, so a poisoned lock is sound.
fn lock(open: &Mutex<OpenClients>) -> MutexGuard<'_, OpenClients> {
    open.lock().unwrap_or_else(PoisonError::into_inner)
}
