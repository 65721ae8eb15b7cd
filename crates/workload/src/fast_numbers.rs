//! Places in one file by other numbers than even ones of 32 bits, and even ones with drawn sizes.

use iosonde_base::{Dir, FileId, Op, Planned, RING, Ring};

use crate::fast_path::{draw, entry};
use crate::file::FileState;
use crate::mix::Mix;
use crate::offsets::Grid;
use crate::plain::{FastPath, Places, Plain};
use crate::random::{Draws, OneDraw, SCALE_MOST, scale};
use crate::sizes::SizeDraw;
use crate::source::Source;
use crate::spec::{Distribution, Strided};

impl FastPath {
    /// Of a job with I/Os of one size, each at a number of its own.
    pub(crate) fn of_numbers(source: &mut Source, plain: Plain, places: Places) -> FastPath {
        let grid = Grid { unit: places.unit, places: places.blocks };
        let zoned = match &mut source.zones {
            None => true,
            Some(zones) => {
                !source.mix.is_mixed()
                    && source.files[0].lfsr.is_none()
                    && matches!(source.offset_draws, Draws::Narrow(_))
                    && zones.all_fit(plain.dir, grid)
            }
        };
        let file = &source.files[0];
        let known = zoned && file.law.is_none() && file.listed.is_none();
        if known { FastPath::Numbered(plain, places) } else { FastPath::None }
    }

    /// Of a job with drawn sizes and a map.
    pub(crate) fn of_drawn_once(
        source: &Source,
        file: &FileState,
        dir: Dir,
        [least, len]: [u32; 2],
    ) -> FastPath {
        let places = Places::of(file, dir);
        let end = file.start + file.range;
        let plain = file.map.as_ref().is_some_and(|map| map.blocks() == places.blocks)
            && !source.mix.is_mixed()
            && source.spec.distribution == Distribution::Random
            && !source.spec.bs_is_seq_rand
            && places.unit == u64::from(least)
            && (1..=SCALE_MOST).contains(&places.blocks)
            && places.all_fit(end, least);
        if plain { FastPath::DrawnOnce(Plain { dir, len }, places) } else { FastPath::None }
    }
}

impl Source {
    /// Plan up to a sync, the end of a strided zone or that of a pass.
    #[inline(never)]
    pub(crate) fn fill_numbered(&mut self, ring: &mut Ring, plain: Plain, places: Places) {
        let mut count = self.room_before_halt(u64::from(plain.len)) as usize;
        let file = &mut self.files[0];
        if let Some(map) = &file.map {
            count = count.min(usize::try_from(map.free()).unwrap_or(RING));
        }
        let mut blocks = [0; RING];
        let blocks = &mut blocks[..count];
        match (&mut self.zones, &mut file.lfsr, &mut self.offset_draws) {
            (None, Some(lfsr), _) => count = lfsr.draw_many(blocks),
            (Some(zones), None, draws) => {
                zones.draw_many(plain.dir, &draw(draws, count as u64)[..count], blocks);
            }
            (None, None, draws @ Draws::Narrow(_)) if places.blocks <= SCALE_MOST => {
                let draws = draw(draws, count as u64);
                let each = blocks.iter_mut().zip(draws);
                each.for_each(|(block, number)| *block = scale(places.blocks, number));
            }
            (None, None, draws) => {
                blocks.iter_mut().for_each(|block| *block = draws.below(places.blocks));
            }
            _ => count = 0,
        }
        let blocks = &mut blocks[..count];
        if let Some(map) = &mut file.map {
            map.visit_all(blocks);
        }
        let places = Places { start: file.start, ..places };
        let offsets = blocks.iter().map(|block| places.offset(*block));
        ring.fill_alike(count, entry(plain, 0), offsets);
        self.issued_before_halt(ring, plain);
    }

    /// How many I/Os of `len` bytes the ring holds and the limits allow, and come before a sync or
    /// a strided zone.
    #[inline]
    pub(crate) fn room_before_halt(&self, len: u64) -> u64 {
        let most = self.limits.room(RING as u64, len);
        let most = if let Mix::One(Dir::Write) = self.mix { self.syncs.room(most) } else { most };
        let Some(Strided { range, size, .. }) = self.spec.strided else { return most };
        let begins = self.zone_bytes >= size || self.zone_bytes.is_multiple_of(range);
        if begins || self.files[0].start + range > self.files[0].end {
            return 0;
        }
        let until = size.min(self.zone_bytes.next_multiple_of(range));
        most.min((until - self.zone_bytes).div_ceil(len))
    }

    /// Note what is in the ring, all alike, for the limits, syncs and strided zones.
    #[inline]
    pub(crate) fn issued_before_halt(&mut self, ring: &Ring, plain: Plain) {
        let Some(last) = ring.as_slice().last() else { return };
        let (count, dir) = (u64::from(ring.waiting()), plain.dir as usize);
        let bytes = count * u64::from(plain.len);
        self.issued[dir] += count;
        self.limits.issued(count, bytes);
        self.syncs.issued_all(last.op, count);
        self.zone_bytes += bytes;
        self.last_write = *last;
    }

    /// How many were planned, and their bytes.
    #[inline(never)]
    pub(crate) fn fill_drawn_once(
        &mut self,
        ring: &mut Ring,
        plain: Plain,
        places: Places,
    ) -> (u64, u64) {
        let most = self.limits.room(RING as u64, u64::from(plain.len)) as usize;
        let end = self.files[0].start + self.files[0].range;
        let SizeDraw { menu, draws: Draws::Ahead(sizes) } = &mut self.sizes[plain.dir] else {
            return (0, 0);
        };
        let (Some(map), Draws::Ahead(draws)) = (&mut self.files[0].map, &mut self.offset_draws)
        else {
            return (0, 0);
        };
        let (file, op) = (FileId(0), Op::from(plain.dir));
        let numbers = draws.peek(most);
        let mut numbers = numbers.iter().zip(sizes.peek(numbers.len()));
        let mut bytes = 0;
        ring.fill_while(most, || {
            let (number, share) = numbers.next()?;
            let block = map.free_from(scale(places.blocks, *number))?;
            let offset = places.offset(block);
            let len = menu.any(&mut OneDraw(*share));
            // Another would be drawn.
            if u64::from(len) > end - offset {
                return None;
            }
            let len = map.note(block, len, places.unit);
            bytes += u64::from(len);
            Some(Planned { offset, len, file, op })
        });
        let count = ring.waiting();
        draws.take(count as usize);
        sizes.take(count as usize);
        (u64::from(count), bytes)
    }
}
