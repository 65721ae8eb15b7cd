//! Distributions of random offsets: `zipf:1.2:0.5`, `zoned:60/10:40/90`.

use iosonde_base::PerDir;
use iosonde_options::{Bytes, Choice, OptionValue, ParseContext, ValueError, ValueKind};
use iosonde_workload::{Distribution, Zone};

/// The value of `random_distribution`.
#[derive(Clone, Debug, PartialEq)]
pub struct RandomDistribution(pub Distribution);

/// zipf's exponent when none is given.
pub(super) const ZIPF_THETA: f64 = 1.1;
/// pareto's input when none is given.
pub(super) const PARETO_H: f64 = 0.2;

impl OptionValue for RandomDistribution {
    const KIND: ValueKind = ValueKind::Form;
    const CHOICES: &'static [Choice] = &[
        ("random", "uniform"),
        ("zipf", "Zipf: a few very hot blocks"),
        ("pareto", "Pareto: a few hot blocks"),
        ("normal", "Gaussian"),
        ("zoned", "percentages of the I/O by percentages of the file"),
        ("zoned_abs", "percentages of the I/O by sizes"),
        ("sequence", "blocks in the order listed"),
    ];
    fn parse(text: &str, context: &mut ParseContext) -> Result<Self, ValueError> {
        distribution(text, context).map(RandomDistribution)
    }
    fn show(&self) -> String {
        match &self.0 {
            Distribution::Random => "random".into(),
            Distribution::Zipf { theta, center } => show_skew("zipf", *theta, *center),
            Distribution::Pareto { h, center } => show_skew("pareto", *h, *center),
            Distribution::Normal { deviation, center } => show_skew("normal", *deviation, *center),
            Distribution::Zoned(lists) => format!("zoned:{}", show_zones(lists)),
            Distribution::ZonedAbs(lists) => format!("zoned_abs:{}", show_zones(lists)),
            Distribution::Sequence(blocks) => {
                let shown: Vec<String> = blocks.iter().map(u64::to_string).collect();
                format!("sequence:{}", shown.join(","))
            }
        }
    }
}

fn distribution(text: &str, context: &mut ParseContext) -> Result<Distribution, ValueError> {
    let (word, after) = text.split_once(':').unwrap_or((text, ""));
    match word {
        "random" => Ok(Distribution::Random),
        "zipf" => {
            let (theta, center) = skew(after, ZIPF_THETA, text, "random")?;
            zipf_theta(theta, text, "zipf theta must different than 1.0")?;
            Ok(Distribution::Zipf { theta, center })
        }
        "pareto" => {
            let (h, center) = skew(after, PARETO_H, text, "random")?;
            pareto_h(h, text)?;
            Ok(Distribution::Pareto { h, center })
        }
        "normal" | "gauss" => {
            let (deviation, center) = skew(after, 0.0, text, "random")?;
            normal_deviation(deviation, text)?;
            Ok(Distribution::Normal { deviation, center })
        }
        "zoned" => zones(after, text, |size| {
            let share: Option<u64> = size.parse().ok();
            share.filter(|share| *share <= 100)
        })
        .map(Distribution::Zoned),
        "zoned_abs" => {
            zones(after, text, |size| Bytes::parse(size, context).ok().map(|size| size.0))
                .map(Distribution::ZonedAbs)
        }
        "sequence" if !after.is_empty() => {
            let blocks: Result<Vec<u64>, _> = after.split(',').map(str::parse).collect();
            let want = |_| ValueError::new("block numbers such as sequence:2,0,1", text);
            blocks.map(Distribution::Sequence).map_err(want)
        }
        _ => {
            let words: Vec<&str> =
                RandomDistribution::CHOICES.iter().map(|(word, _)| *word).collect();
            Err(ValueError::new(format!("one of {}", words.join(", ")), text))
        }
    }
}

/// The parameter and the center after a distribution's word.
pub(super) fn skew(
    after: &str,
    default: f64,
    all: &str,
    what: &str,
) -> Result<(f64, Option<f64>), ValueError> {
    if after.is_empty() {
        return Ok((default, None));
    }
    let number = |text: &str| -> Result<f64, ValueError> {
        text.trim().parse().ok().filter(|v: &f64| v.is_finite()).ok_or_else(|| {
            ValueError::new("a number after the colon", all)
                .as_fio(format!("fio: {what} postfix parsing failed"))
        })
    };
    let (first, center) = match after.split_once(':') {
        Some((first, center)) => (number(first)?, Some(number(center)?)),
        None => (number(after)?, None),
    };
    match center {
        Some(center) if !(0.0..=1.0).contains(&center) => {
            Err(ValueError::new("a center from 0 to 1", all)
                .as_fio("fio: distribution center out of range (0 <= center <= 1.0)"))
        }
        _ => Ok((first, center)),
    }
}

/// zipf is not defined for 1.
pub(super) fn zipf_theta(theta: f64, all: &str, fio: &str) -> Result<(), ValueError> {
    if theta == 1.0 {
        return Err(ValueError::new("a theta other than 1", all).as_fio(format!("fio: {fio}")));
    }
    Ok(())
}

/// pareto is defined between 0 and 1.
pub(super) fn pareto_h(h: f64, all: &str) -> Result<(), ValueError> {
    if h <= 0.0 || h >= 1.0 {
        return Err(ValueError::new("an input above 0 and below 1", all)
            .as_fio("fio: pareto input out of range (0 < input < 1.0)"));
    }
    Ok(())
}

/// A deviation of 100 percent would be no bell.
pub(super) fn normal_deviation(deviation: f64, all: &str) -> Result<(), ValueError> {
    if !(0.0..100.0).contains(&deviation) {
        return Err(ValueError::new("a deviation from 0 to below 100", all)
            .as_fio("fio: normal deviation out of range (0 <= input < 100.0)"));
    }
    Ok(())
}

pub(super) fn show_skew(word: &str, first: f64, center: Option<f64>) -> String {
    match center {
        Some(center) => format!("{word}:{first}:{center}"),
        None => format!("{word}:{first}"),
    }
}

/// `60/10:40/90[,write][,trim]`; the shares of I/O of each list add up to 100.
fn zones(
    after: &str,
    all: &str,
    mut size: impl FnMut(&str) -> Option<u64>,
) -> Result<PerDir<Vec<Zone>>, ValueError> {
    let want = || {
        ValueError::new("shares and sizes such as 60/10:40/90", all)
            .as_fio(format!("fio: mismatch in zoned input <{all}>"))
    };
    let mut lists: Vec<Vec<Zone>> = Vec::new();
    for part in after.split(',') {
        let mut list = Vec::new();
        for entry in part.split(':') {
            let (percent, extent) = entry.split_once('/').ok_or_else(want)?;
            let percent = percent.trim().parse().map_err(|_| want())?;
            // A blank extent shares what the others leave; 0 stands for it until then.
            let extent = if extent.trim().is_empty() { Some(0) } else { size(extent.trim()) };
            list.push(Zone { percent, size: extent.ok_or_else(want)? });
        }
        let sum: u64 = list.iter().map(|zone| u64::from(zone.percent)).sum();
        if sum != 100 {
            let line = "fio: access percentage don't add up to 100 for zoned random distribution";
            return Err(ValueError::new("shares of I/O that add up to 100", all)
                .as_fio(format!("{line} (got={sum})")));
        }
        lists.push(list);
    }
    if lists.len() > 3 {
        return Err(want());
    }
    let last = |i: usize| lists[i.min(lists.len() - 1)].clone();
    Ok(PerDir([last(0), last(1), last(2)]))
}

fn show_zones(lists: &PerDir<Vec<Zone>>) -> String {
    let list = |zones: &Vec<Zone>| {
        let shown: Vec<String> =
            zones.iter().map(|zone| format!("{}/{}", zone.percent, zone.size)).collect();
        shown.join(":")
    };
    let shown = lists.0.each_ref().map(list);
    if shown[0] == shown[1] && shown[1] == shown[2] { shown[0].clone() } else { shown.join(",") }
}
