//! What comes next: the planner that fills the ring.

use iosonde_base::{Dir, FileId, Op, Planned, Ring};

use crate::cover::Cover;
use crate::fast::Shape;
use crate::files::{Pick, Picker, Place};
use crate::mix::Mix;
use crate::offsets::{self, Zones};
use crate::random::Draws;
use crate::replay::Replaying;
use crate::sizes::{self, SizeDraws};
use crate::spec::{Sequencer, SourceFile, SourceSpec, SpecError};
use crate::streams::{Seeds, Stream};
use crate::syncs::{Due, Syncs};

/// What [`Source::refill`] says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refill {
    /// The ring has entries.
    Planned,
    /// The ring is empty: this pass over the files is done, and there is
    /// another. Let what flies land, do what belongs between passes (verify,
    /// close, invalidate, open), then call [`Source::next_pass`].
    PassDone,
    /// The ring is empty and stays so.
    Done,
    /// The ring is empty: the recording that is done again cannot be read on.
    Broken,
}

/// Decides what comes next, from a spec and its seed alone.
#[derive(Debug)]
pub struct Source {
    pub(crate) spec: SourceSpec,
    pub(crate) seeds: Seeds,
    pub(crate) places: Vec<Place>,
    pub(crate) offset_draws: Draws,
    pub(crate) shape: Shape,
    pub(crate) left: Limits,
    picker: Picker,
    pub(crate) mix: Mix,
    pub(crate) sizes: SizeDraws,
    seq_rand_draws: Draws,
    pub(crate) zones: Option<Zones>,
    syncs: Syncs,
    /// I/Os left of a run of `randread:N`.
    run_left: u32,
    /// I/Os planned in each direction over the whole job.
    pub(crate) issued: [u64; 3],
    /// Bytes planned over the whole job, and in this pass.
    bytes: u64,
    pass_bytes: u64,
    /// The last write, for the place of a sync.
    last_write: Planned,
    pass: u64,
    state: State,
    notes: Vec<String>,
    /// What was recorded, instead of all that.
    replaying: Option<Box<Replaying>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Running,
    Ended(Refill),
}

/// The most entries that one step adds to the ring: an open, a wrap, an I/O.
const STEP_MOST: usize = 3;

/// How much may still be planned, over all loops.
#[derive(Debug)]
pub(crate) struct Limits {
    pub bytes: u64,
    pub ios: u64,
}

impl Limits {
    fn new(spec: &SourceSpec) -> Limits {
        // A trim and its write count as one I/O of the limits.
        let twice = if spec.directions.trim_then_write { 2 } else { 1 };
        let over_loops = |one: u64| one.saturating_mul(spec.loops).saturating_mul(twice);
        let free = |limit: u64| if spec.time_based { u64::MAX } else { limit };
        Limits {
            bytes: free(over_loops(spec.total_bytes)),
            ios: free(if spec.number_ios == 0 { u64::MAX } else { over_loops(spec.number_ios) }),
        }
    }

    fn reached(&self) -> bool {
        self.bytes == 0 || self.ios == 0
    }
}

impl Source {
    /// A source that decides what `spec` says.
    ///
    /// # Errors
    /// If the spec contradicts itself, or the random map does not fit in memory.
    pub fn new(spec: SourceSpec) -> Result<Source, SpecError> {
        let replaying = spec.replay.as_ref().map(|steps| Box::new(Replaying::new(steps)));
        let spec = if replaying.is_some() { draws_nothing() } else { spec };
        check(&spec)?;
        let seeds = Seeds::new(spec.randseed, spec.thread_number);
        let mix = Mix::new(&spec, &seeds).ok_or(SpecError::NoDirection)?;
        let sizes = sizes::size_draws(&spec, &seeds)?;
        let mut notes = Vec::new();
        let wide = offsets::wide(&spec, &mut notes);
        let places = offsets::places(&spec, &seeds, &mut notes)?;
        let file_skew = offsets::file_skew(&spec, &seeds)?;
        let zones = Zones::new(&spec.distribution, &seeds)?;
        let mut source = Source {
            picker: Picker::new(
                spec.file_service,
                spec.files.len(),
                spec.open_files,
                file_skew,
                &seeds,
            ),
            offset_draws: Draws::new(wide, seeds.of(Stream::Offset)),
            seq_rand_draws: Draws::new(false, seeds.of(Stream::SequentialOrRandom)),
            left: Limits::new(&spec),
            syncs: Syncs::new(spec.sync_every),
            run_left: 0,
            issued: [0; 3],
            bytes: 0,
            last_write: Planned::default(),
            pass: 1,
            pass_bytes: 0,
            state: State::Running,
            shape: Shape::General,
            replaying,
            notes,
            spec,
            seeds,
            places,
            mix,
            sizes,
            zones,
        };
        source.shape = Shape::of(&source);
        Ok(source)
    }

    /// Remarks for the user about choices made on the way, in order.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Fill the ring as far as can be decided. Call it when the ring is empty.
    ///
    /// # Panics
    /// If entries still wait in the ring.
    pub fn refill(&mut self, ring: &mut Ring) -> Refill {
        ring.clear();
        if let Some(replaying) = &mut self.replaying {
            return replaying.refill(ring);
        }
        if self.state == State::Running {
            self.fill(ring);
        }
        match self.state {
            _ if ring.waiting() > 0 => Refill::Planned,
            State::Ended(how) => how,
            State::Running => Refill::Done,
        }
    }

    /// Tell how much time has passed since the job's pace began, in
    /// nanoseconds, before a refill. Only a mix of which one direction has a
    /// pace and the other has none goes by it: [`Source::goes_by_now`].
    pub fn tell_elapsed(&mut self, ns: u64) {
        self.mix.tell_elapsed(ns);
    }

    /// Whether [`Source::tell_elapsed`] makes a difference.
    pub fn goes_by_now(&self) -> bool {
        self.mix.goes_by_now()
    }

    /// When each entry that the last refill planned is due, in nanoseconds
    /// since the recording began; empty where nothing was recorded.
    pub fn dues(&self) -> &[u64] {
        self.replaying.as_ref().map_or(&[], |replaying| replaying.dues())
    }

    /// Begin the next pass over the files, after [`Refill::PassDone`]. Does
    /// nothing after [`Refill::Done`].
    pub fn next_pass(&mut self) {
        if self.state == State::Ended(Refill::Done) {
            return;
        }
        if self.spec.repeat {
            self.restart_streams();
        }
        for at in 0..self.places.len() {
            self.places[at].rewind(&self.spec.files[at], self.spec.strided);
            self.begin_order_anew(at);
        }
        self.picker.rewind();
        self.run_left = 0;
        self.pass += 1;
        self.pass_bytes = 0;
        self.state = State::Running;
    }

    fn restart_streams(&mut self) {
        let seeds = &self.seeds;
        let wide = matches!(self.offset_draws, Draws::Wide(_));
        self.offset_draws = Draws::new(wide, seeds.of(Stream::Offset));
        self.seq_rand_draws = Draws::new(false, seeds.of(Stream::SequentialOrRandom));
        self.mix.restart(seeds);
        self.picker.restart(seeds);
        sizes::restart(&mut self.sizes, &self.spec, seeds);
        if let Some(zones) = &mut self.zones {
            zones.restart(seeds);
        }
        for place in &mut self.places {
            if let Some(skew) = &mut place.skew {
                skew.restart();
            }
        }
    }

    fn fill(&mut self, ring: &mut Ring) {
        if self.shape != Shape::General {
            self.fill_fast(ring);
            if ring.waiting() > 0 {
                return;
            }
            // What the fast path cannot decide (an end, a wrap) is left to us.
        }
        while self.state == State::Running && ring.room() >= STEP_MOST {
            self.step(ring);
            if self.mix.goes_by_now() && ring.waiting() > 0 {
                return;
            }
        }
    }

    /// Plan an I/O with what belongs to it, or a sync, or end the pass.
    fn step(&mut self, ring: &mut Ring) {
        if let Some(due) = self.syncs.due() {
            return self.plan_sync(due, ring);
        }
        if self.left.reached() {
            self.state = State::Ended(Refill::Done);
            return;
        }
        let file = match self.picker.next(&self.places) {
            Pick::None => return self.end_pass(),
            Pick::File(file) => file,
            Pick::Open(file) => {
                self.places[file].open = true;
                ring.push(control(Op::Open, file));
                file
            }
        };
        let Some(entry) = self.plan_in(file).or_else(|| self.wrap(file, ring)) else {
            return self.file_done(file, ring);
        };
        self.went(&entry);
        ring.push(entry);
    }

    /// Note an I/O that has been planned.
    #[inline]
    fn went(&mut self, entry: &Planned) {
        self.places[entry.file.0 as usize].went(entry);
        if let Some(dir) = entry.op.dir() {
            self.issued[dir as usize] += 1;
        }
        if entry.op == Op::Write {
            self.last_write = *entry;
        }
        let bytes = u64::from(entry.len);
        self.bytes += bytes;
        self.pass_bytes += bytes;
        self.left.bytes = self.left.bytes.saturating_sub(bytes);
        self.left.ios = self.left.ios.saturating_sub(1);
        self.syncs.went(entry.op);
        self.mix.went(entry);
    }

    /// Note `count` I/Os of `bytes` in all, planned in the first file of a job
    /// without syncs, the last being `last`.
    pub(crate) fn went_all(&mut self, dir: Dir, count: u64, bytes: u64, last: &Planned) {
        self.places[0].last_start[dir as usize] = last.offset;
        self.places[0].last_end[dir as usize] = last.offset + u64::from(last.len);
        self.issued[dir as usize] += count;
        self.bytes += bytes;
        self.pass_bytes += bytes;
        self.left.bytes = self.left.bytes.saturating_sub(bytes);
        self.left.ios -= count;
    }

    /// A sync. Where it follows each write, it is of the file written, which is
    /// where what must become durable is; else, as in fio, of the file whose
    /// turn it is, and takes that turn.
    fn plan_sync(&mut self, Due { op, each }: Due, ring: &mut Ring) {
        let last = self.last_write.file.0 as usize;
        let file = match each || self.left.reached() {
            true => last,
            false => match self.picker.next(&self.places) {
                Pick::None => last,
                Pick::File(file) => file,
                Pick::Open(file) => {
                    self.places[file].open = true;
                    ring.push(control(Op::Open, file));
                    file
                }
            },
        };
        let (offset, len) = match (op, self.places[file].written.take()) {
            // A length of zero reaches to the end of the file.
            (Op::SyncRange, Some((first, last))) => {
                (first, u32::try_from(last - first).unwrap_or(0))
            }
            // Nothing of this file waits to be written back.
            (Op::SyncRange, None) => return,
            _ => (self.last_write.offset, 0),
        };
        ring.push(Planned { offset, len, file: FileId(file as u32), op });
    }

    /// All files are done: is there another pass?
    fn end_pass(&mut self) {
        let more_loops = self.pass < self.spec.loops || self.spec.time_based;
        let one_loop = self.spec.total_bytes.saturating_sub(self.bytes);
        let most = self.spec.sizes.0.iter().map(|sizes| u64::from(sizes.max())).max().unwrap_or(0);
        let rest_wanted = self.spec.io_size_given && one_loop >= most;
        // A pass that found nothing to do would find nothing again.
        let another = self.pass_bytes > 0 && (more_loops || rest_wanted);
        self.state = State::Ended(if another { Refill::PassDone } else { Refill::Done });
    }

    /// Nothing more in this file in this pass.
    fn file_done(&mut self, file: usize, ring: &mut Ring) {
        let place = &mut self.places[file];
        place.done = true;
        if self.picker.limited() && place.open {
            place.open = false;
            self.picker.closed();
            ring.push(control(Op::Close, file));
        }
    }

    /// The file is used up, but the job goes by time, or its files are picked
    /// by a distribution: begin it again.
    fn wrap(&mut self, file: usize, ring: &mut Ring) -> Option<Planned> {
        // Several sequential files are done one by one, then begin a new pass.
        let in_place = self.spec.directions.random || self.places.len() == 1;
        let by_time = self.spec.time_based && in_place;
        if !by_time && self.picker.uniform() {
            return None;
        }
        self.places[file].rewind(&self.spec.files[file], self.spec.strided);
        self.begin_order_anew(file);
        let entry = self.plan_in(file)?;
        if by_time {
            ring.push(control(Op::Invalidate, file));
        }
        Some(entry)
    }

    /// The next I/O in `file`; none if there is nothing more in this pass.
    #[inline]
    fn plan_in(&mut self, file: usize) -> Option<Planned> {
        if let Some(trimmed) = self.places[file].trimmed.take() {
            return Some(Planned { op: Op::Write, ..trimmed });
        }
        let dir = self.mix.next(&self.issued);
        self.enter_zone(file);
        let found = match self.place_in(file, dir) {
            Some(found) => found,
            None => {
                self.begin_zone_again(file)?;
                self.place_in(file, dir)?
            }
        };
        let place = &mut self.places[file];
        let sizes_of = match (self.spec.bs_is_seq_rand, found.random) {
            (false, _) => dir,
            (true, false) => Dir::Read,
            (true, true) => Dir::Write,
        };
        let sizes = &mut self.sizes[sizes_of];
        // A zone's end cuts no I/O, as in fio.
        let used_to = match self.spec.strided {
            Some(_) => used_to(&self.spec.files[file]),
            None => place.start + place.size,
        };
        let end = if sizes.fixed().is_some() { place.end } else { place.end.min(used_to) };
        let mut len = sizes.draw(end.saturating_sub(found.offset))?;
        if let (Some(cover), Some(block)) = (&mut place.cover, found.block) {
            len = cut(cover, block, len, place.units[dir as usize]);
        }
        place.zone_bytes += u64::from(len);
        let entry =
            Planned { offset: found.offset, len, file: FileId(file as u32), op: dir.into() };
        if self.spec.directions.trim_then_write {
            place.trimmed = Some(entry);
        }
        Some(entry)
    }

    /// Where in `file` the next I/O of `dir` begins.
    #[inline]
    fn place_in(&mut self, file: usize, dir: Dir) -> Option<Found> {
        if !self.spec.directions.random {
            return self.sequential(file, dir);
        }
        let fresh = self.run_left == 0;
        if fresh {
            self.run_left = self.spec.seq_nr;
        }
        self.run_left -= 1;
        let random = match self.spec.percentage_random[dir] {
            _ if !fresh => false,
            100 => true,
            0 => false,
            percent => self.seq_rand_draws.percent() <= percent,
        };
        if random {
            return self.random(file, dir);
        }
        if !fresh && self.spec.sequencer == Sequencer::Identical {
            return Some(Found {
                offset: self.places[file].last_start[dir as usize],
                block: None,
                random: false,
            });
        }
        // At the end of the file a new place is drawn, though not marked.
        self.sequential(file, dir).or_else(|| {
            self.random(file, dir).map(|found| Found { block: None, random: false, ..found })
        })
    }

    fn sequential(&self, file: usize, dir: Dir) -> Option<Found> {
        let (place, add) = (&self.places[file], self.spec.seq_add);
        let offset = match self.spec.strided.is_some() && add > 0 {
            true => offsets::sequential_in_zone(place, dir, add, used_to(&self.spec.files[file]))?,
            false => offsets::sequential(place, dir, add)?,
        };
        Some(Found { offset, block: None, random: false })
    }

    /// A place drawn at random, with its block if a map is to be marked.
    #[inline]
    fn random(&mut self, file: usize, dir: Dir) -> Option<Found> {
        let place = &mut self.places[file];
        let (unit, blocks) = (place.units[dir as usize], place.blocks[dir as usize]);
        if blocks == 0 {
            return None;
        }
        let drawn = if let Some(lfsr) = &mut place.lfsr {
            lfsr.draw()?
        } else if let Some(zones) = &mut self.zones {
            zones.draw(dir, blocks, unit, &mut self.offset_draws)
        } else if let Some(skew) = &mut place.skew {
            skew.draw()
        } else if let Some(listed) = &mut place.listed {
            listed.next()
        } else {
            self.offset_draws.below(blocks)
        };
        let block = match &place.cover {
            Some(cover) => cover.free_from(drawn)?,
            None => drawn,
        };
        let offset = block * unit;
        if offset >= place.size {
            return None;
        }
        Some(Found { offset: place.start + offset, block: Some(block), random: true })
    }

    /// In a strided job, go to the next zone once this one has had its bytes.
    #[inline]
    fn enter_zone(&mut self, file: usize) {
        let Some(zone) = self.spec.strided else { return };
        let place = &mut self.places[file];
        if place.zone_bytes < zone.size {
            return;
        }
        place.next_zone(zone, &self.spec.files[file]);
        self.begin_order_anew(file);
    }

    /// In a strided job whose zones want more bytes than they have, begin the one at hand again;
    /// none where there is nothing to begin again.
    fn begin_zone_again(&mut self, file: usize) -> Option<()> {
        let zone = self.spec.strided?;
        let place = &mut self.places[file];
        if place.zone_bytes == 0 || place.size < zone.range {
            return None;
        }
        place.last_end = [place.start; 3];
        place.last_start = [place.start; 3];
        self.begin_order_anew(file);
        Some(())
    }

    /// No block of the file has had its turn.
    fn begin_order_anew(&mut self, file: usize) {
        let place = &mut self.places[file];
        if let Some(cover) = &mut place.cover {
            cover.clear();
        }
        if let Some(lfsr) = &mut place.lfsr {
            lfsr.restart(self.seeds.of(Stream::Offset));
        }
    }
}

/// A place found for an I/O.
struct Found {
    offset: u64,
    /// The block to mark in the map.
    block: Option<u64>,
    random: bool,
}

/// Where the range of a file ends that the job uses.
fn used_to(file: &SourceFile) -> u64 {
    file.offset + file.size
}

/// Mark the blocks of an I/O, and cut it where it meets one that is visited.
#[inline]
fn cut(cover: &mut Cover, block: u64, len: u32, unit: u64) -> u32 {
    if u64::from(len) == unit {
        cover.visit_from(block);
        return len;
    }
    let wanted = u64::from(len).div_ceil(unit);
    let got = cover.visit_run(block, wanted);
    if got < wanted { (got * unit) as u32 } else { len }
}

/// Beside a recording nothing is drawn; the least that is sound.
fn draws_nothing() -> SourceSpec {
    let file = SourceFile { size: 4096, end: 4096, ..SourceFile::default() };
    SourceSpec { files: vec![file], ..SourceSpec::default() }
}

fn control(op: Op, file: usize) -> Planned {
    Planned { op, file: FileId(file as u32), ..Planned::default() }
}

fn check(spec: &SourceSpec) -> Result<(), SpecError> {
    if spec.files.is_empty() {
        return Err(SpecError::NoFile);
    }
    if spec.rwmixread > 100 || spec.percentage_random.0.iter().any(|percent| *percent > 100) {
        return Err(SpecError::BadPercentage);
    }
    if spec.seq_nr == 0 || spec.loops == 0 {
        return Err(SpecError::BadCount);
    }
    // So that no sum of places overflows.
    const MOST: u64 = i64::MAX as u64;
    for file in &spec.files {
        if file.offset.checked_add(file.size).is_none_or(|end| end.max(file.end) > MOST) {
            return Err(SpecError::FileTooLarge { name: file.name.clone() });
        }
    }
    if let Some(zone) = spec.strided {
        if zone.range > MOST || zone.skip > MOST / 2 {
            return Err(SpecError::BadZones);
        }
        if zone.size == 0 || zone.range == 0 {
            return Err(SpecError::BadZones);
        }
    }
    Ok(())
}
