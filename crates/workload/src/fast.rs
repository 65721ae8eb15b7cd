//! The plain shapes, planned a ring at a time without asking for each I/O what
//! kind of job it is.
//!
//! A fast path plans only what cannot end, wrap or sync on the way; at such a
//! point it plans nothing, and the general path takes the step.

use iosonde_base::{Dir, FileId, Op, Planned, RING, Ring};

use crate::files::Place;
use crate::mix::Mix;
use crate::random::{Draws, Taus88};
use crate::source::Source;
use crate::spec::{Distribution, SyncEvery};

/// Which of the plain shapes a job has. All of them: one file, one direction,
/// one size, no syncs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// One after another.
    Sequential(Dir, u32),
    /// Even draws; a block may come again.
    Uniform(Dir, u32),
    /// Even draws; each block once.
    UniformOnce(Dir, u32),
    /// None of them.
    General,
}

impl Shape {
    /// The shape of a job.
    pub fn of(source: &Source) -> Shape {
        let spec = &source.spec;
        let &Mix::One(dir) = &source.mix else { return Shape::General };
        let size = if spec.bs_is_seq_rand && spec.directions.random {
            &source.sizes[Dir::Write]
        } else if spec.bs_is_seq_rand {
            &source.sizes[Dir::Read]
        } else {
            &source.sizes[dir]
        };
        let (Some(len), [place]) = (size.fixed(), &source.places[..]) else {
            return Shape::General;
        };
        let plain = !spec.directions.trim_then_write
            && spec.strided.is_none()
            && spec.sync_every == SyncEvery::default()
            && place.start + place.size <= place.end;
        if !plain {
            return Shape::General;
        }
        if !spec.directions.random {
            return if spec.seq_add == 0 { Shape::Sequential(dir, len) } else { Shape::General };
        }
        let even = spec.distribution == Distribution::Random
            && place.lfsr.is_none()
            && matches!(source.offset_draws, Draws::Narrow(_))
            && spec.seq_nr == 1
            && spec.percentage_random[dir] == 100
            && spec.unit(dir) >= u64::from(len)
            && place.size >= spec.unit(dir);
        match place.cover {
            _ if !even => Shape::General,
            Some(_) if spec.unit(dir) == u64::from(len) => Shape::UniformOnce(dir, len),
            Some(_) => Shape::General,
            None => Shape::Uniform(dir, len),
        }
    }
}

impl Source {
    /// Plan as far as nothing but plain I/Os come.
    pub(crate) fn fill_fast(&mut self, ring: &mut Ring) {
        let (dir, len, planned) = match self.shape {
            Shape::General => return,
            Shape::Sequential(dir, len) => (dir, len, self.fill_sequential(ring, dir, len)),
            Shape::Uniform(dir, len) => (dir, len, self.fill_uniform(ring, dir, len)),
            Shape::UniformOnce(dir, len) => (dir, len, self.fill_once(ring, dir, len)),
        };
        if let (Some(last), true) = (ring.as_slice().last(), planned > 0) {
            let last = *last;
            self.went_all(dir, planned, len, &last);
        }
    }

    fn fill_sequential(&mut self, ring: &mut Ring, dir: Dir, len: u32) -> u64 {
        let place = &self.places[0];
        let first = place.last_end[dir as usize];
        // An I/O begins inside what is used and ends inside the file.
        let begin = (place.start + place.size).saturating_sub(first).div_ceil(u64::from(len));
        let fit = place.end.saturating_sub(first) / u64::from(len);
        let count = self.most(len).min(begin).min(fit);
        let op = Op::from(dir);
        ring.fill(count as usize, |i| entry(op, first + i as u64 * u64::from(len), len));
        count
    }

    fn fill_uniform(&mut self, ring: &mut Ring, dir: Dir, len: u32) -> u64 {
        let count = self.most(len);
        let (start, unit, blocks) = self.grid(dir);
        let op = Op::from(dir);
        with_narrow(&mut self.offset_draws, |taus| {
            ring.fill(count as usize, |_| entry(op, start + taus.below(blocks) * unit, len));
        });
        count
    }

    fn fill_once(&mut self, ring: &mut Ring, dir: Dir, len: u32) -> u64 {
        let (start, unit, blocks) = self.grid(dir);
        let most = self.most(len);
        let Some(cover) = &mut self.places[0].cover else { return 0 };
        // No more than are free: a draw that finds none is the general path's.
        let count = most.min(cover.free()) as usize;
        let mut drawn = [0; RING];
        let drawn = &mut drawn[..count];
        with_narrow(&mut self.offset_draws, |taus| {
            for block in drawn.iter_mut() {
                *block = taus.below(blocks);
            }
        });
        cover.visit_all(drawn);
        let op = Op::from(dir);
        ring.fill(count, |i| entry(op, start + drawn[i] * unit, len));
        count as u64
    }

    /// How many I/Os of `len` bytes the ring holds and the limits allow.
    fn most(&self, len: u32) -> u64 {
        (RING as u64).min(self.left.ios).min(self.left.bytes.div_ceil(u64::from(len)))
    }

    /// First byte, unit and number of the blocks that are drawn from.
    fn grid(&self, dir: Dir) -> (u64, u64, u64) {
        let place: &Place = &self.places[0];
        let unit = self.spec.unit(dir);
        (place.start, unit, place.size / unit)
    }
}

#[inline(always)]
fn entry(op: Op, offset: u64, len: u32) -> Planned {
    Planned { offset, len, file: FileId(0), op }
}

/// Lend the generator out by value, so that its state stays in registers.
#[inline(always)]
fn with_narrow(draws: &mut Draws, work: impl FnOnce(&mut Taus88)) {
    if let Draws::Narrow(taus) = draws {
        let mut own = taus.clone();
        work(&mut own);
        *taus = own;
    }
}
