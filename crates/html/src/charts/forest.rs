//! The forest plot: how B differs from A in each figure, with its interval.

use super::frame::{Chart, RIGHT, at, cut};
use super::scale::Scale;
use crate::compared::{ComparedFigure, FigureVerdict};
use maud::{Markup, html};

/// Names end here, the drawing begins.
const START: f64 = 120.0;
/// The drawing ends here, words begin.
const END: f64 = 318.0;
const TOP: f64 = 30.0;
const HIGH: f64 = 27.0;
/// Ratios beyond this lie on the border.
const RATIO_MOST: f64 = 100.0;
/// Labels of the axis are so far apart.
const LABEL_GAP: f64 = 54.0;

/// The plot; `margin` is the ratio that matters (0.05 is 5 %).
pub(crate) fn chart(figures: &[ComparedFigure], margin: f64) -> Option<Markup> {
    if figures.is_empty() {
        return None;
    }
    let x = scale(figures, margin);
    let bottom = TOP + HIGH * figures.len() as f64;
    let margins = [1.0 / (1.0 + margin), 1.0 + margin].map(|ratio| x.at(ratio));
    let drawing = html! {
        rect.band x=(at(margins[0])) width=(at(margins[1] - margins[0])) y=(at(TOP - 6.0))
            height=(at(bottom - TOP + 6.0)) {}
        @for place in margins {
            line.margin x1=(at(place)) x2=(at(place)) y1=(at(TOP - 6.0)) y2=(at(bottom)) {}
        }
        text.name x=(at((margins[0] + margins[1]) / 2.0)) y="16" text-anchor="middle" { "margin" }
        line.base x1=(at(x.at(1.0))) x2=(at(x.at(1.0))) y1=(at(TOP - 6.0)) y2=(at(bottom)) {}
        (axis(&x, bottom))
        @for (row, figure) in figures.iter().enumerate() { (one_row(row, figure, &x)) }
    };
    let chart = Chart {
        id: "forest",
        title: "B against A",
        finding: finding(figures, margin),
        height: bottom + 40.0,
        drawing,
        table: (Vec::new(), Vec::new()),
    };
    Some(chart.markup())
}

/// As wide as the widest interval, as far as it is known, and not narrower than
/// twice the margin.
fn scale(figures: &[ComparedFigure], margin: f64) -> Scale {
    let ends = figures.iter().flat_map(|figure| {
        let (low, high) = figure.interval.unwrap_or((figure.ratio, figure.ratio));
        // An interval that says nothing would hide the others.
        let known =
            |end: f64| if (1.0 / RATIO_MOST..=RATIO_MOST).contains(&end) { end } else { 1.0 };
        [known(low), known(high), known(figure.ratio)]
    });
    let most = ends.map(|ratio| ratio.ln().abs()).fold(2.0 * margin.ln_1p(), f64::max) * 1.06;
    Scale::log((-most).exp(), most.exp(), START, END)
}

fn axis(x: &Scale, bottom: f64) -> Markup {
    let candidates = [1.01, 1.02, 1.05, 1.1, 1.2, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0];
    let mut named = vec![1.0];
    let mut last = x.at(1.0);
    for ratio in candidates.into_iter().filter(|&ratio| ratio <= x.high()) {
        if x.at(ratio) - last >= LABEL_GAP {
            last = x.at(ratio);
            named.extend([ratio, 1.0 / ratio]);
        }
    }
    html! {
        g.axis {
            line.base x1=(at(START)) x2=(at(END)) y1=(at(bottom)) y2=(at(bottom)) {}
            @for ratio in named {
                @let place = x.at(ratio);
                line.base x1=(at(place)) x2=(at(place)) y1=(at(bottom)) y2=(at(bottom + 4.0)) {}
                text x=(at(place)) y=(at(bottom + 17.0)) text-anchor="middle" { (label(ratio)) }
            }
            text.name x=(at(END)) y=(at(bottom + 33.0)) text-anchor="end" { "B over A, logarithmic" }
        }
    }
}

/// A ratio as a change: from three times on, and below a third, as a ratio.
fn label(ratio: f64) -> String {
    match ratio {
        _ if (ratio - 1.0).abs() < 1e-9 => "same".to_owned(),
        _ if ratio >= 2.0 => format!("{ratio:.0} x"),
        _ if ratio <= 0.5 => format!("1/{:.0} x", 1.0 / ratio),
        _ => format!("{:+.0} %", (ratio - 1.0) * 100.0),
    }
}

fn one_row(row: usize, figure: &ComparedFigure, x: &Scale) -> Markup {
    let y = TOP + HIGH * (row as f64 + 0.5);
    let class = match (figure.verdict, figure.b_is_better) {
        (FigureVerdict::Differs, true) => "good",
        (FigureVerdict::Differs, false) => "bad",
        _ => "even",
    };
    let ends = figure.interval.map(|(low, high)| (x.at(low), x.at(high)));
    let place = x.at(figure.ratio);
    html! {
        text x=(at(START - 10.0)) y=(at(y + 4.0)) text-anchor="end" { (cut(&figure.label, 16)) }
        g class={ "row " (class) } {
            title { (figure.label) ": " (figure.change) ", " (figure.interval_text) ": " (figure.words) }
            @if let Some((left, right)) = ends {
                line.interval x1=(at(left)) x2=(at(right)) y1=(at(y)) y2=(at(y)) {}
                @for end in [left, right] {
                    line.interval x1=(at(end)) x2=(at(end)) y1=(at(y - 5.0)) y2=(at(y + 5.0)) {}
                }
            }
            @match figure.verdict {
                FigureVerdict::Differs => circle.estimate r="5" cx=(at(place)) cy=(at(y)) {},
                FigureVerdict::Same => rect.estimate x=(at(place - 4.5)) y=(at(y - 4.5)) width="9" height="9" {},
                FigureVerdict::CannotTell => circle.estimate.open r="5" cx=(at(place)) cy=(at(y)) {},
            }
        }
        text x=(at(END + 10.0)) y=(at(y + 4.0)) {
            (figure.change) ", " (short_words(figure))
        }
        @if row > 0 {
            line.grid x1=(at(12.0)) x2=(at(RIGHT)) y1=(at(y - HIGH / 2.0)) y2=(at(y - HIGH / 2.0)) {}
        }
    }
}

fn short_words(figure: &ComparedFigure) -> &'static str {
    match (figure.verdict, figure.b_is_better) {
        (FigureVerdict::Differs, true) => "B better",
        (FigureVerdict::Differs, false) => "B worse",
        (FigureVerdict::Same, _) => "same",
        (FigureVerdict::CannotTell, _) => "cannot tell",
    }
}

fn finding(figures: &[ComparedFigure], margin: f64) -> String {
    let count =
        |verdict: FigureVerdict| figures.iter().filter(|one| one.verdict == verdict).count();
    format!(
        "Of {} figures: {} with a difference, {} the same within {}, {} undecided. A filled \
         circle differs, a square is the same, a hollow circle is undecided; the line is the \
         interval.",
        figures.len(),
        count(FigureVerdict::Differs),
        count(FigureVerdict::Same),
        iosonde_base::text::short_percent(margin),
        count(FigureVerdict::CannotTell)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_that_says_nothing_does_not_hide_the_others() {
        let figure =
            |ratio: f64, interval| ComparedFigure { ratio, interval, ..ComparedFigure::default() };
        let all = [figure(1.02, Some((1.0, 1.04))), figure(1.0, Some((1e-9, 1e9)))];
        assert!((scale(&all, 0.05).high().ln() - 2.0 * 1.05f64.ln() * 1.06).abs() < 1e-9);
        let wide = scale(&[figure(5.0, Some((4.0, 6.0)))], 0.05);
        assert!(wide.high() > 6.0 && wide.low() < 1.0 / 6.0);
    }

    #[test]
    fn ratios_are_named_as_changes_while_they_are_small() {
        assert_eq!(
            [1.0, 1.1, 1.0 / 1.1, 2.0, 0.2].map(label),
            ["same", "+10 %", "-9 %", "2 x", "1/5 x"]
        );
    }
}
