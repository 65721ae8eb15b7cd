//! Where a write goes: to the write pointer of a zone that may be written.

use super::ZoneTable;
use super::job::{Drawn, Placed, Rules};
use super::range::ZoneRange;

/// A write to be placed.
pub(crate) struct WritePlacement<'a> {
    pub table: &'a mut ZoneTable,
    pub range: &'a ZoneRange,
    pub rules: &'a Rules,
    /// Writes above the threshold until a zone is reset, and how many that are at first.
    pub countdown: &'a mut Option<u64>,
    pub period: Option<u64>,
    /// Bytes below write pointers from which on zones are reset.
    pub threshold: u64,
}

/// The zone that was found for a write, or what has to come first.
enum FoundZone {
    Zone(usize),
    First(Placed),
}

impl WritePlacement<'_> {
    /// Where the write that was drawn goes, or what has to come first. The zone is then its
    /// job's until the write has ended.
    pub fn place(mut self, drawn: &mut Drawn) -> Placed {
        let Some(from) = drawn.from else { return Placed::Nowhere };
        if drawn.chosen.is_none() && !self.table.is_sequential(from) {
            return self.conventional(from, drawn);
        }
        let zone = match drawn.chosen {
            Some(zone) => zone,
            None => match self.choose(from, drawn) {
                FoundZone::Zone(zone) => zone,
                FoundZone::First(first) => return first,
            },
        };
        if self.table.is_busy(zone) {
            return Placed::AfterWrite;
        }
        drawn.chosen = Some(zone);
        if self.is_limited() {
            self.table.open(zone, self.rules.job);
        }
        self.count(drawn);
        if (drawn.resets || !self.has_room(zone)) && self.table.written(zone) > 0 {
            drawn.resets = false;
            return Placed::AfterReset(zone);
        }
        self.at_pointer(zone, drawn)
    }

    /// Any place of a conventional zone, as far as it does not reach into a sequential one.
    fn conventional(&self, zone: usize, drawn: &Drawn) -> Placed {
        let (mut offset, mut len) = (drawn.start.offset, u64::from(drawn.len));
        let end = self.table.end(zone);
        if !self.table.is_sequential(zone + 1) || offset + len <= end {
            return Placed::At { offset, len: drawn.len };
        }
        if offset + self.least() > end {
            // As far from the start of the zone as it was from its end.
            offset = self.table.start(zone) + (end - offset);
        }
        len = len.min(end - offset);
        // Shorter than before, so it fits.
        Placed::At { offset, len: (len - len % self.least()) as u32 }
    }

    /// The zone for a write that was drawn in `zone`.
    fn choose(&mut self, zone: usize, drawn: &mut Drawn) -> FoundZone {
        if self.table.is_busy(zone) {
            return FoundZone::First(Placed::AfterWrite);
        }
        let left = self.table.left(zone);
        let usable = self.table.is_usable(zone);
        if usable && left > 0 && !self.has_room(zone) {
            drawn.from = self.next_sequential(zone);
            return FoundZone::First(Placed::AfterFinish(zone));
        }
        match () {
            () if self.may_enter(zone) => FoundZone::Zone(zone),
            () if self.is_limited() => self.choose_limited(zone, drawn),
            () => {
                let next = self.range.zones_after(zone).find(|&next| self.may_enter(next));
                next.map_or(FoundZone::First(Placed::Nowhere), FoundZone::Zone)
            }
        }
    }

    /// As many zones as may be are open, and this is none of them, or the job may not go on
    /// in it.
    fn choose_limited(&mut self, zone: usize, drawn: &mut Drawn) -> FoundZone {
        let candidate = self.open_zone_for(drawn.start.offset);
        if let Some(open) = candidate {
            if self.table.is_busy(open) {
                return FoundZone::First(Placed::AfterWrite);
            }
            if self.has_room(open) {
                return FoundZone::Zone(open);
            }
        }
        let closed = self.range.zones_after(zone).filter(|&next| !self.table.is_open(next));
        if let Some(next) = closed.into_iter().find(|&next| self.may_enter(next)) {
            return FoundZone::Zone(next);
        }
        let open: Vec<usize> = self.table.open_zones().filter(|&open| self.is_ours(open)).collect();
        if let Some(&next) = open.iter().find(|&&open| self.has_room(open)) {
            return FoundZone::Zone(next);
        }
        match candidate {
            _ if open.iter().any(|&open| self.table.is_busy(open)) => {
                FoundZone::First(Placed::AfterWrite)
            }
            Some(open) if self.rules.random && !self.rules.keeps_data => {
                drawn.chosen = Some(open);
                FoundZone::First(Placed::AfterFinish(open))
            }
            _ => FoundZone::First(Placed::Nowhere),
        }
    }

    /// The open zone that stands for a place: as far on in the order of opening as the place
    /// is in the range; of the job's range, the next.
    fn open_zone_for(&self, offset: u64) -> Option<usize> {
        let open: Vec<usize> = self.table.open_zones().collect();
        let into = u128::from(offset.saturating_sub(self.range.offset));
        let index = into * open.len() as u128 / u128::from(self.range.bytes.max(1));
        let index = (index as usize).min(open.len().checked_sub(1)?);
        let mut round = open[index..].iter().chain(&open[..index]).copied();
        round.find(|&zone| self.is_ours(zone))
    }

    /// Count this write for the threshold, once.
    fn count(&mut self, drawn: &mut Drawn) {
        let Some(left) = self.countdown.as_mut().filter(|_| !drawn.counted) else { return };
        drawn.counted = true;
        if self.table.valid_bytes(&self.range.zones) < self.threshold {
            return;
        }
        *left -= 1;
        if *left == 0 {
            drawn.resets = true;
            *self.countdown = self.period;
        }
    }

    /// At the pointer, as much as fits, in whole blocks unless a rest may be less.
    fn at_pointer(&mut self, zone: usize, drawn: &Drawn) -> Placed {
        let (left, least) = (self.table.left(zone), self.least());
        let len = u64::from(drawn.len).min(left);
        let whole = len - len % least;
        let len = if self.rules.write_remainder && left < least { left } else { whole };
        if len == 0 {
            // The capacity is less than a block.
            return Placed::Nowhere;
        }
        self.table.begin_write(zone, self.rules.job);
        // At most what was drawn.
        Placed::At { offset: self.table.pointer(zone), len: len as u32 }
    }

    /// Whether a write may go to a zone, which it opens if need be.
    fn may_enter(&self, zone: usize) -> bool {
        let (table, rules) = (&*self.table, self.rules);
        if !table.is_sequential(zone) || !table.is_usable(zone) {
            return false;
        }
        if rules.keeps_data && !self.has_room(zone) {
            return false;
        }
        if !self.is_limited() {
            return true;
        }
        if table.is_open(zone) {
            return self.has_room(zone);
        }
        let most = table.limits().open_max;
        let may_open = most == 0 || table.open_count() < most;
        let job = rules.job_open_max;
        may_open && (job == 0 || table.open_count_of(rules.job) < job)
    }

    fn is_limited(&self) -> bool {
        self.table.limits().open_max > 0 || self.rules.job_open_max > 0
    }

    fn is_ours(&self, zone: usize) -> bool {
        self.range.zones.contains(&zone)
    }

    /// Whether a block fits above the pointer, or what may be less.
    fn has_room(&self, zone: usize) -> bool {
        let left = self.table.left(zone);
        left >= self.least() || self.rules.write_remainder && left > 0
    }

    /// The next sequential zone of the range, round; for a job in order, none after the last.
    fn next_sequential(&self, zone: usize) -> Option<usize> {
        let mut next = self.range.zones_after(zone);
        let found = next.find(|&next| self.table.is_sequential(next))?;
        (self.rules.random || found > zone).then_some(found)
    }

    fn least(&self) -> u64 {
        self.rules.least[1].max(1)
    }
}
