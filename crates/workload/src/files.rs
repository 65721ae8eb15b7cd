//! Which file is next, and where each stands.

use iosonde_base::{Dir, Planned};

use crate::cover::Cover;
use crate::offsets::{Listed, Skew};
use crate::random::{Draws, Lfsr};
use crate::spec::{FilePick, FileService, SourceFile, Strided};
use crate::streams::{Seeds, Stream};

/// Where one file stands.
#[derive(Debug)]
pub(crate) struct Place {
    /// First byte used; strided zones move it.
    pub start: u64,
    /// Bytes used from `start` on.
    pub size: u64,
    /// No I/O reaches past it.
    pub end: u64,
    /// What random places of each direction are multiples of, in bytes.
    pub units: [u64; 3],
    /// How many such places there are from `start` on.
    pub blocks: [u64; 3],
    /// Where the last I/O of each direction ended.
    pub last_end: [u64; 3],
    /// Where it began.
    pub last_start: [u64; 3],
    /// Blocks visited in this pass.
    pub cover: Option<Cover>,
    /// The shift register, instead of draws and map.
    pub lfsr: Option<Lfsr>,
    /// A distribution that is not even.
    pub skew: Option<Skew>,
    /// Blocks in the order listed.
    pub listed: Option<Listed>,
    /// Bytes of I/O in the zone at hand.
    pub zone_bytes: u64,
    /// Nothing more to do in this pass.
    pub done: bool,
    /// The ring has opened it.
    pub open: bool,
    /// The last trim, if its write has yet to follow.
    pub trimmed: Option<Planned>,
    /// First and last byte written since the last `SyncRange`.
    pub written: Option<(u64, u64)>,
}

impl Place {
    /// At the start of `file`, random places being multiples of `units`.
    pub fn new(file: &SourceFile, units: [u64; 3], zone: Option<Strided>) -> Place {
        let mut place = Place {
            start: 0,
            size: 0,
            end: file.end,
            units,
            blocks: [0; 3],
            last_end: [0; 3],
            last_start: [0; 3],
            cover: None,
            lfsr: None,
            skew: None,
            listed: None,
            zone_bytes: 0,
            done: false,
            open: false,
            trimmed: None,
            written: None,
        };
        place.rewind(file, zone);
        place
    }

    /// Back to the start, of the first zone if there are zones, for the next pass.
    pub fn rewind(&mut self, file: &SourceFile, zone: Option<Strided>) {
        self.use_range(file.offset, zone.map_or(file.size, |zone| zone.range.min(file.size)));
        self.last_end = [file.offset; 3];
        self.last_start = [file.offset; 3];
        if let Some(listed) = &mut self.listed {
            listed.restart();
        }
        self.zone_bytes = 0;
        self.trimmed = None;
        self.done = false;
    }

    /// Use these bytes from now on.
    pub fn use_range(&mut self, start: u64, size: u64) {
        (self.start, self.size) = (start, size);
        let whole = size.min(self.end.saturating_sub(start));
        self.blocks = self.units.map(|unit| whole / unit);
    }

    /// Move on to the next zone of a strided job: past the rest of this one and
    /// the gap, or back to the first where none is left.
    pub fn next_zone(&mut self, zone: Strided, file: &SourceFile) {
        self.zone_bytes = 0;
        let end = file.offset + file.size;
        let next = self.start + zone.range + zone.skip;
        let start = if next < end { next } else { file.offset };
        self.use_range(start, zone.range.min(end - start));
        self.last_end = [self.start; 3];
        self.last_start = [self.start; 3];
    }

    /// Note an I/O that has been planned.
    #[inline]
    pub fn went(&mut self, entry: &Planned) {
        if let Some(dir) = entry.op.dir() {
            let end = entry.offset + u64::from(entry.len);
            self.last_start[dir as usize] = entry.offset;
            self.last_end[dir as usize] = end;
            if dir == Dir::Write {
                self.written = Some(match self.written {
                    Some((first, last)) => (first.min(entry.offset), last.max(end)),
                    None => (entry.offset, end),
                });
            }
        }
    }
}

/// Picks files.
#[derive(Debug)]
pub(crate) struct Picker {
    service: FileService,
    /// The file at hand.
    now: usize,
    /// I/Os left before another is picked.
    left: u32,
    /// Where the turn goes on.
    turn: usize,
    draws: Draws,
    skew: Option<Skew>,
    /// How many may be open, and how many are.
    open_most: usize,
    open: usize,
}

/// How often a file is drawn again because it is done or cannot be opened: a
/// distribution may hardly ever, or never, come to what is left.
const TRIES: u32 = 100_000;

/// What the picker says.
pub(crate) enum Pick {
    /// This file, which is open or need not be opened.
    File(usize),
    /// This file, and open it first.
    Open(usize),
    /// All are done.
    None,
}

impl Picker {
    /// Picks among files by `service`; opens and closes are told only if not
    /// all `files` may be open at once.
    pub fn new(
        service: FileService,
        files: usize,
        open_files: usize,
        skew: Option<Skew>,
        seeds: &Seeds,
    ) -> Picker {
        let open_most = if open_files < files { open_files.max(1) } else { usize::MAX };
        Picker { service, now: 0, left: 0, turn: 0, draws: draws(seeds), skew, open_most, open: 0 }
    }

    /// From the first file again, for the next pass.
    pub fn rewind(&mut self) {
        (self.now, self.left, self.turn) = (0, 0, 0);
    }

    /// Draw the same files again.
    pub fn restart(&mut self, seeds: &Seeds) {
        self.draws = draws(seeds);
        if let Some(skew) = &mut self.skew {
            skew.restart();
        }
    }

    /// Whether files must be opened and closed on the way.
    pub fn limited(&self) -> bool {
        self.open_most != usize::MAX
    }

    /// Whether a file without free blocks is done (or starts over).
    pub fn uniform(&self) -> bool {
        self.skew.is_none()
    }

    /// The file for the next I/O.
    pub fn next(&mut self, places: &[Place]) -> Pick {
        if let [only] = places {
            return if only.done { Pick::None } else { Pick::File(0) };
        }
        if self.left > 0 && !places[self.now].done {
            self.left -= 1;
            return self.told(places);
        }
        let usable = |place: &Place| !place.done && (place.open || self.open < self.open_most);
        self.now = match self.service.pick {
            FilePick::RoundRobin if usable(&places[self.turn]) => {
                let found = self.turn;
                self.turn = if found + 1 == places.len() { 0 } else { found + 1 };
                found
            }
            FilePick::RoundRobin => {
                let files = places.len();
                // None is usable only when all are done: what is open and not
                // done would be, and the done have made room for the others.
                let found =
                    (0..files).map(|i| (self.turn + i) % files).find(|&i| usable(&places[i]));
                let Some(found) = found else { return Pick::None };
                self.turn = (found + 1) % files;
                found
            }
            FilePick::Sequential if usable(&places[self.now]) => self.now,
            FilePick::Sequential => match places.iter().position(usable) {
                Some(found) => found,
                None => return Pick::None,
            },
            _ => {
                if !places.iter().any(usable) {
                    return Pick::None;
                }
                let mut tries = 0;
                loop {
                    tries += 1;
                    if tries > TRIES {
                        break places.iter().position(usable).unwrap_or(0);
                    }
                    let drawn = match &mut self.skew {
                        Some(skew) => skew.draw() as usize,
                        None => self.draws.below(places.len() as u64) as usize,
                    };
                    if places.get(drawn).is_some_and(usable) {
                        break drawn;
                    }
                }
            }
        };
        self.left = self.service.every.saturating_sub(1);
        self.told(places)
    }

    fn told(&mut self, places: &[Place]) -> Pick {
        if self.limited() && !places[self.now].open {
            self.open += 1;
            return Pick::Open(self.now);
        }
        Pick::File(self.now)
    }

    /// A file has been closed.
    pub fn closed(&mut self) {
        self.open = self.open.saturating_sub(1);
    }
}

fn draws(seeds: &Seeds) -> Draws {
    Draws::new(false, seeds.of(Stream::File))
}
