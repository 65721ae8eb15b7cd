//! How many bytes the next I/O moves.

use iosonde_base::PerDir;

use crate::random::Draws;
use crate::spec::{Sizes, SourceSpec, SpecError};
use crate::streams::Seeds;

/// Draws sizes for one direction.
#[derive(Debug)]
pub(crate) struct SizeDraw {
    sizes: Sizes,
    /// The least of them, in bytes.
    least: u32,
    unaligned: bool,
    draws: Draws,
}

/// Sizes for the three directions.
pub(crate) type SizeDraws = PerDir<SizeDraw>;

/// Check the sizes of a spec and start drawing.
pub(crate) fn size_draws(spec: &SourceSpec, seeds: &Seeds) -> Result<SizeDraws, SpecError> {
    for sizes in &spec.sizes.0 {
        check(sizes)?;
    }
    Ok(PerDir([0, 1, 2].map(|dir| SizeDraw {
        sizes: by_share(spec.sizes.0[dir].clone()),
        least: spec.sizes.0[dir].min(),
        unaligned: spec.bs_unaligned,
        draws: draws(spec, seeds, dir),
    })))
}

/// Draw the same sizes again.
pub(crate) fn restart(sizes: &mut SizeDraws, spec: &SourceSpec, seeds: &Seeds) {
    for (dir, draw) in sizes.0.iter_mut().enumerate() {
        draw.draws = draws(spec, seeds, dir);
    }
}

fn draws(spec: &SourceSpec, seeds: &Seeds, dir: usize) -> Draws {
    let stream = match dir {
        // What verifies must read the sizes it wrote.
        1 if spec.verify => 0,
        // A trim and the write after it are the same range.
        2 if spec.directions.trim_then_write => 1,
        dir => dir,
    };
    Draws::new(false, seeds.of_sizes(stream))
}

fn check(sizes: &Sizes) -> Result<(), SpecError> {
    let sound = match sizes {
        Sizes::Fixed(bytes) | Sizes::UpToEnd(bytes) => *bytes > 0,
        Sizes::Range { min, max } => 0 < *min && min <= max,
        Sizes::Split(shares) => {
            shares.iter().all(|share| share.bytes > 0)
                && shares.iter().map(|share| u64::from(share.percent)).sum::<u64>() == 100
        }
    };
    if sound { Ok(()) } else { Err(SpecError::BadSizes) }
}

/// Shares in the order in which a draw looks through them: the least first.
fn by_share(sizes: Sizes) -> Sizes {
    match sizes {
        Sizes::Split(mut shares) => {
            shares.sort_by_key(|share| share.percent);
            Sizes::Split(shares)
        }
        other => other,
    }
}

/// How often a size is drawn again because it does not fit, before the least
/// that fits is taken: keeps a narrow end from spinning.
const TRIES: u32 = 1000;

impl SizeDraw {
    /// Whether all I/Os have one size.
    pub fn fixed(&self) -> Option<u32> {
        match self.sizes {
            Sizes::Fixed(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// A size that is at most `room` bytes; none if no size fits.
    #[inline]
    pub fn draw(&mut self, room: u64) -> Option<u32> {
        if let Sizes::Fixed(bytes) = self.sizes {
            return (u64::from(bytes) <= room).then_some(bytes);
        }
        if let Sizes::UpToEnd(bytes) = self.sizes {
            return (room > 0).then(|| u64::from(bytes).min(room) as u32);
        }
        let least = self.least;
        if u64::from(least) > room {
            return None;
        }
        for _ in 0..TRIES {
            let bytes = self.any();
            if u64::from(bytes) <= room {
                return Some(bytes);
            }
        }
        Some(least)
    }

    fn any(&mut self) -> u32 {
        match &self.sizes {
            Sizes::Fixed(bytes) | Sizes::UpToEnd(bytes) => *bytes,
            Sizes::Range { min, max } => {
                // Below `max`, which is 32 bits.
                let bytes = u64::from(*min) + self.draws.below(u64::from(*max));
                let bytes = if self.unaligned { bytes } else { bytes - bytes % u64::from(*min) };
                bytes.min(u64::from(*max)) as u32
            }
            Sizes::Split(shares) => {
                let drawn = self.draws.below(100) as u32;
                let mut sum = 0;
                let hit = shares.iter().find(|share| {
                    sum += share.percent;
                    drawn < sum
                });
                // The shares sum up to 100, so one is always hit.
                hit.or(shares.last()).map_or(0, |share| share.bytes)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_base::Dir;

    #[test]
    fn up_to_the_end_is_one_size_and_then_what_is_left() {
        let spec = SourceSpec { sizes: PerDir::all(Sizes::UpToEnd(100)), ..SourceSpec::default() };
        let mut draws = size_draws(&spec, &Seeds::new(1, 1)).unwrap();
        let draw = &mut draws[Dir::Read];
        assert_eq!(draw.fixed(), None);
        let drawn = [250, 150, 100, 50, 1, 0].map(|room| draw.draw(room));
        assert_eq!(drawn, [Some(100), Some(100), Some(100), Some(50), Some(1), None]);
    }
}
