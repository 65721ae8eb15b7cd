//! Parts of a file with shares of the I/Os (`random_distribution=zoned`).

use iosonde_base::{Dir, PerDir};

use crate::offsets::Grid;
use crate::random::Draws;
use crate::spec::{Distribution, SpecError, Zone};
use crate::streams::{Seeds, Stream};

/// Draws a part by its share, then a block in it.
#[derive(Debug)]
pub(crate) struct Zones {
    parts: PerDir<Vec<Part>>,
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
        Ok(Some(Zones { parts, draws: draws(seeds), absolute }))
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
        let Grid { unit, places: blocks } = grid;
        let drawn = self.draws.percent();
        let parts = &self.parts[dir];
        let Some(part) = parts.iter().find(|part| drawn <= part.percent).or(parts.last()) else {
            // No zones for this direction: the whole file.
            return below(blocks);
        };
        let (from, within) = if self.absolute {
            let (from, to) = (part.from / unit, part.to / unit);
            if to > blocks {
                return None;
            }
            (from, to - from)
        } else {
            let share = |percent: u64| match blocks.checked_mul(percent) {
                Some(parts) => parts / 100,
                None => (u128::from(blocks) * u128::from(percent) / 100) as u64,
            };
            (share(part.from), share(part.to - part.from))
        };
        // A part too small for a block gives its first one.
        from.checked_add(below(within)?)
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

fn sums(zones: &[Zone]) -> Result<Vec<Part>, SpecError> {
    let (mut percent, mut at) = (0u32, 0u64);
    let mut parts = Vec::with_capacity(zones.len());
    for zone in zones {
        let from = at;
        percent = percent.checked_add(zone.percent).ok_or(SpecError::BadDistribution)?;
        at = at.checked_add(zone.size).ok_or(SpecError::BadDistribution)?;
        parts.push(Part { percent, from, to: at });
    }
    if parts.is_empty() || percent == 100 { Ok(parts) } else { Err(SpecError::BadDistribution) }
}
