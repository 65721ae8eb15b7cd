//! The writes of a pass drawn a second time, so that none has to be remembered
//! (`experimental_verify`). A second source with the same spec is always one
//! phase behind the job's own: it draws what that drew, whatever the seeds.

use crate::history::Written;
use iosonde_base::{Op, Planned, Ring};
use iosonde_workload::{Refill, Source};
use std::collections::BTreeSet;

/// The writes of a pass, drawn a second time.
#[derive(Debug)]
pub(super) struct Redrawn {
    source: Source,
    ring: Ring,
    /// Number of the next write.
    number: u64,
}

impl Redrawn {
    /// `source` has drawn nothing yet.
    pub fn new(source: Source) -> Redrawn {
        Redrawn { source, ring: Ring::default(), number: 0 }
    }

    /// The next write of the pass that is below `issued` and not among the
    /// `failed`.
    pub fn next(&mut self, issued: u64, failed: &BTreeSet<u64>) -> Option<Written> {
        while self.number < issued {
            let Planned { offset, len, file, op } = self.draw()?;
            if op != Op::Write {
                continue;
            }
            let number = self.number;
            self.number += 1;
            if !failed.contains(&number) {
                return Some(Written { file: file.0, offset, len, number });
            }
        }
        None
    }

    fn draw(&mut self) -> Option<Planned> {
        while self.ring.waiting() == 0 {
            if self.source.refill(&mut self.ring) != Refill::Planned {
                return None;
            }
        }
        self.ring.pop()
    }

    /// Go to the next pass; its first write has this number.
    pub fn next_pass(&mut self, number: u64) {
        self.ring.forget();
        while self.source.refill(&mut self.ring) == Refill::Planned {
            self.ring.forget();
        }
        self.source.next_pass();
        self.number = number;
    }
}
