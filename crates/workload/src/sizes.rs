//! How many bytes the next I/O moves.

use iosonde_base::PerDir;

use crate::random::{Draw, Draws};
use crate::spec::{Share, Sizes, SourceSpec, SpecError};
use crate::streams::Seeds;

/// Draws sizes for one direction.
#[derive(Debug)]
pub(crate) struct SizeDraw {
    pub menu: Menu,
    pub draws: Draws,
}

/// What sizes there are.
#[derive(Debug)]
pub(crate) struct Menu {
    sizes: Sizes,
    /// The least and the largest of them, in bytes.
    least: u32,
    most: u32,
    unaligned: bool,
    /// Of shares: the size for each number from 0 to 99. What follows spares a
    /// check of the index.
    by_percent: Box<[u32; 128]>,
}

/// Sizes for the three directions.
pub(crate) type SizeDraws = PerDir<SizeDraw>;

/// Check the sizes of a spec and start drawing.
pub(crate) fn size_draws(spec: &SourceSpec, seeds: &Seeds) -> Result<SizeDraws, SpecError> {
    for sizes in &spec.sizes.0 {
        check(sizes)?;
    }
    Ok(PerDir([0, 1, 2].map(|dir| {
        let sizes = &spec.sizes.0[dir];
        let menu = Menu {
            sizes: sizes.clone(),
            least: sizes.min(),
            most: sizes.max(),
            unaligned: spec.bs_unaligned,
            by_percent: by_percent(sizes),
        };
        SizeDraw { menu, draws: draws(spec, seeds, dir) }
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
    Draws::new(spec.is_wide(), seeds.of_sizes(stream))
}

fn check(sizes: &Sizes) -> Result<(), SpecError> {
    let sound = match sizes {
        Sizes::Fixed(bytes) | Sizes::UpToEnd(bytes) => *bytes > 0,
        Sizes::Range { min, max } => 0 < *min && min <= max,
        Sizes::Split(shares) => {
            shares.iter().all(|share| share.bytes > 0)
                && !shares.is_empty()
                && shares.iter().map(|share| u64::from(share.percent)).sum::<u64>() <= 100
        }
    };
    if sound { Ok(()) } else { Err(SpecError::BadSizes) }
}

/// The size for each number from 0 to 99, the least share first. What shares leave of 100 % goes
/// to the greatest, as in fio.
fn by_percent(sizes: &Sizes) -> Box<[u32; 128]> {
    let mut by_percent = Box::new([0; 128]);
    if let Sizes::Split(shares) = sizes {
        let mut shares = shares.clone();
        iosonde_base::sort_by_key(&mut shares, |share| share.percent);
        let each = |share: &Share| std::iter::repeat_n(share.bytes, share.percent as usize);
        let rest = shares.last().map_or(0, |share| share.bytes);
        let all = shares.iter().flat_map(each).chain(std::iter::repeat(rest));
        by_percent.iter_mut().zip(all).for_each(|(place, bytes)| *place = bytes);
    }
    by_percent
}

impl SizeDraw {
    /// Whether all I/Os have one size.
    pub fn fixed(&self) -> Option<u32> {
        self.menu.fixed()
    }

    /// A size; one that is drawn is at most `room` bytes. None if the least does
    /// not fit.
    #[inline]
    pub fn draw(&mut self, room: u64) -> Option<u32> {
        self.menu.draw(&mut self.draws, room)
    }
}

/// A size that is drawn once in 10 000 times is found within so many draws;
/// they take less than a millisecond.
const REDRAWS_MAX: u32 = 1 << 17;

impl Menu {
    /// Whether there is but one size.
    pub fn fixed(&self) -> Option<u32> {
        match self.sizes {
            Sizes::Fixed(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// Whether sizes are drawn, and which are the least and the largest, in
    /// bytes.
    pub fn drawn(&self) -> Option<(u32, u32)> {
        match self.sizes {
            Sizes::Fixed(_) | Sizes::UpToEnd(_) => None,
            Sizes::Range { .. } | Sizes::Split(_) => Some((self.least, self.most)),
        }
    }

    #[inline(always)]
    fn draw(&self, draws: &mut Draws, room: u64) -> Option<u32> {
        match self.sizes {
            Sizes::Fixed(bytes) => Some(bytes),
            Sizes::UpToEnd(bytes) => (room > 0).then(|| u64::from(bytes).min(room) as u32),
            _ => (u64::from(self.least) <= room).then(|| self.draw_fitting(draws, room)),
        }
    }

    /// A size that is at most `room` bytes, which the least is.
    #[inline(always)]
    pub(crate) fn draw_fitting<D: Draw>(&self, draws: &mut D, room: u64) -> u32 {
        let drawn = self.any(draws);
        self.fitted(drawn, draws, room)
    }

    /// `drawn`, or what else fits.
    #[inline(always)]
    fn fitted<D: Draw>(&self, drawn: u32, draws: &mut D, room: u64) -> u32 {
        if u64::from(drawn) <= room {
            return drawn;
        }
        let (bytes, after) = self.draw_again(draws.clone(), room, drawn);
        *draws = after;
        bytes
    }

    /// `first` was drawn and does not fit: draw until a size does. fio does so
    /// without limit, and for ever where none of the sizes drawn can fit; here the
    /// least size, which does, ends that. The generator is passed by value, so that
    /// a caller may keep it in registers.
    #[cold]
    #[inline(never)]
    fn draw_again<D: Draw>(&self, mut draws: D, room: u64, first: u32) -> (u32, D) {
        let mut bytes = first;
        for _ in 0..REDRAWS_MAX {
            if let Some(fits) = self.fitting(bytes, room) {
                return (fits, draws);
            }
            bytes = self.any(&mut draws);
        }
        (self.least, draws)
    }

    /// A drawn size limited to `room`. Of shares, the next
    /// after it that fits is taken, as fio does (tests/fio.rs).
    fn fitting(&self, bytes: u32, room: u64) -> Option<u32> {
        let fits = |bytes: &u32| u64::from(*bytes) <= room;
        if !self.is_split() || fits(&bytes) {
            return Some(bytes).filter(fits);
        }
        let shares = &self.by_percent[..100];
        let at = shares.iter().position(|share| *share == bytes)?;
        shares[at..].iter().copied().find(fits)
    }

    /// Whether each size has its share.
    pub(crate) fn is_split(&self) -> bool {
        matches!(self.sizes, Sizes::Split(_))
    }

    #[inline(always)]
    fn share<D: Draw>(&self, draws: &mut D) -> u32 {
        self.by_percent[draws.hundredth() & 127]
    }

    /// As [`Menu::draw_fitting`], where [`Menu::is_split`].
    #[inline(always)]
    pub(crate) fn share_fitting<D: Draw>(&self, draws: &mut D, room: u64) -> u32 {
        let drawn = self.share(draws);
        self.fitted(drawn, draws, room)
    }

    /// A size, whatever fits.
    #[inline(always)]
    pub(crate) fn any<D: Draw>(&self, draws: &mut D) -> u32 {
        match &self.sizes {
            Sizes::Fixed(bytes) | Sizes::UpToEnd(bytes) => *bytes,
            Sizes::Range { min, max } => {
                // Below `max`, which is 32 bits.
                let bytes = u64::from(*min) + draws.below(u64::from(*max));
                let bytes = if self.unaligned { bytes } else { bytes - bytes % u64::from(*min) };
                bytes.min(u64::from(*max)) as u32
            }
            Sizes::Split(_) => self.share(draws),
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
