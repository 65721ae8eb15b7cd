//! What comes next: the planner that fills the ring.

use iosonde_base::{Dir, FileId, Op, PerDir, Planned, Ring};

use crate::file::FileState;
use crate::files;
use crate::limits::Limits;
use crate::mix::Mix;
use crate::offsets::{self, FileLaw, Zones};
use crate::picker::{FilePicker, Pick};
use crate::plain::FastPath;
use crate::random::Draws;
use crate::replay::Replaying;
use crate::sizes::{self, SizeDraws};
use crate::spec::{SourceFile, SourceSpec, SpecError};
use crate::sprandom::Sprandom;
use crate::streams::{Seeds, Stream};
use crate::syncs::Syncs;
use crate::zbd::{ZbdJob, ZoneStep};

/// What [`Source::refill`] returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refill {
    /// The ring has entries.
    Planned,
    /// The ring is empty: this pass over the files is done, and there is
    /// another. Let what is in flight complete, do what belongs between passes
    /// (verify, close, invalidate, open), then call [`Source::next_pass`].
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
    pub(crate) files: Vec<FileState>,
    pub(crate) offset_draws: Draws,
    pub(crate) fast_path: FastPath,
    /// Bytes of each I/O that follows the last one; zero where that takes more to say.
    pub(crate) in_order: u32,
    pub(crate) limits: Limits,
    pub(crate) picker: FilePicker,
    pub(crate) mix: Mix,
    pub(crate) sizes: SizeDraws,
    pub(crate) seq_rand_draws: PerDir<Draws>,
    pub(crate) zones: Option<Zones>,
    /// Bytes of I/O in the strided zone at hand, in all files.
    pub(crate) zone_bytes: u64,
    pub(crate) syncs: Syncs,
    /// I/Os left of a run of `randread:N`.
    pub(crate) run_left: u32,
    /// A place in order was tried since the last I/O of a random job.
    pub(crate) tried_in_order: bool,
    /// Sequential I/O goes round within a pass.
    pub(crate) begins_again: bool,
    /// A file to drop from the page cache before the next I/O.
    pub(crate) invalidate: Option<usize>,
    /// I/Os planned in each direction over the whole job.
    pub(crate) issued: [u64; 3],
    /// The last write, for the place of a sync.
    pub(crate) last_write: Planned,
    state: State,
    /// What comes next depends on what the last entry did: one entry at a time.
    one_at_a_time: bool,
    /// The job among its zones, with `zonemode=zbd`.
    pub(crate) zbd: Option<Box<ZbdJob>>,
    /// The pass of a job with `sprandom`.
    pub(crate) sprandom: Option<Box<Sprandom>>,
    notes: Vec<String>,
    /// What was recorded, instead of all that.
    pub(crate) replaying: Option<Box<Replaying>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Running,
    Ended(Refill),
}

/// The most entries that one step adds to the ring: an open, an invalidation,
/// an I/O.
pub(crate) const STEP_MOST: usize = 3;

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
        let files = files::files(&spec, &seeds, &mut notes)?;
        let file_law = FileLaw::of(&spec, &seeds)?;
        let zones = Zones::new(&spec.distribution, &seeds)?;
        let zbd = ZbdJob::new(&spec).map(Box::new);
        let sprandom = sprandom(&spec, &files, &seeds)?;
        let mut source = Source {
            picker: FilePicker::new(&spec, file_law, &seeds),
            offset_draws: Draws::new(wide, seeds.of(Stream::Offset)),
            seq_rand_draws: seq_rand_draws(&seeds),
            limits: Limits::new(&spec),
            syncs: Syncs::new(spec.sync_every),
            zone_bytes: 0,
            run_left: 0,
            tried_in_order: false,
            begins_again: begins_again(&spec),
            invalidate: None,
            issued: [0; 3],
            last_write: Planned::default(),
            state: State::Running,
            one_at_a_time: mix.depends_on_time() || zbd.is_some(),
            zbd,
            sprandom,
            fast_path: FastPath::None,
            in_order: 0,
            replaying,
            notes,
            spec,
            seeds,
            files,
            mix,
            sizes,
            zones,
        };
        source.fast_path = FastPath::of(&mut source);
        source.in_order = source.len_in_order();
        source.draw_ahead();
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

    /// I/Os that were taken of those planned into `ring`, over the whole job.
    pub fn taken(&self, ring: &Ring) -> u64 {
        let waiting = ring.as_slice().iter().filter(|entry| entry.op.dir().is_some()).count();
        self.issued.iter().sum::<u64>().saturating_sub(waiting as u64)
    }

    /// End the job after so many more I/Os, those that wait in `ring` among them, if it does not
    /// end before.
    pub fn end_after(&mut self, ring: &mut Ring, more: u64) {
        let waiting = ring.keep_ios(more);
        self.limits.end_after(more - waiting);
        if more == waiting {
            self.state = State::Ended(Refill::Done);
        }
    }

    /// Note how much time has passed since the job's pace began, in
    /// nanoseconds, before a refill. Only a mix of which a direction has a rate
    /// depends on it: [`Source::depends_on_time`].
    pub fn set_elapsed(&mut self, ns: u64) {
        self.mix.set_elapsed(ns);
    }

    /// Whether [`Source::set_elapsed`] makes a difference.
    pub fn depends_on_time(&self) -> bool {
        self.mix.depends_on_time()
    }

    /// When each entry that the last refill planned is due, in nanoseconds
    /// since the recording began; empty where nothing was recorded.
    pub fn dues(&self) -> &[u64] {
        self.replaying.as_ref().map_or(&[], |replaying| replaying.dues())
    }

    /// Whether a sync was the last thing planned, or done besides.
    pub fn last_was_sync(&self) -> bool {
        self.syncs.last_was_sync()
    }

    /// All files have been synced, which was not planned here.
    pub fn note_sync(&mut self) {
        self.syncs.note_sync();
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
        let limited = self.picker.limited();
        for file in &mut self.files {
            file.begin_pass();
            file.open &= !limited;
        }
        self.picker.begin_pass();
        self.mix.begin_pass();
        self.limits.begin_pass();
        if let Some(zbd) = &mut self.zbd {
            zbd.begin_pass();
        }
        if let Some(sprandom) = &mut self.sprandom {
            sprandom.begin_pass();
        }
        self.zone_bytes = 0;
        self.state = State::Running;
    }

    /// Draw the same numbers again; those of the laws that places are drawn by
    /// go on, as in fio.
    fn restart_streams(&mut self) {
        let seeds = &self.seeds;
        let wide = matches!(self.offset_draws, Draws::Wide(_));
        self.offset_draws = Draws::new(wide, seeds.of(Stream::Offset));
        self.seq_rand_draws = seq_rand_draws(seeds);
        self.mix.restart(seeds);
        self.picker.restart(seeds);
        sizes::restart(&mut self.sizes, &self.spec, seeds);
        if let Some(zones) = &mut self.zones {
            zones.restart(seeds);
        }
        self.draw_ahead();
    }

    /// Make numbers many at once, where the fast path does not do so itself.
    fn draw_ahead(&mut self) {
        self.mix.draw_ahead();
        use FastPath::{DrawnOnce, Files, Steady};
        if !matches!(self.fast_path, DrawnOnce(..) | Steady | Files(_)) {
            return;
        }
        self.sizes.0.iter_mut().for_each(|sizes| sizes.draws.make_ahead());
        self.offset_draws.make_ahead();
        self.seq_rand_draws.0.iter_mut().for_each(Draws::make_ahead);
        self.picker.draw_ahead();
        if let Some(zones) = &mut self.zones {
            zones.draw_ahead();
        }
    }

    fn fill(&mut self, ring: &mut Ring) {
        if self.fast_path != FastPath::None {
            self.fill_fast(ring);
            if ring.waiting() > 0 {
                return;
            }
            // What the fast path cannot decide, such as an end, is left to us.
        }
        let preconditions = self.sprandom.is_some();
        // After a sync, a zone or the end of a file, the fast path goes on.
        use FastPath::{Files, Numbered, Steady};
        let goes_on = matches!(self.fast_path, Steady | Files(_) | Numbered(..));
        let one_at_a_time = self.one_at_a_time || goes_on;
        while self.state == State::Running && ring.room() >= STEP_MOST {
            if preconditions {
                self.step(ring, Source::choose_sprandom)
            } else {
                self.step(ring, Source::choose)
            }
            if one_at_a_time && ring.waiting() > 0 {
                return;
            }
        }
    }

    /// Plan an I/O with what belongs to it, or a sync, or end the pass.
    #[inline]
    fn step(&mut self, ring: &mut Ring, choose: impl Fn(&mut Source, usize) -> Option<Planned>) {
        if let Some(file) = self.zone_file_at_hand() {
            return self.step_in_zones(file, ring);
        }
        // A sync after each write is of the file written, and comes after the
        // last one too: what must become durable is there.
        if let Some(op) = self.syncs.due_after_each() {
            let sync = self.sync(self.last_write.file.0 as usize, op);
            return ring.push(sync);
        }
        if self.limits.job_is_over() {
            self.state = State::Ended(Refill::Done);
            return;
        }
        if self.limits.pass_is_over() {
            return self.end_pass(false);
        }
        let Some(file) = self.pick_file(ring) else { return self.end_pass(true) };
        // Any other is of the file in turn, and takes that turn.
        if let Some(op) = self.syncs.due() {
            let sync = self.sync(file, op);
            return ring.push(sync);
        }
        if self.zbd.is_some() {
            return self.step_in_zones(file, ring);
        }
        match choose(self, file) {
            Some(entry) => self.issue(entry, ring),
            None => self.none_chosen(file, ring),
        }
    }

    /// Nothing more was chosen in `file`: plan its first I/O again, or end it.
    pub(crate) fn none_chosen(&mut self, file: usize, ring: &mut Ring) {
        match self.begin_file_again(file) {
            Some(entry) => self.issue(entry, ring),
            None => self.end_file(file, ring),
        }
    }

    /// Plan the next I/O in `file` among its zones, or a command to one.
    #[cold]
    fn step_in_zones(&mut self, file: usize, ring: &mut Ring) {
        match self.zone_step(file) {
            ZoneStep::Command(command) => ring.push(command),
            ZoneStep::Issue(entry) => {
                if self.spec.directions.trim_then_write && entry.op == Op::Trim {
                    self.files[file].trimmed = Some(entry);
                }
                self.issue(entry, ring);
                let planned = self.zone_issued(entry);
                if let Some(last) = ring.as_mut_slice().last_mut() {
                    *last = planned;
                }
            }
            ZoneStep::Done if self.begins_file_again(file) => self.step_in_zones(file, ring),
            ZoneStep::Done => self.end_file(file, ring),
        }
    }

    /// As [`Source::begin_file_again`], for a job among zones: whether there is something to do.
    fn begins_file_again(&mut self, file: usize) -> bool {
        let by_time = self.spec.time_based && self.spec.directions.random;
        let did_something =
            self.files[file].last_end.iter().any(|&end| end > self.files[file].start);
        if !(by_time || self.picker.by_law()) || !did_something {
            return false;
        }
        self.files[file].rewind();
        if by_time {
            self.invalidate = Some(file);
        }
        true
    }

    fn pick_file(&mut self, ring: &mut Ring) -> Option<usize> {
        match self.picker.next(&self.files) {
            Pick::None => None,
            Pick::File(file) => Some(file),
            Pick::Open(file) => {
                self.files[file].open = true;
                ring.push(control(Op::Open, file));
                Some(file)
            }
        }
    }

    /// A sync of `file`.
    fn sync(&mut self, file: usize, op: Op) -> Planned {
        let (offset, len) = match (op, self.files[file].written.take()) {
            // A length of zero reaches to the end of the file.
            (Op::SyncRange, Some((first, last))) => {
                (first, u32::try_from(last - first).unwrap_or(0))
            }
            // Nothing of this file waits to be written back; it is counted.
            (Op::SyncRange, None) => (self.files[file].start, 1),
            _ => (self.last_write.offset, 0),
        };
        Planned { offset, len, file: FileId(file as u32), op }
    }

    /// Plan an I/O, and note it.
    #[inline]
    pub(crate) fn issue(&mut self, entry: Planned, ring: &mut Ring) {
        if let Some(file) = self.invalidate.take() {
            ring.push(control(Op::Invalidate, file));
        }
        self.files[entry.file.0 as usize].issued(&entry);
        if let Some(dir) = entry.op.dir() {
            self.issued[dir as usize] += 1;
        }
        if entry.op == Op::Write {
            self.last_write = entry;
        }
        self.zone_bytes += u64::from(entry.len);
        self.tried_in_order = false;
        self.limits.issued(1, u64::from(entry.len));
        self.syncs.issued(entry.op);
        self.mix.issued(&entry);
        ring.push(entry);
    }

    /// Note `count` I/Os of `bytes` in all, planned in the first file of a job without syncs, the
    /// last being `last`.
    pub(crate) fn issued_all(&mut self, dir: Dir, count: u64, bytes: u64, last: &Planned) {
        self.files[0].last_start[dir as usize] = last.offset;
        self.files[0].last_end[dir as usize] = last.offset + u64::from(last.len);
        self.issued[dir as usize] += count;
        self.limits.issued(count, bytes);
        self.syncs.issued(last.op);
    }

    /// This pass is over: is there another?
    fn end_pass(&mut self, files_done: bool) {
        let another = self.limits.another_pass(files_done);
        self.state = State::Ended(if another { Refill::PassDone } else { Refill::Done });
    }

    /// Nothing more in this file in this pass.
    fn end_file(&mut self, file: usize, ring: &mut Ring) {
        let state = &mut self.files[file];
        state.done = true;
        if self.picker.limited() && state.open {
            state.open = false;
            self.picker.closed();
            ring.push(control(Op::Close, file));
        }
    }

    /// The file is used up, but the job ends by time, or its files are picked
    /// by a law: begin it again.
    fn begin_file_again(&mut self, file: usize) -> Option<Planned> {
        // Several sequential files are done one by one, then begin a new pass; as in fio, one file
        // that is read back after a pass does, too.
        let one = self.files.len() == 1 && self.spec.pass_bytes_most() == u64::MAX;
        let in_place = self.spec.directions.random || one;
        let by_time = self.spec.time_based && in_place;
        if !by_time && !self.picker.by_law() {
            return None;
        }
        self.files[file].rewind();
        let entry = self.choose(file)?;
        if by_time {
            self.invalidate = Some(file);
        }
        Some(entry)
    }
}

/// Whether sequential I/O that comes to the end of the range goes round.
fn begins_again(spec: &SourceSpec) -> bool {
    if spec.time_based {
        spec.directions.random || spec.files.len() == 1
    } else {
        spec.directions.write && spec.io_size_given && spec.total_bytes > spec.size_bytes
    }
}

fn seq_rand_draws(seeds: &Seeds) -> PerDir<Draws> {
    PerDir::all(Draws::new(false, seeds.of(Stream::SequentialOrRandom)))
}

/// Beside a recording nothing is drawn; the least that is sound.
fn draws_nothing() -> SourceSpec {
    let file = SourceFile { size: 4096, end: 4096, ..SourceFile::default() };
    SourceSpec { files: vec![file], ..SourceSpec::default() }
}

/// A pass over the blocks of the job's file.
fn sprandom(
    spec: &SourceSpec,
    files: &[FileState],
    seeds: &Seeds,
) -> Result<Option<Box<Sprandom>>, SpecError> {
    let Some(asked) = &spec.sprandom else { return Ok(None) };
    let [file] = files else { return Err(SpecError::SprandomOfOneFile) };
    let grid = file.grids[Dir::Write as usize];
    let pass = Sprandom::new(asked, grid.places, grid.unit, seeds.of(Stream::Sprandom))?;
    Ok(Some(Box::new(pass)))
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
        let fits = |offset: u64| offset.checked_add(file.size).is_some_and(|end| end <= MOST);
        if !fits(file.offset) || !fits(file.later_offset.unwrap_or(0)) || file.end > MOST {
            return Err(SpecError::FileTooLarge { name: file.name.clone() });
        }
    }
    if let Some(zone) = spec.strided {
        if zone.range > MOST / 2 || zone.skip > MOST / 2 {
            return Err(SpecError::BadZones);
        }
        if zone.size == 0 || zone.range == 0 {
            return Err(SpecError::BadZones);
        }
    }
    Ok(())
}
