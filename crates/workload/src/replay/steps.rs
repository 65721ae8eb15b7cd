//! The steps of a recording on their way to the ring.

use crate::source::Refill;
use iosonde_base::{Planned, Ring};
use std::fmt::Debug;
use std::sync::Arc;

/// One thing that was recorded, and when it is to be done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Nanoseconds since the recording began, stretched as asked.
    pub due_ns: u64,
    /// What to do.
    pub entry: Planned,
}

/// The steps of a recording.
#[derive(Clone, Debug)]
pub enum Steps {
    /// All of them, shared by the jobs that do them.
    Whole(Arc<Vec<Step>>),
    /// To be read on the way (`read_iolog_chunked`).
    Pieces(Arc<dyn Pieces>),
}

/// A recording that is read piece by piece.
pub trait Pieces: Debug + Send + Sync {
    /// A reader at the first step.
    fn begin(&self) -> Box<dyn NextPiece>;
}

/// Reads a recording piece by piece.
pub trait NextPiece: Debug + Send {
    /// Put the steps that follow into `piece`, which is empty; none follow if
    /// it stays so.
    ///
    /// # Errors
    /// If the recording cannot be read on, or is not what it was.
    fn next(&mut self, piece: &mut Vec<Step>) -> Result<(), Unreadable>;
}

/// A recording could not be read on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreadable;

impl PartialEq for Steps {
    fn eq(&self, other: &Steps) -> bool {
        match (self, other) {
            (Steps::Whole(these), Steps::Whole(those)) => these == those,
            (Steps::Pieces(this), Steps::Pieces(that)) => Arc::ptr_eq(this, that),
            _ => false,
        }
    }
}

/// Steps being handed out.
#[derive(Debug)]
pub(crate) struct Replaying {
    rest: Rest,
    /// How many steps of what is at hand were handed out.
    at: usize,
    /// When each entry of the ring is due, in nanoseconds.
    dues: Vec<u64>,
}

#[derive(Debug)]
enum Rest {
    Whole(Arc<Vec<Step>>),
    Pieces { piece: Vec<Step>, reader: Box<dyn NextPiece> },
    Broken,
}

impl Replaying {
    pub fn new(steps: &Steps) -> Replaying {
        let rest = match steps {
            Steps::Whole(steps) => Rest::Whole(steps.clone()),
            Steps::Pieces(pieces) => Rest::Pieces { piece: Vec::new(), reader: pieces.begin() },
        };
        Replaying { rest, at: 0, dues: Vec::with_capacity(iosonde_base::RING) }
    }

    /// When each entry of the ring is due.
    pub fn dues(&self) -> &[u64] {
        &self.dues
    }

    /// Fill the ring, which is empty.
    pub fn refill(&mut self, ring: &mut Ring) -> Refill {
        self.dues.clear();
        if let Rest::Pieces { piece, reader } = &mut self.rest
            && self.at == piece.len()
        {
            piece.clear();
            self.at = 0;
            if reader.next(piece).is_err() {
                self.rest = Rest::Broken;
            }
        }
        let steps: &[Step] = match &self.rest {
            Rest::Whole(steps) => steps,
            Rest::Pieces { piece, .. } => piece,
            Rest::Broken => return Refill::Broken,
        };
        let steps = &steps[self.at..];
        let count = steps.len().min(iosonde_base::RING);
        ring.fill(count, |i| steps[i].entry);
        self.dues.extend(steps[..count].iter().map(|step| step.due_ns));
        self.at += count;
        if count > 0 { Refill::Planned } else { Refill::Done }
    }
}
