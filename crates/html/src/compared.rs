//! Figures of A and of B, ready to be shown.

use crate::unit::FigureUnit;

/// What the runs show of a figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FigureVerdict {
    /// The sides differ.
    Differs,
    /// They are the same within the margin.
    Same,
    /// Neither is shown.
    #[default]
    CannotTell,
}

/// One figure of both sides.
#[derive(Clone, Debug)]
pub struct ComparedFigure {
    /// Its name: `read IOPS`.
    pub label: String,
    /// Of its values.
    pub unit: FigureUnit,
    /// The value of A and of B, as text.
    pub values: [String; 2],
    /// B over A.
    pub ratio: f64,
    /// The interval of the ratio, if there is one.
    pub interval: Option<(f64, f64)>,
    /// The change as text: `+13.3 %`.
    pub change: String,
    /// The interval as text.
    pub interval_text: String,
    /// What is shown.
    pub verdict: FigureVerdict,
    /// The same in words.
    pub words: String,
    /// Whether B is the better one.
    pub b_is_better: bool,
    /// The values of each run of A and of B.
    pub runs: [Vec<f64>; 2],
}

impl Default for ComparedFigure {
    fn default() -> ComparedFigure {
        ComparedFigure {
            label: String::new(),
            unit: FigureUnit::Count,
            values: Default::default(),
            ratio: 1.0,
            interval: None,
            change: String::new(),
            interval_text: String::new(),
            verdict: FigureVerdict::CannotTell,
            words: String::new(),
            b_is_better: false,
            runs: Default::default(),
        }
    }
}

/// Which run of which side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunPlace {
    /// 0 for A, 1 for B.
    pub side: usize,
    /// Which of its runs.
    pub index: usize,
}
