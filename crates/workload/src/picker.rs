//! Which file the next I/O goes to.

use crate::file::FileState;
use crate::offsets::FileLaw;
use crate::random::{Draws, scale};
use crate::spec::{FilePick, SourceSpec};
use crate::streams::{Seeds, Stream};

/// Picks files.
#[derive(Debug)]
pub(crate) struct FilePicker {
    pick: FilePick,
    /// The file at hand.
    now: usize,
    /// I/Os left before another is picked, and how many there are after that.
    left: u32,
    left_after: u32,
    /// Where the turn goes on.
    turn: usize,
    draws: Draws,
    law: Option<FileLaw>,
    wide: bool,
    /// How many may be open, and how many are.
    open_most: usize,
    open: usize,
}

/// How often a file is drawn again because it is done or cannot be opened: a
/// distribution may hardly ever, or never, come to what is left.
const TRIES: u32 = 100_000;

/// What the picker decides.
pub(crate) enum Pick {
    /// This file, which is open or need not be opened.
    File(usize),
    /// This file, and open it first.
    Open(usize),
    /// All are done.
    None,
}

impl FilePicker {
    /// Picks among the files of a job; says which to open only if not all of
    /// them may be open at once.
    pub fn new(spec: &SourceSpec, law: Option<FileLaw>, seeds: &Seeds) -> FilePicker {
        let limited = spec.open_files < spec.files.len();
        let wide = spec.is_wide();
        FilePicker {
            pick: spec.file_service.pick,
            now: 0,
            left: 0,
            left_after: match spec.file_service.pick {
                FilePick::Sequential => u32::MAX,
                _ => spec.file_service.every.saturating_sub(1),
            },
            turn: 0,
            draws: draws(seeds, wide),
            law,
            wide,
            open_most: if limited { spec.open_files.max(1) } else { usize::MAX },
            open: 0,
        }
    }

    /// For the next pass: no file is open. The file in turn, and how many turns
    /// are left, stays, as in fio; but files one after the other begin with the first.
    pub(crate) fn begin_pass(&mut self) {
        self.open = 0;
        if self.pick == FilePick::Sequential {
            (self.turn, self.left) = (0, 0);
        }
    }

    /// Draw the same files again.
    pub fn restart(&mut self, seeds: &Seeds) {
        self.draws = draws(seeds, self.wide);
        if let Some(law) = &mut self.law {
            law.restart();
        }
    }

    /// Make numbers many at once.
    pub(crate) fn draw_ahead(&mut self) {
        self.draws.make_ahead();
    }

    /// Whether files must be opened and closed on the way.
    pub fn limited(&self) -> bool {
        self.open_most != usize::MAX
    }

    /// Whether a file is drawn by a law: one without a place for an I/O is then
    /// begun again, not done.
    pub(crate) fn by_law(&self) -> bool {
        self.law.is_some()
    }

    /// The file for the next I/O.
    pub fn next(&mut self, files: &[FileState]) -> Pick {
        if let [only] = files {
            return if only.done { Pick::None } else { Pick::File(0) };
        }
        let (open, most) = (self.open, self.open_most);
        match self.next_usable(files, |file| !file.done && (file.open || open < most)) {
            Some(_) => self.pick(files),
            None => Pick::None,
        }
    }

    /// The file for the next I/O, of those that are usable; none if there are none.
    #[inline(always)]
    pub(crate) fn next_usable(
        &mut self,
        files: &[FileState],
        usable: impl Fn(&FileState) -> bool,
    ) -> Option<usize> {
        if let [only] = files {
            return usable(only).then_some(0);
        }
        if self.left > 0 && !files[self.now].done {
            self.left -= 1;
            return Some(self.now);
        }
        self.now = match self.pick {
            FilePick::RoundRobin | FilePick::Sequential => {
                let next = self.in_turn(files, usable)?;
                self.turn = if next + 1 == files.len() { 0 } else { next + 1 };
                next
            }
            _ => {
                files.iter().any(&usable).then_some(())?;
                self.draw(files, usable)
            }
        };
        self.left = self.left_after;
        Some(self.now)
    }

    /// Whether the next files are known ahead: see [`FilePicker::peek`].
    pub(crate) fn is_foreseen(&self) -> bool {
        let by_table = self.law.as_ref().is_none_or(FileLaw::has_table);
        self.left_after == 0 && !self.limited() && !self.wide && by_table
    }

    /// The next files of a job with `all` of them, as many as there are places for at most, if none
    /// of them is done: how many. They are taken by [`FilePicker::take`].
    #[inline]
    pub(crate) fn peek(&mut self, all: usize, files: &mut [u32]) -> usize {
        match (&mut self.law, &mut self.draws) {
            _ if self.left > 0 => 0,
            (Some(law), _) => law.peek(files),
            (None, _) if self.pick == FilePick::RoundRobin => {
                let mut turn = self.turn;
                for file in files.iter_mut() {
                    *file = turn as u32;
                    turn = if turn + 1 == all { 0 } else { turn + 1 };
                }
                files.len()
            }
            (None, Draws::Ahead(ahead)) => {
                let draws = ahead.peek(files.len());
                for (file, draw) in files.iter_mut().zip(draws) {
                    *file = scale(all as u64, *draw) as u32;
                }
                draws.len()
            }
            _ => 0,
        }
    }

    /// Take the first of those that were looked at.
    pub(crate) fn take(&mut self, all: usize, files: &[u32]) {
        let Some(last) = files.last() else { return };
        self.now = *last as usize;
        match (&mut self.law, &mut self.draws) {
            (Some(law), _) => law.take(files.len()),
            (None, _) if self.pick == FilePick::RoundRobin => {
                self.turn = if self.now + 1 == all { 0 } else { self.now + 1 };
            }
            (None, Draws::Ahead(ahead)) => ahead.take(files.len()),
            _ => {}
        }
    }

    /// The first usable file from the one in turn on, going round at the end.
    #[inline(always)]
    fn in_turn(&self, files: &[FileState], usable: impl Fn(&FileState) -> bool) -> Option<usize> {
        // Mostly it is the very one.
        if usable(files.get(self.turn)?) {
            return Some(self.turn);
        }
        // None is usable only when all are done: what is open and not
        // done would be, and the done have made room for the others.
        (self.turn..files.len()).chain(0..self.turn).find(|&i| usable(&files[i]))
    }

    /// A file that is usable, drawn; one is.
    #[inline(always)]
    fn draw(&mut self, files: &[FileState], usable: impl Fn(&FileState) -> bool) -> usize {
        for _ in 0..TRIES {
            let drawn = match &mut self.law {
                Some(law) => law.draw(),
                None => self.draws.below(files.len() as u64) as usize,
            };
            if files.get(drawn).is_some_and(&usable) {
                return drawn;
            }
        }
        files.iter().position(usable).unwrap_or(0)
    }

    fn pick(&mut self, files: &[FileState]) -> Pick {
        if self.limited() && !files[self.now].open {
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

fn draws(seeds: &Seeds, wide: bool) -> Draws {
    Draws::new(wide, seeds.of(Stream::File))
}
