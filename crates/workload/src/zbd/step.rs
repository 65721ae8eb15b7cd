//! The next I/O of a job among zones: drawn as without them, then placed.
//!
//! One entry at a time, as what comes next depends on what the last one did to its zone.

use super::job::{Drawn, Placed, ZbdJob, command};
use super::read::{place_read, place_trim};
use super::write::WritePlacement;
use crate::source::Source;
use iosonde_base::{Dir, FileId, Op, Planned};

/// What comes next.
pub(crate) enum ZoneStep {
    /// This I/O.
    Issue(Planned),
    /// This command, and then it is to be asked again.
    Command(Planned),
    /// Nothing more in this file.
    Done,
}

impl Source {
    /// Whether an I/O was drawn and waits for its place, or commands wait: in which file.
    pub(crate) fn zone_file_at_hand(&self) -> Option<usize> {
        let job = self.zbd.as_ref()?;
        let waiting = job.before.front().map(|command| command.file.0 as usize);
        waiting.or(job.drawn.map(|drawn| drawn.file))
    }

    /// The next entry in `file`.
    pub(crate) fn zone_step(&mut self, file: usize) -> ZoneStep {
        if let Some(command) = self.next_before() {
            return ZoneStep::Command(command);
        }
        let drawn = self.zbd.as_mut().and_then(|job| job.drawn.take());
        let Some(mut drawn) = drawn.or_else(|| self.draw_zoned(file)) else {
            return ZoneStep::Done;
        };
        loop {
            match self.place_in_zones(&mut drawn) {
                Placed::At { offset, len } => {
                    let op = drawn.dir.into();
                    let len = self.note_in_map(file, drawn.dir, &drawn.start, len);
                    return ZoneStep::Issue(Planned { offset, len, file: FileId(file as u32), op });
                }
                Placed::Nowhere => match self.write_instead(&drawn) {
                    Some(write) => drawn = write,
                    None => return ZoneStep::Done,
                },
                first => {
                    let Some(command) = self.command_for(first, &drawn) else { continue };
                    if let Some(job) = &mut self.zbd {
                        job.drawn = Some(drawn);
                    }
                    return ZoneStep::Command(command);
                }
            }
        }
    }

    /// The next of the commands that come before anything is drawn. A zone that another job
    /// writes is waited for.
    fn next_before(&mut self) -> Option<Planned> {
        let job = self.zbd.as_mut()?;
        let next = *job.before.front()?;
        let table = job.spec.files[next.file.0 as usize].lock();
        if next.op == Op::ZoneReset && table.is_busy(table.zone_at(next.offset)) {
            return Some(Planned { op: Op::ZoneWait, ..next });
        }
        drop(table);
        job.before.pop_front()
    }

    /// An I/O as without zones. In a job that reads and writes, the first of a file writes:
    /// there may be nothing to read.
    fn draw_zoned(&mut self, file: usize) -> Option<Drawn> {
        if let Some(trimmed) = self.files[file].trimmed.take() {
            return self.drawn_at(file, Dir::Write, trimmed.offset, trimmed.len);
        }
        let drawn = self.mix.next(&self.issued);
        let job = self.zbd.as_ref()?;
        let mixed = self.mix.is_mixed() && !job.rules.read_beyond_wp;
        let dir = if mixed && !job.wrote[file] { Dir::Write } else { drawn };
        self.draw_in(file, dir)
    }

    fn draw_in(&mut self, file: usize, dir: Dir) -> Option<Drawn> {
        self.skip_zone(file, dir);
        let start = self.start(file, dir)?;
        let len = self.drawn_size(file, dir, &start)?;
        let zone = self.zbd.as_ref()?.spec.files[file].lock().zone_at(start.offset);
        Some(Drawn::new(file, dir, start, len, zone))
    }

    fn drawn_at(&mut self, file: usize, dir: Dir, offset: u64, len: u32) -> Option<Drawn> {
        let zone = self.zbd.as_ref()?.spec.files[file].lock().zone_at(offset);
        let start = crate::choose::ChosenStart { offset, block: None, random: false };
        Some(Drawn::new(file, dir, start, len, zone))
    }

    /// In a job that reads and writes, a read that finds nothing becomes a write: fio ends the
    /// file there.
    fn write_instead(&mut self, drawn: &Drawn) -> Option<Drawn> {
        let is_read = drawn.dir == Dir::Read;
        if is_read && self.mix.is_mixed() { self.draw_in(drawn.file, Dir::Write) } else { None }
    }

    /// `zoneskip`: a job in order that has used up a zone goes on after a gap.
    fn skip_zone(&mut self, file: usize, dir: Dir) {
        let Some(job) = &self.zbd else { return };
        let (skip, state) = (job.spec.skip, &mut self.files[file]);
        let last = state.last_end[dir as usize];
        if skip == 0 || job.rules.random || last <= state.start {
            return;
        }
        let table = job.spec.files[file].lock();
        let zone = table.zone_at(last - 1);
        let at_pointer =
            dir == Dir::Read && table.is_sequential(zone) && last >= table.pointer(zone);
        if last < table.end(zone) && !at_pointer {
            return;
        }
        let end = state.first + state.range;
        state.start += table.zone_bytes() + skip;
        if state.start >= end {
            state.start = state.first;
        }
        state.last_end[dir as usize] = state.start;
    }

    fn place_in_zones(&mut self, drawn: &mut Drawn) -> Placed {
        let Some(job) = &mut self.zbd else { return Placed::Nowhere };
        let period = job.period();
        let ZbdJob { spec, rules, ranges, countdown, .. } = &mut **job;
        let range = &ranges[drawn.file];
        let mut table = spec.files[drawn.file].lock();
        match drawn.dir {
            Dir::Read => place_read(&table, range, rules, drawn),
            Dir::Trim => place_trim(&table, range, rules, drawn),
            Dir::Write => {
                let share = spec.reset.map_or(0.0, |rule| rule.threshold);
                let threshold = (range.bytes as f64 * share) as u64;
                let table = &mut *table;
                WritePlacement { table, range, rules, countdown, period, threshold }.place(drawn)
            }
        }
    }

    /// The command that has to be done before a drawn I/O is placed; none where it was done at
    /// once, as nothing is really written.
    fn command_for(&mut self, first: Placed, drawn: &Drawn) -> Option<Planned> {
        let job = self.zbd.as_mut()?;
        let start = |zone: usize| job.spec.files[drawn.file].lock().start(zone);
        let command = match first {
            Placed::AfterReset(zone) => command(Op::ZoneReset, drawn.file, start(zone)),
            Placed::AfterFinish(zone) => command(Op::ZoneFinish, drawn.file, start(zone)),
            _ => command(Op::ZoneWait, drawn.file, drawn.start.offset),
        };
        if job.spec.imagined && command.op != Op::ZoneWait {
            self.zone_command_done(&command);
            return None;
        }
        Some(command)
    }

    /// Note what was planned, for the next: `entry` goes into the ring as it is returned.
    pub(crate) fn zone_issued(&mut self, entry: Planned) -> Planned {
        let Some(job) = &mut self.zbd else { return entry };
        let file = entry.file.0 as usize;
        let table = job.spec.files[file].lock();
        let zone = table.zone_at(entry.offset);
        let end = entry.offset + u64::from(entry.len);
        let (is_sequential, zone_end) = (table.is_sequential(zone), table.end(zone));
        let is_used_up = end == table.start(zone) + table.written(zone) + table.left(zone);
        drop(table);
        job.wrote[file] |= entry.op == Op::Write;
        if is_sequential && is_used_up {
            // What lies between the capacity and the end of the zone holds nothing.
            let dir = entry.op.dir().map_or(0, |dir| dir as usize);
            self.files[file].last_end[dir] = zone_end;
        }
        let imagined = job.spec.imagined;
        match entry.op {
            Op::Trim if is_sequential => {
                let trim = Planned { op: Op::ZoneTrim, ..entry };
                if imagined {
                    self.zone_command_done(&trim);
                }
                trim
            }
            Op::Write if imagined => {
                self.zone_write_ended(&entry, true);
                entry
            }
            _ => entry,
        }
    }

    /// A write has ended, wholly (`done`) or with an error: the pointer of its zone moves, or
    /// stays. The next write of the zone can be placed.
    pub fn zone_write_ended(&mut self, entry: &Planned, done: bool) {
        let Some(job) = &mut self.zbd else { return };
        let share = &job.spec.files[entry.file.0 as usize];
        let mut table = share.lock();
        let zone = table.zone_at(entry.offset);
        if !table.is_sequential(zone) {
            return;
        }
        if !done && job.spec.recover && table.is_busy(zone) {
            let end = entry.offset + u64::from(entry.len);
            job.before.push_back(Planned { op: Op::ZoneRecover, offset: end, ..*entry });
            return;
        }
        table.end_write(zone, if done { entry.len.into() } else { 0 });
        drop(table);
        share.notify();
    }

    /// A command to a zone was done.
    pub fn zone_command_done(&mut self, command: &Planned) {
        let Some(job) = &mut self.zbd else { return };
        let share = &job.spec.files[command.file.0 as usize];
        let mut table = share.lock();
        match command.op {
            Op::ZoneReset | Op::ZoneTrim => {
                let zone = table.zone_at(command.offset);
                job.resets += u64::from(table.written(zone) > 0);
                table.reset(zone);
                if command.op == Op::ZoneTrim {
                    table.close(zone);
                }
            }
            Op::ZoneFinish => {
                let zone = table.zone_at(command.offset);
                table.finish(zone);
            }
            Op::ZoneRecover => {
                let zone = table.zone_at(command.offset.saturating_sub(1));
                let written = command.offset - table.start(zone);
                table.move_pointer(zone, written);
                if table.left(zone) == 0 {
                    table.close(zone);
                }
            }
            _ => return,
        }
        drop(table);
        share.notify();
    }

    /// Wait until a write of another job to the zones of a file has ended, or for a moment.
    pub fn wait_for_zone(&self, file: FileId) {
        if let Some(job) = &self.zbd {
            job.spec.files[file.0 as usize].wait(job.rules.job);
        }
    }

    /// The zone that a command is about: its first byte, its length, and whether it holds data.
    pub fn zone_of(&self, command: &Planned) -> Option<ZoneAtHand> {
        let table = self.zbd.as_ref()?.spec.files[command.file.0 as usize].lock();
        let inside = match command.op {
            Op::ZoneRecover => command.offset.saturating_sub(1),
            _ => command.offset,
        };
        let zone = table.zone_at(inside);
        let (start, bytes) = (table.start(zone), table.zone_bytes());
        Some(ZoneAtHand { start, bytes, holds_data: table.written(zone) > 0 })
    }

    /// Zones that held data and were reset so far.
    pub fn zone_resets(&self) -> u64 {
        self.zbd.as_ref().map_or(0, |job| job.resets)
    }

    /// Count resets from 0: the ramp is over.
    pub fn clear_zone_resets(&mut self) {
        if let Some(job) = &mut self.zbd {
            job.resets = 0;
        }
    }

    /// Why nothing was done among the zones of a file; none without `zonemode=zbd`.
    pub(crate) fn idle_zones(&self, file: usize) -> Option<String> {
        let zbd = &self.zbd.as_ref()?.spec;
        let (name, least) = (&self.spec.files[file].name, self.spec.least());
        let table = zbd.files[file].lock();
        let roomy = (0..table.len()).any(|zone| table.written(zone) + table.left(zone) >= least);
        Some(match self.spec.directions.write {
            true if roomy => format!("no zone of {name} may be written"),
            true => format!("no zone of {name} has the capacity for an I/O of {least} bytes"),
            false => format!(
                "no zone of {name} holds {least} bytes below its write pointer; emulated zones \
                 are empty at the start of each run (read_beyond_wp=1 reads beyond the pointers)"
            ),
        })
    }
}

/// The zone that a command is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneAtHand {
    /// Its first byte.
    pub start: u64,
    /// Its length.
    pub bytes: u64,
    /// Whether anything is written in it.
    pub holds_data: bool,
}
