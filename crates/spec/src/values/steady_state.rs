//! When a job counts as steady: `iops:5%`, `bw_slope:0.1%`, `lat:1ms`.

use iosonde_base::Nanos;
use iosonde_options::{
    Bytes, Choice, OptionValue, ParseContext, TimeUnit, ValueError, ValueKind, words,
};

words! {
    /// What is watched, and how it is judged.
    pub enum Criterion {
        Iops = "iops" : "largest deviation of IOPS from their mean",
        IopsSlope = "iops_slope" : "slope of IOPS over time",
        Bw = "bw" : "largest deviation of bandwidth from its mean",
        BwSlope = "bw_slope" : "slope of bandwidth over time",
        Lat = "lat" : "largest deviation of completion latency from its mean",
        LatSlope = "lat_slope" : "slope of completion latency over time",
    }
}

/// How far off is still steady.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// Of the mean, in percent.
    Percent(f64),
    /// In I/Os or bytes per second, or nanoseconds.
    Absolute(f64),
}

/// The value of `steadystate`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SteadyGoal {
    /// What is watched.
    pub criterion: Criterion,
    /// How far off is still steady.
    pub limit: Limit,
}

impl OptionValue for SteadyGoal {
    const KIND: ValueKind = ValueKind::Form;
    const CHOICES: &'static [Choice] = Criterion::WORDS;
    fn parse(text: &str, context: &mut ParseContext) -> Result<Self, ValueError> {
        let (word, limit) = text.split_once(':').unwrap_or((text, ""));
        let criterion = Criterion::parse(word, context)?;
        let want = || ValueError::new("a limit such as iops:5% or bw:1m", text);
        if !text.contains(':') {
            let line = "fio: steadystate threshold must be specified in addition to criterion";
            return Err(want().as_fio(line));
        }
        let of = match criterion {
            Criterion::Iops | Criterion::IopsSlope => "IOPS",
            Criterion::Bw | Criterion::BwSlope => "BW",
            Criterion::Lat | Criterion::LatSlope => "latency",
        };
        let want =
            || want().as_fio(format!("fio: steadystate {of} threshold postfix parsing failed"));
        let number =
            |text: &str| text.trim().parse().ok().filter(|v: &f64| v.is_finite() && *v >= 0.0);
        let limit = if let Some(share) = limit.strip_suffix('%') {
            number(share).map(Limit::Percent)
        } else {
            absolute(criterion, limit, context).or_else(|| number(limit).map(Limit::Absolute))
        };
        Ok(SteadyGoal { criterion, limit: limit.ok_or_else(want)? })
    }
    fn show(&self) -> String {
        let word = self.criterion.word();
        match (self.limit, self.criterion) {
            (Limit::Percent(share), _) => format!("{word}:{share}%"),
            (Limit::Absolute(nanos), Criterion::Lat | Criterion::LatSlope) => {
                format!("{word}:{}", Nanos(nanos as u64).show())
            }
            (Limit::Absolute(limit), _) => format!("{word}:{limit}"),
        }
    }
}

/// A limit in the unit of what is watched: a size a second, a time.
fn absolute(criterion: Criterion, limit: &str, context: &mut ParseContext) -> Option<Limit> {
    match criterion {
        Criterion::Iops | Criterion::IopsSlope => None,
        Criterion::Bw | Criterion::BwSlope => {
            Bytes::parse(limit, context).ok().map(|bytes| Limit::Absolute(bytes.0 as f64))
        }
        Criterion::Lat | Criterion::LatSlope => {
            // A latency without a unit is in microseconds here, as latencies are elsewhere.
            debug_assert_eq!(context.row.unit, TimeUnit::Micros);
            Nanos::parse(limit, context).ok().map(|span| Limit::Absolute(span.0 as f64))
        }
    }
}
