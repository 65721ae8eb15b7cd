//! Requests for data, and what a fault makes of each.

use super::{Answer, EINTR, EIO, ENOENT, ENOSPC, EVERY_FILE, SECTOR, Store, put};
use crate::Dice;
use crate::forge::forge;
use crate::script::{Fault, Target};
use std::time::Instant;

impl Store {
    pub(crate) fn read(&mut self, id: u64, offset: u64, size: usize) -> Answer<Vec<u8>> {
        let (fault, mut dice) = match self.begin(id, Target::Read, offset) {
            Ok(decided) => decided,
            Err(errno) => return Answer::Errno(errno),
        };
        let Some(file) = self.files.get(&id) else { return Answer::Errno(ENOENT) };
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(file.actual.len());
        let end = start.saturating_add(size).min(file.actual.len());
        let mut data = file.actual[start..end].to_vec();
        let mut wait = 0;
        match fault {
            Some(fault) if errno_of(fault).is_some() => {
                return Answer::Errno(self.fail(Target::Read, fault));
            }
            Some(fault @ (Fault::Delay | Fault::Hang)) => {
                wait = milliseconds(fault, &mut dice);
                self.note(Target::Read, fault);
            }
            Some(Fault::Short) if data.len() > SECTOR => {
                data.truncate((data.len() / 2).next_multiple_of(SECTOR));
                self.note(Target::Read, Fault::Short);
            }
            Some(Fault::BitFlip) if !data.is_empty() => {
                let at = flip(&mut data, &mut dice);
                self.flipped_reads.push(start + at);
                self.note(Target::Read, Fault::BitFlip);
            }
            _ => {}
        }
        self.held_ms += wait;
        Answer::Done(data, wait)
    }

    pub(crate) fn write(&mut self, id: u64, offset: u64, data: &[u8]) -> Answer<usize> {
        let (fault, mut dice) = match self.begin(id, Target::Write, offset) {
            Ok(decided) => decided,
            Err(errno) => return Answer::Errno(errno),
        };
        if let Some(fault) = fault.filter(|fault| errno_of(*fault).is_some()) {
            return Answer::Errno(self.fail(Target::Write, fault));
        }
        let end = offset + data.len() as u64;
        let grows = end > self.bytes(id).unwrap_or(0);
        if grows && let Err(errno) = self.resize(id, end) {
            return Answer::Errno(errno);
        }
        let at = usize::try_from(offset).expect("the file is as long");
        let mut length = data.len();
        let mut wait = 0;
        let mut stored = (at, data.to_vec());
        let mut happened = fault;
        let Some(file) = self.files.get_mut(&id) else { return Answer::Errno(ENOENT) };
        match fault {
            Some(fault @ (Fault::Delay | Fault::Hang)) => wait = milliseconds(fault, &mut dice),
            Some(Fault::Short) if length > SECTOR => {
                length = (length / 2).next_multiple_of(SECTOR);
                stored.1.truncate(length);
            }
            Some(Fault::BitFlip) => {
                flip(&mut stored.1, &mut dice);
            }
            Some(Fault::LostWrite) => stored.1.clear(),
            Some(Fault::Forged(field)) if forge(&mut stored.1, field) => {}
            Some(Fault::TornWrite) if length > SECTOR => {
                let sectors = (length.div_ceil(SECTOR) - 1) as u64;
                stored.1.truncate(SECTOR * (1 + dice.below(sectors)) as usize);
            }
            Some(Fault::MisdirectedWrite) if file.actual.len() >= 2 * length => {
                let places = (file.actual.len() / length) as u64;
                let other = (at / length) as u64 + 1 + dice.below(places - 1);
                stored.0 = (other % places) as usize * length;
            }
            _ => happened = None,
        }
        put(&mut file.intended, at, &data[..length]);
        put(&mut file.actual, stored.0, &stored.1);
        file.pending.push(stored);
        file.written.push(at..at + length);
        if let Some(fault) = happened {
            self.note(Target::Write, fault);
        }
        self.held_ms += wait;
        Answer::Done(length, wait)
    }

    pub(crate) fn sync(&mut self, id: u64) -> Answer<()> {
        let (fault, mut dice) = match self.begin(id, Target::Sync, 0) {
            Ok(decided) => decided,
            Err(errno) => return Answer::Errno(errno),
        };
        let mut wait = 0;
        match fault {
            Some(fault) if errno_of(fault).is_some() => {
                return Answer::Errno(self.fail(Target::Sync, fault));
            }
            Some(fault @ (Fault::Delay | Fault::Hang)) => wait = milliseconds(fault, &mut dice),
            _ => {}
        }
        let Some(file) = self.files.get_mut(&id) else { return Answer::Errno(ENOENT) };
        if fault != Some(Fault::LyingSync) {
            file.stable = file.actual.clone();
            file.pending.clear();
        }
        file.promised = file.intended.clone();
        file.written_when_promised = file.written.len();
        if let Some(fault) = fault {
            self.note(Target::Sync, fault);
        }
        Answer::Done((), wait)
    }

    /// Whether a request without data may be done.
    pub(crate) fn may(&mut self, id: u64, target: Target) -> Result<(), i32> {
        let name = self.files.get(&id).map(|file| file.name.clone()).unwrap_or_default();
        self.may_by_name(&name, target)
    }

    /// The same of a file that need not be there yet.
    pub(crate) fn may_by_name(&mut self, name: &str, target: Target) -> Result<(), i32> {
        let (fault, _) = self.begin_by_name(name, target, 0)?;
        match fault {
            Some(fault) if errno_of(fault).is_some() => Err(self.fail(target, fault)),
            _ => Ok(()),
        }
    }

    /// Count a request of the faulty file; what becomes of it.
    fn begin(
        &mut self,
        id: u64,
        target: Target,
        offset: u64,
    ) -> Result<(Option<Fault>, Dice), i32> {
        let name = self.files.get(&id).map(|file| file.name.clone()).unwrap_or_default();
        self.begin_by_name(&name, target, offset)
    }

    fn begin_by_name(
        &mut self,
        path: &str,
        target: Target,
        offset: u64,
    ) -> Result<(Option<Fault>, Dice), i32> {
        if self.is_cut {
            return Err(EIO);
        }
        let name = path.rsplit('/').next();
        if self.faulty != EVERY_FILE && name != Some(&self.faulty) {
            return Ok((None, Dice::new(0)));
        }
        *self.requests.entry(target).or_default() += 1;
        self.arrivals.push((target, Instant::now()));
        if self.cut_after.is_some_and(|writes| self.requests(Target::Write) > writes) {
            self.is_cut = true;
            return Err(EIO);
        }
        Ok(self.script.decide(target, offset))
    }

    fn note(&mut self, target: Target, fault: Fault) {
        *self.injected.entry((target, fault)).or_default() += 1;
    }

    fn fail(&mut self, target: Target, fault: Fault) -> i32 {
        self.note(target, fault);
        errno_of(fault).unwrap_or(EIO)
    }
}

fn errno_of(fault: Fault) -> Option<i32> {
    match fault {
        Fault::InputOutputError => Some(EIO),
        Fault::NoSpace => Some(ENOSPC),
        Fault::Interrupted => Some(EINTR),
        _ => None,
    }
}

fn milliseconds(fault: Fault, dice: &mut Dice) -> u64 {
    match fault {
        Fault::Hang => 1000 + dice.below(500),
        _ => 1 + dice.below(10),
    }
}

/// Invert one bit; the byte in which.
fn flip(data: &mut [u8], dice: &mut Dice) -> usize {
    let at = dice.below(data.len() as u64) as usize;
    data[at] ^= 1 << dice.below(8);
    at
}
