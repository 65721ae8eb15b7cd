//! Parts of a file with shares of the I/Os (`random_distribution=zoned`).

use iosonde_base::{Dir, PerDir};

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

    /// A block of a file of `blocks` blocks of `unit` bytes.
    pub fn draw(&mut self, dir: Dir, blocks: u64, unit: u64, offset_draws: &mut Draws) -> u64 {
        let drawn = self.draws.percent();
        let parts = &self.parts[dir];
        let Some(part) = parts.iter().find(|part| drawn <= part.percent).or(parts.last()) else {
            // No zones for this direction: the whole file.
            return offset_draws.below(blocks);
        };
        let block_of = |edge: u64| {
            let block = if self.absolute {
                edge / unit
            } else {
                (u128::from(blocks) * u128::from(edge) / 100) as u64
            };
            block.min(blocks)
        };
        let from = block_of(part.from);
        let within = block_of(part.to - part.from).min(blocks - from);
        // A part too small for a block gives its first one.
        (from + if within == 0 { 0 } else { offset_draws.below(within) }).min(blocks - 1)
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
