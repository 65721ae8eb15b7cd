//! The colours of heat maps, of pages and of pictures alone, and the ink that is read on them.

/// From figures to shares of the colours, by their ratio: the lowest is 0, the highest 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ColourScale {
    low: f64,
    high: f64,
}

impl ColourScale {
    /// Of all figures of a map; `None` without one.
    pub fn of(values: impl Iterator<Item = f64> + Clone) -> Option<ColourScale> {
        let (low, high) = (values.clone().min_by(f64::total_cmp)?, values.max_by(f64::total_cmp)?);
        Some(ColourScale { low, high })
    }

    /// The share of a figure; the middle where all are alike.
    pub fn share(&self, value: f64) -> f64 {
        if self.high > self.low * 1.000_001 && self.low > 0.0 {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            0.5
        }
    }

    /// The figure at a share.
    pub fn at(&self, share: f64) -> f64 {
        let within = share > 0.0 && share < 1.0 && self.low > 0.0;
        match share {
            share if within => self.low * (self.high / self.low).powf(share),
            share if share < 0.5 => self.low,
            _ => self.high,
        }
    }
}

/// Viridis (van der Walt and Smith, 2015) from 18 to 90 %: its ends are too near
/// to black and to white to be seen on either background.
const VIRIDIS: [[f64; 3]; 5] = [
    [69.0, 53.0, 129.0],
    [52.0, 95.0, 141.0],
    [33.0, 145.0, 140.0],
    [79.0, 195.0, 107.0],
    [181.0, 222.0, 43.0],
];

/// The colour of a share from 0 to 1.
pub fn shade(share: f64) -> [u8; 3] {
    let place = share.clamp(0.0, 1.0) * (VIRIDIS.len() - 1) as f64;
    let at = (place as usize).min(VIRIDIS.len() - 2);
    let part = place - at as f64;
    let mix = |of: usize| VIRIDIS[at][of] + part * (VIRIDIS[at + 1][of] - VIRIDIS[at][of]);
    [0, 1, 2].map(|of| mix(of).round() as u8)
}

/// A colour as an attribute has it.
pub fn hex([red, green, blue]: [u8; 3]) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Black or white, whichever has more contrast with a colour (WCAG 2.1).
pub fn ink(colour: [u8; 3]) -> &'static str {
    // At this luminance both have the same contrast.
    const EVEN: f64 = 0.179;
    if luminance(colour) > EVEN { "#000" } else { "#fff" }
}

/// The relative luminance, from 0 to 1.
fn luminance(colour: [u8; 3]) -> f64 {
    let [red, green, blue] = colour.map(|part| {
        let value = f64::from(part) / 255.0;
        if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    });
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_of_one_figure_is_finite_and_one_of_none_is_none() {
        let one = ColourScale::of([5.0].into_iter()).unwrap();
        assert_eq!((one.share(5.0), one.at(0.5)), (0.5, 5.0));
        assert_eq!(ColourScale::of([].into_iter()), None);
    }

    #[test]
    fn shades_run_from_dark_to_bright() {
        assert_eq!((hex(shade(0.0)), hex(shade(1.0))), ("#453581".into(), "#b5de2b".into()));
        let steps: Vec<f64> = (0..=20).map(|at| luminance(shade(f64::from(at) / 20.0))).collect();
        assert!(steps.windows(2).all(|pair| pair[0] < pair[1]), "{steps:?}");
    }

    #[test]
    fn ink_is_read_on_every_shade() {
        for at in 0..=100 {
            let colour = shade(f64::from(at) / 100.0);
            let ink: f64 = if ink(colour) == "#fff" { 1.0 } else { 0.0 };
            let (bright, dark) = (ink.max(luminance(colour)), ink.min(luminance(colour)));
            let contrast = (bright + 0.05) / (dark + 0.05);
            assert!(contrast >= 4.5, "{at}: {contrast:.2}");
        }
    }
}
