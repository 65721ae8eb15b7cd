//! A promise to keep (`--slo`), and the option to search the highest value of
//! (`--find`).

use super::grid::number;
use crate::trials::figures::{Figure, Measure, errors};
use iosonde_report::Report;

/// One promise: a figure and its bound.
#[derive(Clone, Debug, PartialEq)]
pub struct Objective {
    /// As typed.
    pub text: String,
    kind: ObjectiveKind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum ObjectiveKind {
    /// The figure is below; nanoseconds.
    Below(Figure, f64),
    /// At most so many I/Os fail.
    ErrorsAtMost(u64),
}

/// How a run kept a promise.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectiveResult {
    /// Whether it did.
    pub kept: bool,
    /// The figure, as text.
    pub value: String,
}

impl Objective {
    /// From `read.response.p99 < 2ms` or `errors = 0`.
    ///
    /// # Errors
    /// It is not of that form.
    pub fn parse(text: &str) -> Result<Objective, String> {
        let wrong = |why: &str| {
            format!(
                "invalid promise {text:?}: {why}: use FIGURE < TIME, as 'read.response.p99 < 2ms', or \
                 'errors = 0'"
            )
        };
        let at = text.find(['<', '=']).ok_or_else(|| wrong("it has no < or ="))?;
        let name = text[..at].trim();
        let bound = text[at..].trim_start_matches(['<', '=']).trim();
        let whole = text.trim().to_owned();
        if name == "errors" {
            let most = bound.parse().map_err(|_| wrong("the number of errors is no number"))?;
            return Ok(Objective { text: whole, kind: ObjectiveKind::ErrorsAtMost(most) });
        }
        let figure = Figure::parse(name).map_err(|why| wrong(&why))?;
        let is_time = matches!(
            figure.measure,
            Measure::Latency(_) | Measure::Response(_) | Measure::SyncLatency(_)
        );
        match nanoseconds(bound) {
            _ if text.as_bytes()[at] == b'=' => Err(wrong("a latency has a bound: use <")),
            _ if !is_time => Err(wrong("only latencies and errors have bounds")),
            Some(ns) => Ok(Objective { text: whole, kind: ObjectiveKind::Below(figure, ns) }),
            None => Err(wrong(&format!("{bound:?} is no time with ns, us, ms or s"))),
        }
    }

    /// Whether a result keeps it. A figure that is not there is not kept.
    pub fn judge(&self, report: &Report) -> ObjectiveResult {
        match self.kind {
            ObjectiveKind::ErrorsAtMost(most) => {
                let errors = errors(report);
                ObjectiveResult { kept: errors <= most, value: format!("{errors} errors") }
            }
            ObjectiveKind::Below(figure, bound) => match self.value(&figure, report) {
                Some(ns) => ObjectiveResult { kept: ns < bound, value: figure.text(ns) },
                None => ObjectiveResult { kept: false, value: "unknown".into() },
            },
        }
    }

    /// The largest over the directions that it means.
    fn value(&self, named: &Figure, report: &Report) -> Option<f64> {
        if named.lane.is_some() || matches!(named.measure, Measure::SyncLatency(_)) {
            return named.value(report);
        }
        let lanes = crate::trials::figures::FigureLane::used(report);
        let values = lanes
            .into_iter()
            .map(|lane| Figure { lane: Some(lane), measure: named.measure }.value(report));
        values.collect::<Option<Vec<f64>>>()?.into_iter().max_by(f64::total_cmp)
    }

    /// How many I/Os a run needs for its percentile: ten beyond it.
    pub fn ios_needed(&self) -> u64 {
        match self.kind {
            ObjectiveKind::ErrorsAtMost(_) => 0,
            ObjectiveKind::Below(figure, _) => match figure.measure {
                Measure::Latency(percent) | Measure::Response(percent) => {
                    (10.0 / (1.0 - percent / 100.0)).round() as u64
                }
                _ => 0,
            },
        }
    }
}

fn nanoseconds(text: &str) -> Option<f64> {
    let split = text.find(|letter: char| letter.is_ascii_alphabetic())?;
    let number: f64 = text[..split].trim().parse().ok()?;
    let factor = match &text[split..] {
        "ns" => 1.0,
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return None,
    };
    (number > 0.0).then_some(number * factor)
}

/// The option to search the highest value of.
#[derive(Clone, Debug, PartialEq)]
pub struct FindOption {
    /// Its name: `rate_iops`.
    pub name: String,
    /// Between which values.
    pub range: Option<(f64, f64)>,
}

impl FindOption {
    /// From `rate_iops` or `rate_iops=LO..HI`.
    ///
    /// # Errors
    /// It is another option, or no range.
    pub fn parse(text: &str) -> Result<FindOption, String> {
        let wrong = || {
            format!("cannot search {text:?}: use rate_iops or rate_iops=LO..HI: rate_iops=100..20k")
        };
        let (name, range) =
            text.split_once('=').map_or((text, None), |(name, range)| (name, Some(range)));
        if name != "rate_iops" {
            return Err(wrong());
        }
        let ends = |range: &str| -> Option<(f64, f64)> {
            let (low, high) = range.split_once("..")?;
            let (low, high) = (iops(low)?, iops(high)?);
            (low >= 1.0 && low <= high).then_some((low, high))
        };
        let range = range.map(|range| ends(range).ok_or_else(wrong)).transpose()?;
        Ok(FindOption { name: name.into(), range })
    }
}

/// I/Os a second: `k` is 1000 here, as in reports.
fn iops(text: &str) -> Option<f64> {
    match text.strip_suffix(['k', 'K']) {
        Some(thousands) => Some(thousands.parse::<f64>().ok()? * 1000.0),
        None => number(text).filter(|_| !text.ends_with('%')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trials::figures::tests::result;

    #[test]
    fn a_promise_is_kept_below_its_bound() {
        let report = result(10_000.0, 1_500_000).report;
        let judged = |text: &str| Objective::parse(text).unwrap().judge(&report);
        assert!(judged("read.p99 < 2ms").kept && judged("p99<2ms").kept);
        assert!(!judged("p99 < 1500us").kept);
        assert_eq!(judged("p99 < 1s").value, "1.50 ms");
        assert!(judged("errors = 0").kept);
        // What was not measured is not kept.
        assert!(!judged("read.response.p99 < 2ms").kept);
        assert!(!judged("write.p99 < 2ms").kept);
    }

    #[test]
    fn a_percentile_needs_ten_ios_beyond_it() {
        assert_eq!(Objective::parse("p99 < 2ms").unwrap().ios_needed(), 1000);
        assert_eq!(Objective::parse("p99.9 < 2ms").unwrap().ios_needed(), 10_000);
    }

    #[test]
    fn wrong_promises_and_options_are_refused_with_what_is_wrong() {
        for (text, said) in [
            ("p99", "it has no <"),
            ("p99 < 2", "is no time"),
            ("p99 < -2ms", "is no time"),
            ("p99 = 2ms", "use <"),
            ("iops < 5s", "only latencies"),
            ("errors = x", "is no number"),
            ("foo < 2ms", "unknown figure"),
        ] {
            let error = Objective::parse(text).unwrap_err();
            assert!(error.contains(said) && error.contains("read.response.p99"), "{text}: {error}");
        }
        assert_eq!(FindOption::parse("rate_iops=100..20k").unwrap().range, Some((100.0, 20_000.0)));
        for text in ["iodepth", "rate_iops=5", "rate_iops=9..1", "rate_iops=0..5", "rate_iops=x..y"]
        {
            assert!(FindOption::parse(text).unwrap_err().contains("LO..HI"), "{text}");
        }
    }
}
