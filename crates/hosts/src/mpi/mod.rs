//! MPI as a transport: loaded when it is asked for, used by one thread, which sleeps while
//! jobs run.

mod launcher;
mod library;
mod pause;

pub use launcher::Launcher;

use crate::transport::Transport;
use iosonde_base::exit;
use iosonde_base::text::short_duration;
use iosonde_sys::standard_error::print_error;
use library::{MpiLibrary, PendingMessage};
use pause::Pause;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// A message begins with a frame of this size: its length, and as much of it as fits. Small
/// enough to be sent at once, by any network.
const FRAME_BYTES: usize = 512;
/// The length of a message, its number among those to the same rank, and a sum of its bytes.
const LENGTH_BYTES: usize = 8;
const HEAD_BYTES: usize = LENGTH_BYTES + 4 + 4;
/// A message of another program would be longer.
const MESSAGE_BYTES_MOST: u64 = 1 << 30;
/// In a barrier signals are listened for so often: not in the microseconds that it takes when
/// all are there.
const LISTEN_EVERY: Duration = Duration::from_millis(5);
/// How long messages that are given up are tested for their end.
const CANCEL_WITHIN: Duration = Duration::from_millis(100);
/// Tags of frames, and of the rest of longer messages.
const FRAME_TAG: i32 = 71;
const REST_TAG: i32 = 72;
/// The exit code of all ranks when one has lost the others, or panicked.
pub const ABORT_CODE: i32 = 3;

/// A world of MPI.
pub struct Mpi {
    library: MpiLibrary,
    rank: usize,
    ranks: usize,
    /// Messages that are still to be given to MPI.
    unsent: Vec<(usize, Vec<u8>)>,
    sends: Vec<PendingMessage>,
    /// What is awaited from each rank that this one talks with, and the message of it.
    awaited: Vec<(usize, Awaited)>,
    receives: Vec<PendingMessage>,
    arrived: VecDeque<(usize, Vec<u8>)>,
    /// Messages to each rank, and from each.
    sent: Vec<u32>,
    received: Vec<u32>,
    /// Ranks of which one did not come as it was sent.
    broken: Vec<usize>,
    pause: Pause,
}

/// What is awaited from a rank.
enum Awaited {
    Frame,
    /// The rest of a message, which begins so.
    Rest(FrameHead, Vec<u8>),
}

/// What stands before a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FrameHead {
    length: u64,
    number: u32,
    sum: u32,
}

impl FrameHead {
    fn of(message: &[u8], number: u32) -> FrameHead {
        FrameHead { length: message.len() as u64, number, sum: sum(number, message) }
    }

    fn to_bytes(self) -> [u8; HEAD_BYTES] {
        let mut bytes = [0; HEAD_BYTES];
        bytes[..LENGTH_BYTES].copy_from_slice(&self.length.to_le_bytes());
        bytes[LENGTH_BYTES..LENGTH_BYTES + 4].copy_from_slice(&self.number.to_le_bytes());
        bytes[LENGTH_BYTES + 4..].copy_from_slice(&self.sum.to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> FrameHead {
        let part = |from: usize| bytes[from..from + 4].try_into().map_or(0, u32::from_le_bytes);
        let length = u64::from(part(0)) | u64::from(part(4)) << 32;
        FrameHead { length, number: part(LENGTH_BYTES), sum: part(LENGTH_BYTES + 4) }
    }

    /// Whether a message came whole, and after the one before it.
    fn is_of(self, message: &[u8], number: u32) -> bool {
        self == FrameHead::of(message, number)
    }
}

/// FNV-1a of a message and its number.
fn sum(number: u32, message: &[u8]) -> u32 {
    let step = |sum: u32, byte: &u8| (sum ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
    let begun = number.to_le_bytes().iter().fold(0x811c_9dc5, step);
    message.iter().fold(begun, step)
}

impl Mpi {
    /// Load the library that goes with the launcher, and begin.
    ///
    /// # Errors
    /// There is no launcher or no library, or they do not go together: a sentence.
    pub fn begin() -> Result<Mpi, String> {
        let variable = |name: &str| std::env::var(name).ok();
        let launcher = Launcher::of(variable).ok_or(
            "no launcher of MPI has started this program: use mpirun -H HOST,HOST iosonde --mpi ..., or srun",
        )?;
        let library = load(&launcher.libraries(variable("IOSONDE_MPI_LIB")))?;
        library.init()?;
        let (rank, ranks) = library.place();
        if ranks != launcher.ranks {
            let version = library.version();
            return Err(format!(
                "{} started {} ranks, but the MPI that was loaded ({version}) has {ranks}: they do not go together; \
                 name the launcher's own library in IOSONDE_MPI_LIB",
                launcher.name, launcher.ranks
            ));
        }
        library.abort_on_panic(ABORT_CODE);
        let others = if rank == 0 { 1..ranks } else { 0..1 };
        let frame = |other| library.receive(other, FRAME_TAG, FRAME_BYTES);
        let receives = others.clone().map(frame).collect();
        let awaited = others.map(|other| (other, Awaited::Frame)).collect();
        let (sent, received) = (vec![0; ranks], vec![0; ranks]);
        let (unsent, sends, arrived, broken) = Default::default();
        Ok(Mpi {
            library,
            rank,
            ranks,
            unsent,
            sends,
            awaited,
            receives,
            arrived,
            sent,
            received,
            broken,
            pause: Pause::default(),
        })
    }

    /// End all ranks at once.
    pub fn abort(&self) -> ! {
        self.library.abort(ABORT_CODE)
    }

    fn progress(&mut self) {
        if self.pause.is_now() {
            return;
        }
        for (to, message) in std::mem::take(&mut self.unsent) {
            self.start_sending(to, &message);
        }
        let library = &self.library;
        if !self.sends.is_empty() {
            library.test_some(&mut self.sends);
            self.sends.retain(PendingMessage::is_under_way);
        }
        for (at, bytes) in library.test_some(&mut self.receives) {
            let from = self.awaited[at].0;
            let (head, message) = match std::mem::replace(&mut self.awaited[at].1, Awaited::Frame) {
                Awaited::Frame => {
                    let (head, body) = bytes.split_at(HEAD_BYTES);
                    let head = FrameHead::from_bytes(head);
                    // One that claims more is damaged: its sum says so.
                    let length = head.length.min(MESSAGE_BYTES_MOST) as usize;
                    if length > body.len() && head.length <= MESSAGE_BYTES_MOST {
                        self.receives[at] = library.receive(from, REST_TAG, length - body.len());
                        self.awaited[at].1 = Awaited::Rest(head, body.to_vec());
                        continue;
                    }
                    (head, body[..length.min(body.len())].to_vec())
                }
                Awaited::Rest(head, mut message) => {
                    message.extend_from_slice(&bytes);
                    (head, message)
                }
            };
            if head.is_of(&message, self.received[from]) {
                self.arrived.push_back((from, message));
            } else {
                self.broken.push(from);
            }
            self.received[from] = self.received[from].wrapping_add(1);
            self.receives[at] = library.receive(from, FRAME_TAG, FRAME_BYTES);
        }
    }

    fn start_sending(&mut self, to: usize, message: &[u8]) {
        let mut frame = vec![0; FRAME_BYTES];
        let head = FrameHead::of(message, self.sent[to]);
        self.sent[to] = self.sent[to].wrapping_add(1);
        frame[..HEAD_BYTES].copy_from_slice(&head.to_bytes());
        let first = message.len().min(FRAME_BYTES - HEAD_BYTES);
        frame[HEAD_BYTES..HEAD_BYTES + first].copy_from_slice(&message[..first]);
        self.sends.push(self.library.send(to, FRAME_TAG, frame));
        if first < message.len() {
            self.sends.push(self.library.send(to, REST_TAG, message[first..].to_vec()));
        }
    }
}

impl Transport for Mpi {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.ranks
    }

    fn send(&mut self, to: usize, message: Vec<u8>) {
        // While there is nothing to lose it can go at once.
        if self.unsent.is_empty() && !self.pause.is_now() {
            self.start_sending(to, &message);
        } else {
            self.unsent.push((to, message));
        }
    }

    fn receive(&mut self) -> Option<(usize, Vec<u8>)> {
        if self.arrived.is_empty() {
            self.progress();
        }
        self.arrived.pop_front()
    }

    fn broken(&self) -> &[usize] {
        &self.broken
    }

    fn barrier(
        &mut self,
        within: Duration,
        stopped: &mut dyn FnMut() -> Option<String>,
    ) -> Result<(), String> {
        let mut listen = Instant::now() + LISTEN_EVERY;
        let until = Instant::now() + within;
        let mut is_paused = self.pause.is_now();
        let mut barrier = None;
        loop {
            if is_paused {
                std::thread::sleep(LISTEN_EVERY);
            } else {
                let barrier = barrier.get_or_insert_with(|| self.library.barrier());
                if self.library.test(barrier).is_some() {
                    return Ok(());
                }
            }
            let now = Instant::now();
            if now >= listen {
                listen = now + LISTEN_EVERY;
                is_paused = self.pause.is_now();
                if let Some(why) = stopped() {
                    return Err(why);
                }
            }
            if now >= until {
                let time = short_duration(within.as_nanos() as u64);
                return Err(format!("not all ranks came to the start within {time}"));
            }
            std::hint::spin_loop();
        }
    }

    fn guard_results(&mut self, pause: Duration) {
        self.pause.watch(pause);
    }

    fn results_are_saved(&mut self) -> Option<String> {
        self.pause.end()
    }

    fn is_idle(&mut self) -> bool {
        self.progress();
        self.pause.is_now() || self.unsent.is_empty() && self.sends.is_empty()
    }
}

impl Mpi {
    /// The end of MPI on this rank, and where a rank is lost, of all: the end of MPI would wait for
    /// it. If MPI itself does not come to its end in time, the process ends with the code, or
    /// with that of a refusal.
    pub fn end(self, is_whole: bool, within: Duration, code: u8) {
        std::thread::spawn(move || {
            std::thread::sleep(within);
            let time = short_duration(within.as_nanos() as u64);
            print_error(&format!("iosonde: --mpi: no progress in the end of MPI within {time}"));
            std::process::exit(code.max(exit::REFUSED).into());
        });
        if is_whole { self.finalize() } else { self.abort() }
    }

    fn finalize(self) {
        let Mpi { library, mut receives, .. } = self;
        // Libraries complain of what is still awaited.
        receives.iter_mut().for_each(|pending| library.cancel(pending));
        let until = Instant::now() + CANCEL_WITHIN;
        while receives.iter().any(PendingMessage::is_under_way) && Instant::now() < until {
            library.test_some(&mut receives);
        }
        library.finalize();
    }
}

/// The first library that can be loaded.
fn load(names: &[String]) -> Result<MpiLibrary, String> {
    let mut first_error = None;
    for name in names {
        match MpiLibrary::open(name) {
            Ok(library) => return Ok(library),
            Err(error) => {
                first_error.get_or_insert(error);
            }
        }
    }
    Err(format!(
        "no MPI library can be loaded ({}): install Open MPI or MPICH, or name one in IOSONDE_MPI_LIB",
        first_error.unwrap_or_default()
    ))
}
