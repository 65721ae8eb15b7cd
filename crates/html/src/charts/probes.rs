//! The probes of a search: which rate was tried when, and whether it kept the
//! promise.

use super::frame::{Chart, KeyEntry, LEFT, RIGHT, TOP, at, legend, marker, path, x_axis, y_axis};
use super::scale::{Scale, log_ticks, ticks};
use iosonde_base::text::count;
use maud::{Markup, html};

const BOTTOM: f64 = 256.0;

/// One run at one rate.
#[derive(Clone, Debug, Default)]
pub struct SearchedProbe {
    /// The rate, in I/Os a second.
    pub rate: f64,
    /// Which part of the search it belongs to.
    pub phase: &'static str,
    /// The figures of the promises, as text.
    pub values: Vec<String>,
    /// Whether all promises were kept.
    pub is_kept: bool,
}

/// The chart; `answer` is the rate that was found.
pub(crate) fn chart(option: &str, probes: &[SearchedProbe], answer: Option<f64>) -> Option<Markup> {
    let rates = || probes.iter().map(|probe| probe.rate).chain(answer).filter(|rate| *rate > 0.0);
    let (low, high) = (rates().min_by(f64::total_cmp)?, rates().max_by(f64::total_cmp)?);
    let y = Scale::log(low / 1.3, high * 1.3, BOTTOM, TOP);
    let number = probes.len() as f64;
    let x = Scale::linear(0.5, number + 0.5, LEFT, RIGHT);
    let whole = |tick: &f64| *tick > 1.0 && *tick <= number && tick.fract() == 0.0;
    let labels = std::iter::once(1.0).chain(ticks(number).into_iter().filter(whole));
    let labels: Vec<(f64, String)> = labels.map(|tick| (tick, format!("{tick:.0}"))).collect();
    let place =
        |(index, probe): (usize, &SearchedProbe)| (x.at(index as f64 + 1.0), y.at(probe.rate));
    let drawing = html! {
        (y_axis(&log_ticks(y.low(), y.high(), false), &y, count))
        (x_axis(&labels, &x, BOTTOM, "number of the probe"))
        @if let Some(answer) = answer {
            line.bound x1=(at(LEFT)) x2=(at(RIGHT)) y1=(at(y.at(answer))) y2=(at(y.at(answer))) {}
            text.name x=(at(LEFT + 6.0)) y=(at(y.at(answer) - 6.0)) { "answer " (count(answer)) }
        }
        path.line.light.a d=(path(probes.iter().enumerate().map(|probe| Some(place(probe))))) {}
        @for (index, probe) in probes.iter().enumerate() {
            (marker(if probe.is_kept { "s0" } else { "s5" }, place((index, probe))))
        }
        (phases(probes, &x))
        (legend(&[KeyEntry::marked("s0", "kept"), KeyEntry::marked("s5", "not kept")]))
    };
    let kept = probes.iter().filter(|probe| probe.is_kept).count();
    let row = |(index, probe): (usize, &SearchedProbe)| {
        let kept = if probe.is_kept { "kept" } else { "not kept" };
        vec![
            (index + 1).to_string(),
            probe.phase.to_owned(),
            count(probe.rate),
            probe.values.join(", "),
            kept.to_owned(),
        ]
    };
    let chart = Chart {
        id: "probes",
        title: &format!("The search: {option} of each probe"),
        finding: format!(
            "{kept} of {} probes kept the promise (circles), the others did not (crosses). First the \
             rate grows, then the gap is halved, then fresh runs confirm.",
            probes.len()
        ),
        height: BOTTOM + 40.0,
        drawing,
        table: (
            vec!["probe", "part of the search", option, "figures", ""],
            probes.iter().enumerate().map(row).collect(),
        ),
    };
    Some(chart.markup())
}

/// The parts of the search: a line where one begins, and its name.
fn phases(probes: &[SearchedProbe], x: &Scale) -> Markup {
    let begins = |at: &usize| *at == 0 || probes[*at].phase != probes[*at - 1].phase;
    html! {
        @for index in (0..probes.len()).filter(begins) {
            @let place = x.at(index as f64 + 0.5);
            @if index > 0 {
                line.base x1=(at(place)) x2=(at(place)) y1=(at(TOP)) y2=(at(BOTTOM)) {}
            }
            text.name x=(at(place + 5.0)) y=(at(BOTTOM - 6.0)) { (probes[index].phase) }
        }
    }
}
