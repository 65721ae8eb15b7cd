//! A promise to keep: a figure and its bound (`sweep --slo`, `like --goal`).

use super::figures::{Figure, FigureLane, Measure, errors};
use iosonde_report::Report;

/// One promise: a figure and its bound.
#[derive(Clone, Debug, PartialEq)]
pub struct Promise {
    /// As typed.
    pub text: String,
    kind: PromiseKind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum PromiseKind {
    /// The figure is below; nanoseconds.
    Below(Figure, f64),
    /// At most so many I/Os fail.
    ErrorsAtMost(u64),
}

/// How a run kept a promise.
#[derive(Clone, Debug, PartialEq)]
pub struct PromiseResult {
    /// Whether it did.
    pub kept: bool,
    /// Whether the result has the figure.
    pub is_known: bool,
    /// The figure, as text.
    pub value: String,
}

impl Promise {
    /// From `read.response.p99 < 2ms` or `errors = 0`.
    ///
    /// # Errors
    /// It is not of that form.
    pub fn parse(text: &str) -> Result<Promise, String> {
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
            return Ok(Promise { text: whole, kind: PromiseKind::ErrorsAtMost(most) });
        }
        let figure = Figure::parse(name).map_err(|why| wrong(&why))?;
        let is_time = matches!(
            figure.measure,
            Measure::Latency(_) | Measure::Response(_) | Measure::SyncLatency(_)
        );
        match nanoseconds(bound) {
            _ if text.as_bytes()[at] == b'=' => Err(wrong("a latency has a bound: use <")),
            _ if !is_time => Err(wrong("only latencies and errors have bounds")),
            Some(ns) => Ok(Promise { text: whole, kind: PromiseKind::Below(figure, ns) }),
            None => Err(wrong(&format!("{bound:?} is no time with ns, us, ms or s"))),
        }
    }

    /// Whether a result keeps it. A figure that is not there is not kept.
    pub fn judge(&self, report: &Report) -> PromiseResult {
        match self.kind {
            PromiseKind::ErrorsAtMost(most) => {
                let errors = errors(report);
                PromiseResult {
                    kept: errors <= most,
                    is_known: true,
                    value: iosonde_base::text::counted(errors, "error"),
                }
            }
            PromiseKind::Below(figure, bound) => match self.value(&figure, report) {
                Some(ns) => {
                    PromiseResult { kept: ns < bound, is_known: true, value: figure.text(ns) }
                }
                None => PromiseResult { kept: false, is_known: false, value: "unknown".into() },
            },
        }
    }

    /// The largest over the directions that it means.
    fn value(&self, named: &Figure, report: &Report) -> Option<f64> {
        if named.lane.is_some() || matches!(named.measure, Measure::SyncLatency(_)) {
            return named.value(report);
        }
        let lanes = FigureLane::used(report);
        let values = lanes
            .into_iter()
            .map(|lane| Figure { lane: Some(lane), measure: named.measure }.value(report));
        values.collect::<Option<Vec<f64>>>()?.into_iter().max_by(f64::total_cmp)
    }

    /// How many I/Os a run needs for its percentile: ten beyond it.
    pub fn ios_needed(&self) -> u64 {
        match self.kind {
            PromiseKind::ErrorsAtMost(_) => 0,
            PromiseKind::Below(figure, _) => match figure.measure {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trials::figures::tests::result;

    #[test]
    fn a_promise_is_kept_below_its_bound() {
        let report = result(10_000.0, 1_500_000).report;
        let judged = |text: &str| Promise::parse(text).unwrap().judge(&report);
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
        assert_eq!(Promise::parse("p99 < 2ms").unwrap().ios_needed(), 1000);
        assert_eq!(Promise::parse("p99.9 < 2ms").unwrap().ios_needed(), 10_000);
    }

    #[test]
    fn wrong_promises_are_refused_with_what_is_wrong() {
        for (text, said) in [
            ("p99", "it has no <"),
            ("p99 < 2", "is no time"),
            ("p99 < -2ms", "is no time"),
            ("p99 = 2ms", "use <"),
            ("iops < 5s", "only latencies"),
            ("errors = x", "is no number"),
            ("foo < 2ms", "unknown figure"),
        ] {
            let error = Promise::parse(text).unwrap_err();
            assert!(error.contains(said) && error.contains("read.response.p99"), "{text}: {error}");
        }
    }
}
