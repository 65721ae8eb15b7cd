//! The loop of engines that do one thing at a time.

use crate::drive::{Failure, Taken};
use crate::{Drive, Ended, Io, Loop, OneShot};
use iosonde_base::{Errno, FileId, Op, Planned};

/// A one-shot engine and its loop. `STAMPED` is whether latencies are kept.
pub struct OneShotLoop<E, const STAMPED: bool> {
    engine: E,
}

impl<E: OneShot, const STAMPED: bool> OneShotLoop<E, STAMPED> {
    /// The loop around `engine`.
    pub fn new(engine: E) -> Self {
        OneShotLoop { engine }
    }

    /// What is not plain data I/O: syncs, and what the loop does to files.
    #[cold]
    fn special(&mut self, drive: &mut Drive, entry: &Planned) -> Result<(), Failure> {
        match entry.op {
            Op::Open => self.open(drive, entry.file),
            Op::Close => self.close(drive, entry.file),
            Op::Invalidate => drive.files.invalidate(entry.file),
            _ if E::SYNCS => {
                let io = Io {
                    offset: entry.offset,
                    buffer: drive.memory.buffer(0),
                    len: entry.len,
                    op: entry.op,
                    file: entry.file,
                    fd: drive.files.fd(entry.file),
                };
                drive.sync_by(entry, || self.engine.perform(&io).map(drop))
            }
            _ => drive.sync_now(entry),
        }
    }

    /// An I/O moved less than asked, or failed. Go on with the rest until it
    /// is done: whether it is. An error or an end of file comes back as a
    /// failure, unless the job bears it.
    #[cold]
    #[inline(never)]
    fn finish(
        &mut self,
        drive: &mut Drive,
        entry: &Planned,
        io: &Io,
        first: Result<u32, Errno>,
    ) -> Result<bool, Failure> {
        let mut moved = 0;
        let mut result = first;
        let failure = loop {
            match result {
                // Engines may say of a trim that it is done without saying how far.
                Ok(0) if io.op == Op::Trim => return Ok(true),
                Ok(0) => break Failure::end_of_file(entry),
                Ok(n) => {
                    moved += n;
                    if moved >= io.len {
                        return Ok(true);
                    }
                    drive.pen.ledger().lanes[entry.op as usize].short.add(1);
                }
                // Interrupted before anything was done.
                Err(Errno(libc::EINTR)) => {}
                Err(errno) => {
                    let detail = self.engine.explain(entry.op, errno);
                    break Failure { detail, ..Failure::of(entry, errno) };
                }
            }
            let rest = Io {
                offset: io.offset + u64::from(moved),
                buffer: io.buffer.wrapping_add(moved as usize),
                len: io.len - moved,
                ..*io
            };
            result = self.engine.perform(&rest);
        };
        drive.pen.ledger().lanes[entry.op as usize].errors.add(1);
        let offset = Some(io.offset + u64::from(moved));
        drive.bear(entry, Failure { offset, ..failure }).map(|()| false)
    }

    /// What the counts of one-at-a-time I/O follow from; reckoned here, once a
    /// slice, so that the loop need not.
    fn settle(&self, drive: &Drive) {
        let ledger = drive.pen.ledger();
        let mut total = 0;
        for lane in &ledger.lanes {
            let issued = lane.ios.get() + lane.errors.get();
            lane.issued.set(issued);
            total += issued;
        }
        let depth = &ledger.depth;
        depth.level[0].set(total);
        for (map, count) in [(&depth.submit, &depth.submits), (&depth.complete, &depth.completes)] {
            map[1].set(total);
            count.set(total);
        }
    }
}

impl<E: OneShot, const STAMPED: bool> Loop for OneShotLoop<E, STAMPED> {
    fn run(&mut self, drive: &mut Drive) -> Ended {
        let ended = match STAMPED {
            true => self.run_stamped(drive),
            false => self.run_counting(drive),
        };
        self.settle(drive);
        ended
    }

    fn drain(&mut self, _: &mut Drive) -> Result<(), Failure> {
        Ok(())
    }

    fn open(&mut self, drive: &mut Drive, file: FileId) -> Result<(), Failure> {
        let opened = drive.files.open(file)?;
        self.engine
            .opened(&opened)
            .map_err(|errno| Failure { file: Some(file), ..Failure::engine("open", errno) })
    }

    fn close(&mut self, drive: &mut Drive, file: FileId) -> Result<(), Failure> {
        self.engine.closing(file);
        drive.files.close(file)
    }
}

impl<E: OneShot, const STAMPED: bool> OneShotLoop<E, STAMPED> {
    fn run_stamped(&mut self, drive: &mut Drive) -> Ended {
        let taps = drive.has_taps();
        let buffer = drive.memory.buffer(0);
        let clock = drive.clock;
        loop {
            let entry = match drive.take() {
                Taken::Entry(entry) => entry,
                Taken::Out(ended) => return ended,
            };
            if entry.op as u8 > Op::Trim as u8 {
                if let Err(failure) = self.special(drive, &entry) {
                    return Ended::Failed(failure);
                }
                if clock.now() >= drive.pulse.until() {
                    return Ended::Time;
                }
                continue;
            }
            // System calls are stamped after the buffer is filled, so that our
            // own work is not counted as theirs.
            let start = if E::THREE_STAMPS { clock.now() } else { 0 };
            if taps {
                drive.tap(&entry, 0);
            }
            let io = Io {
                offset: entry.offset,
                buffer,
                len: entry.len,
                op: entry.op,
                file: entry.file,
                fd: drive.files.fd(entry.file),
            };
            let issue = clock.now();
            let result = self.engine.perform(&io);
            let mut end = clock.now();
            if result != Ok(entry.len) {
                let whole = match self.finish(drive, &entry, &io, result) {
                    Ok(whole) => whole,
                    Err(failure) => return Ended::Failed(failure),
                };
                end = clock.now();
                if !whole {
                    // Errors that are borne must not keep the slice from ending.
                    if end >= drive.pulse.until() {
                        return Ended::Time;
                    }
                    continue;
                }
            }
            let lane = &drive.pen.ledger().lanes[entry.op as usize];
            lane.ios.add(1);
            lane.bytes.add(u64::from(entry.len));
            let clat = clock.ticks_to_ns(end.wrapping_sub(issue));
            lane.clat.add(clat);
            if let Some(histogram) = &lane.clat_histogram {
                histogram.add_many(clat, 1);
            }
            // With two stamps the total is the service; account() knows.
            if E::THREE_STAMPS {
                let lat = clock.ticks_to_ns(end.wrapping_sub(start));
                lane.lat.add(lat);
                if let Some(histogram) = &lane.lat_histogram {
                    histogram.add_many(lat, 1);
                }
            }
            if end >= drive.pulse.until() {
                return Ended::Time;
            }
        }
    }

    /// No stamps: the clock is read once for every few I/Os, more seldom the
    /// faster they are.
    fn run_counting(&mut self, drive: &mut Drive) -> Ended {
        /// A look at the clock is put off no longer than about this.
        const LOOK_NS: u64 = 200_000;
        let taps = drive.has_taps();
        let buffer = drive.memory.buffer(0);
        let clock = drive.clock;
        let (mut stride, mut left) = (1u32, 1u32);
        let mut looked = clock.now();
        loop {
            let entry = match drive.take() {
                Taken::Entry(entry) => entry,
                Taken::Out(ended) => return ended,
            };
            if entry.op as u8 > Op::Trim as u8 {
                if let Err(failure) = self.special(drive, &entry) {
                    return Ended::Failed(failure);
                }
                left = 1;
            } else {
                if taps {
                    drive.tap(&entry, 0);
                }
                let io = Io {
                    offset: entry.offset,
                    buffer,
                    len: entry.len,
                    op: entry.op,
                    file: entry.file,
                    fd: drive.files.fd(entry.file),
                };
                let result = self.engine.perform(&io);
                let mut whole = true;
                if result != Ok(entry.len) {
                    whole = match self.finish(drive, &entry, &io, result) {
                        Ok(whole) => whole,
                        Err(failure) => return Ended::Failed(failure),
                    };
                    // It may have taken long.
                    left = 1;
                }
                if whole {
                    let lane = &drive.pen.ledger().lanes[entry.op as usize];
                    lane.ios.add(1);
                    lane.bytes.add(u64::from(entry.len));
                }
            }
            left -= 1;
            if left == 0 {
                let now = clock.now();
                if now >= drive.pulse.until() {
                    return Ended::Time;
                }
                let fast = clock.ticks_to_ns(now.wrapping_sub(looked)) < LOOK_NS;
                stride = if fast { (stride * 2).min(64) } else { (stride / 2).max(1) };
                (looked, left) = (now, stride);
            }
        }
    }
}
