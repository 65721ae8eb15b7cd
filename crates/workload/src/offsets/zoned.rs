//! Parts of a file with shares of the I/Os (`random_distribution=zoned`).

use iosonde_base::{Dir, PerDir, RING};

use crate::offsets::Grid;
use crate::random::{Draws, SCALE_MOST, scale};
use crate::spec::{Distribution, SpecError, Zone};
use crate::streams::{Seeds, Stream};

/// Draws a part by its share, then a block in it.
#[derive(Debug)]
pub(crate) struct Zones {
    parts: PerDir<Vec<Part>>,
    /// By the number drawn from 1 to 100 (less one), which part it is.
    part_of: PerDir<Box<[u32; 100]>>,
    /// The places that the parts were counted in last.
    grids: PerDir<Grid>,
    draws: Draws,
    /// Sizes are bytes, not percent of the file.
    absolute: bool,
}

/// One part, with the sums of all before it and itself.
#[derive(Debug)]
struct Part {
    /// I/Os of a hundred up to here.
    percent: u32,
    /// Where it begins and ends: percent of the file, or bytes.
    from: u64,
    to: u64,
    /// The same as places: the first, and how many; none where it ends past the last of them.
    places: Option<(u64, u64)>,
}

impl Zones {
    /// Ready to draw if `distribution` is of this kind.
    pub fn new(distribution: &Distribution, seeds: &Seeds) -> Result<Option<Zones>, SpecError> {
        let (zones, absolute) = match distribution {
            Distribution::Zoned(zones) => (zones, false),
            Distribution::ZonedAbs(zones) => (zones, true),
            _ => return Ok(None),
        };
        let mut parts = PerDir::all(()).map(|()| Vec::new());
        for (parts, zones) in parts.0.iter_mut().zip(&zones.0) {
            *parts = sums(zones)?;
            let whole = parts.last().map_or(0, |part| part.to);
            if !absolute && whole > 100 {
                return Err(SpecError::BadDistribution);
            }
        }
        let part_of = PerDir([0, 1, 2].map(|dir| part_of(&parts.0[dir])));
        let grids = PerDir::all(Grid { unit: 0, places: 0 });
        Ok(Some(Zones { parts, part_of, grids, draws: draws(seeds), absolute }))
    }

    /// Draw the same parts again.
    pub fn restart(&mut self, seeds: &Seeds) {
        self.draws = draws(seeds);
    }

    /// Make numbers many at once.
    pub(crate) fn draw_ahead(&mut self) {
        self.draws.make_ahead();
    }

    /// A block of a file with the places of `grid`; none where the part that was
    /// drawn ends past the last of them. `below` draws a number below another.
    #[inline(always)]
    pub fn draw(
        &mut self,
        dir: Dir,
        grid: Grid,
        below: impl FnOnce(u64) -> Option<u64>,
    ) -> Option<u64> {
        let drawn = self.draws.percent();
        if self.grids[dir] != grid {
            self.count_places(dir, grid);
        }
        let at = self.part_of[dir][(drawn as usize - 1) % 100];
        let Some(part) = self.parts[dir].get(at as usize) else {
            // No zones for this direction: the whole file.
            return below(grid.places);
        };
        let (from, within) = part.places?;
        // A part too small for a block gives its first one.
        from.checked_add(below(within)?)
    }

    /// Whether each number drawn in `dir` is one of the places of `grid`, and drawn 32 bits at a time.
    pub(crate) fn all_fit(&mut self, dir: Dir, grid: Grid) -> bool {
        self.count_places(dir, grid);
        let fits = |part: &Part| {
            part.places.is_some_and(|(from, within)| {
                (..=SCALE_MOST).contains(&within) && from + within.max(1) <= grid.places
            })
        };
        let parts = &self.parts[dir];
        matches!(self.draws, Draws::Narrow(_)) && !parts.is_empty() && parts.iter().all(fits)
    }

    /// A block for each of `draws`, where [`Zones::all_fit`] has said that all are.
    #[inline(never)]
    pub(crate) fn draw_many(&mut self, dir: Dir, draws: &[u32], blocks: &mut [u64]) {
        let Draws::Narrow(taus) = &mut self.draws else { return };
        let mut shares = [0; RING];
        let shares = &mut shares[..blocks.len().min(RING)];
        taus.draw_many(shares);
        let (parts, part_of) = (&self.parts[dir], &self.part_of[dir]);
        for ((block, draw), share) in blocks.iter_mut().zip(draws).zip(shares) {
            let at = part_of[scale(100, *share) as usize % 100];
            if let Some(Part { places: Some((from, within)), .. }) = parts.get(at as usize) {
                *block = from + scale(*within, *draw);
            }
        }
    }

    /// Count the parts in the places of `grid`.
    #[inline(never)]
    fn count_places(&mut self, dir: Dir, grid: Grid) {
        let Grid { unit, places } = grid;
        let share = |percent: u64| match places.checked_mul(percent) {
            Some(parts) => parts / 100,
            None => (u128::from(places) * u128::from(percent) / 100) as u64,
        };
        for part in &mut self.parts[dir] {
            let (from, to) = (part.from, part.to);
            part.places = if self.absolute {
                (to / unit <= places).then(|| (from / unit, to / unit - from / unit))
            } else {
                Some((share(from), share(to - from)))
            };
        }
        self.grids[dir] = grid;
    }

    /// Bytes up to the end of the last part of any direction; none where parts
    /// are percentages.
    pub fn end(&self) -> Option<u64> {
        let last = |parts: &Vec<Part>| parts.last().map_or(0, |part| part.to);
        self.absolute.then(|| self.parts.0.iter().map(last).max().unwrap_or(0))
    }
}

fn draws(seeds: &Seeds) -> Draws {
    Draws::new(false, seeds.of(Stream::Zone))
}

/// By the number drawn from 1 to 100 (less one), which part it is.
fn part_of(parts: &[Part]) -> Box<[u32; 100]> {
    let mut part_of = Box::new([0; 100]);
    for (drawn, place) in (1..).zip(part_of.iter_mut()) {
        let at = parts.iter().position(|part| drawn <= part.percent);
        // A job file that lists more parts is longer than any that is read.
        *place = at.unwrap_or(parts.len().saturating_sub(1)) as u32;
    }
    part_of
}

fn sums(zones: &[Zone]) -> Result<Vec<Part>, SpecError> {
    let (mut percent, mut at) = (0u32, 0u64);
    let mut parts = Vec::with_capacity(zones.len());
    for zone in zones {
        let from = at;
        percent = percent.checked_add(zone.percent).ok_or(SpecError::BadDistribution)?;
        at = at.checked_add(zone.size).ok_or(SpecError::BadDistribution)?;
        parts.push(Part { percent, from, to: at, places: None });
    }
    if parts.is_empty() || percent == 100 { Ok(parts) } else { Err(SpecError::BadDistribution) }
}
