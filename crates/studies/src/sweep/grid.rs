//! The points of a sweep: `--over iodepth=1..256*2 --over bs=4k,64k`.

use crate::trials::settings::OptionSetting;
use iosonde_base::text::size;

/// One axis: an option, or options that change together, and its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweepAxis {
    /// The options' names, as typed: `iodepth`, `reader:bs`.
    pub names: Vec<String>,
    /// The values, each a text for each option.
    pub values: Vec<Vec<String>>,
}

/// A combination of values, one of each axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GridPoint {
    /// The options, in the order of the axes.
    pub settings: Vec<OptionSetting>,
}

impl GridPoint {
    /// `iodepth=8 bs=4k`.
    pub fn text(&self) -> String {
        self.settings.iter().map(OptionSetting::text).collect::<Vec<_>>().join(" ")
    }

    /// The value of an option, as typed.
    pub fn value(&self, name: &str) -> Option<&str> {
        let setting = self.settings.iter().find(|setting| setting.axis() == name)?;
        setting.value.as_deref()
    }
}

/// More values than this on one axis are a typing error.
const VALUES_MOST: usize = 10_000;

impl SweepAxis {
    /// From `NAME=VALUES`: a list of values and ranges, `A..B*K` (each K times
    /// the one before), `A..B+K` (each K more), `A..B:N` (N values). Options that
    /// change together are joined by `+`, as their values are:
    /// `bs+iodepth=4k+32,64k+8`.
    ///
    /// # Errors
    /// It is not of that form.
    pub fn parse(text: &str) -> Result<SweepAxis, String> {
        let wrong = |why: &str| {
            format!(
                "invalid axis {text:?}: {why}: use OPTION=VALUES with values as 1,2,4 or 1..256*2 or \
                 0..100+25 or 10..1000:5"
            )
        };
        let (names, values) = text.split_once('=').ok_or_else(|| wrong("it has no ="))?;
        let names: Vec<String> =
            names.trim_start_matches('-').split('+').map(str::to_owned).collect();
        if names.iter().any(|name| name.rsplit(':').next().is_none_or(str::is_empty)) {
            return Err(wrong("an option has no name"));
        }
        let mut all: Vec<Vec<String>> = Vec::new();
        for item in values.split(',') {
            let item = item.trim();
            match names.len() {
                _ if item.is_empty() => return Err(wrong("a value is empty")),
                1 => {
                    let expanded = range(item).map_err(|why| wrong(&why))?;
                    all.extend(expanded.into_iter().map(|value| vec![value]));
                }
                count => {
                    let parts: Vec<String> = item.split('+').map(str::to_owned).collect();
                    if parts.len() != count || parts.iter().any(String::is_empty) {
                        return Err(wrong(&format!(
                            "{item:?} does not have {count} values joined by +"
                        )));
                    }
                    all.push(parts);
                }
            }
        }
        let mut values: Vec<Vec<String>> = Vec::new();
        for value in all {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        if values.len() <= VALUES_MOST {
            Ok(SweepAxis { names, values })
        } else {
            Err(wrong(&format!("it has more than {VALUES_MOST} values")))
        }
    }

    fn settings(&self, value: &[String]) -> Vec<OptionSetting> {
        let of = |(name, value): (&String, &String)| {
            let (section, name) = match name.rsplit_once(':') {
                Some((section, name)) => (Some(section.to_owned()), name),
                None => (None, name.as_str()),
            };
            OptionSetting { section, name: name.to_owned(), value: Some(value.clone()) }
        };
        self.names.iter().zip(value).map(of).collect()
    }
}

/// All points: each value of each axis with each of the others.
pub fn points(axes: &[SweepAxis]) -> Vec<GridPoint> {
    let mut points = vec![GridPoint { settings: Vec::new() }];
    for axis in axes {
        points = points
            .iter()
            .flat_map(|point| {
                axis.values.iter().map(|value| {
                    let more = axis.settings(value);
                    GridPoint { settings: [point.settings.clone(), more].concat() }
                })
            })
            .collect();
    }
    points
}

/// A number as the job language has it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct SizedNumber {
    value: f64,
    unit: NumberUnit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NumberUnit {
    Plain,
    /// k, m, g, t: powers of 1024.
    Size,
    Percent,
}

/// The number of a text: `8`, `4k`, `10%`.
pub fn number(text: &str) -> Option<f64> {
    sized(text).map(|number| number.value)
}

fn sized(text: &str) -> Option<SizedNumber> {
    let split = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.');
    let (digits, unit) = text.split_at(split.unwrap_or(text.len()));
    let number: f64 = digits.parse().ok()?;
    let (factor, unit) = match unit {
        "" => (1.0, NumberUnit::Plain),
        "%" => (1.0, NumberUnit::Percent),
        _ => (size(&format!("1{unit}")).ok()? as f64, NumberUnit::Size),
    };
    Some(SizedNumber { value: number * factor, unit })
}

/// A range, or else the item itself.
fn range(item: &str) -> Result<Vec<String>, String> {
    let Some((from, rest)) = item.split_once("..") else { return Ok(vec![item.to_owned()]) };
    let Some(from) = sized(from) else { return Ok(vec![item.to_owned()]) };
    let at = rest.find(['*', '+', ':']);
    let Some(at) = at else {
        return Err(format!("{item:?} has no step (*K, +K) and no number of values (:N)"));
    };
    let (to, step) = rest.split_at(at);
    let to = sized(to).ok_or_else(|| format!("{to:?} in {item:?} is no number"))?;
    let by =
        sized(&step[1..]).ok_or_else(|| format!("{:?} in {item:?} is no number", &step[1..]))?;
    if to.value < from.value {
        return Err(format!("{item:?} ends before it begins"));
    }
    let numbers = match &step[..1] {
        "*" => geometric(from.value, to.value, by.value),
        "+" => arithmetic(from.value, to.value, by.value),
        _ => counted(from.value, to.value, by.value),
    };
    let numbers = numbers
        .ok_or_else(|| format!("the step of {item:?} does not get from one end to the other"))?;
    let unit = [from.unit, to.unit].into_iter().find(|unit| *unit != NumberUnit::Plain);
    Ok(numbers.into_iter().map(|number| written(number, unit)).collect())
}

fn geometric(from: f64, to: f64, factor: f64) -> Option<Vec<f64>> {
    if from <= 0.0 || factor <= 1.0 {
        return None;
    }
    // The last may miss the end by a rounding error.
    let series = std::iter::successors(Some(from), |last| Some(last * factor));
    Some(series.take_while(|value| *value <= to * (1.0 + 1e-9)).take(VALUES_MOST + 1).collect())
}

fn arithmetic(from: f64, to: f64, step: f64) -> Option<Vec<f64>> {
    if step <= 0.0 {
        return None;
    }
    let count = ((to - from) / step + 1e-9) as usize;
    Some((0..=count.min(VALUES_MOST)).map(|at| from + at as f64 * step).collect())
}

/// `count` values, geometric where the ends are far apart.
fn counted(from: f64, to: f64, count: f64) -> Option<Vec<f64>> {
    if !(2.0..=VALUES_MOST as f64).contains(&count) || count.fract() != 0.0 {
        return None;
    }
    let last = count - 1.0;
    let is_geometric = from > 0.0 && to / from > 10.0;
    let at = |step: usize| {
        if is_geometric {
            from * (to / from).powf(step as f64 / last)
        } else {
            from + (to - from) * step as f64 / last
        }
    };
    Some((0..count as usize).map(at).collect())
}

/// A number as the job language reads it: whole, in its unit.
fn written(number: f64, unit: Option<NumberUnit>) -> String {
    let whole = number.round() as u64;
    match unit {
        Some(NumberUnit::Percent) => format!("{whole}%"),
        Some(NumberUnit::Size) => {
            let powers = [(1u64 << 40, "t"), (1 << 30, "g"), (1 << 20, "m"), (1 << 10, "k")];
            let fits =
                powers.into_iter().find(|&(power, _)| whole > 0 && whole.is_multiple_of(power));
            fits.map_or(whole.to_string(), |(power, letter)| format!("{}{letter}", whole / power))
        }
        _ => whole.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<String> {
        let axis = SweepAxis::parse(text).unwrap();
        axis.values.into_iter().map(|value| value.join("+")).collect()
    }

    #[test]
    fn ranges_and_lists() {
        assert_eq!(values("iodepth=1..256*2").len(), 9);
        assert_eq!(values("iodepth=1..20*2"), ["1", "2", "4", "8", "16"]);
        assert_eq!(values("rwmixread=0..100+25"), ["0", "25", "50", "75", "100"]);
        assert_eq!(values("bs=4k,16k,64k"), ["4k", "16k", "64k"]);
        assert_eq!(values("bs=4k..64k*4"), ["4k", "16k", "64k"]);
        assert_eq!(values("bs=512..4k*2"), ["512", "1k", "2k", "4k"]);
        assert_eq!(values("rate_iops=10..1000:3"), ["10", "100", "1000"]);
        assert_eq!(values("rate_iops=100..200:3"), ["100", "150", "200"]);
        assert_eq!(values("rate_iops=10%..120%:12").len(), 12);
        assert_eq!(values("rate_iops=10%..30%+10"), ["10%", "20%", "30%"]);
        assert_eq!(values("iodepth=1,1,2..4+1,4"), ["1", "2", "3", "4"]);
    }

    #[test]
    fn what_is_no_range_is_a_value() {
        assert_eq!(values("file:filename=/dev/a,/dev/../b"), ["/dev/a", "/dev/../b"]);
        assert_eq!(values("ioengine=psync,io_uring"), ["psync", "io_uring"]);
    }

    #[test]
    fn options_change_together() {
        let axis = SweepAxis::parse("bs+iodepth=4k+32,64k+8").unwrap();
        assert_eq!(axis.names, ["bs", "iodepth"]);
        let all = points(&[axis, SweepAxis::parse("numjobs=1,2").unwrap()]);
        let texts: Vec<String> = all.iter().map(GridPoint::text).collect();
        assert_eq!(
            texts,
            [
                "bs=4k iodepth=32 numjobs=1",
                "bs=4k iodepth=32 numjobs=2",
                "bs=64k iodepth=8 numjobs=1",
                "bs=64k iodepth=8 numjobs=2"
            ]
        );
        assert_eq!(all[2].value("bs"), Some("64k"));
    }

    #[test]
    fn a_wrong_axis_is_refused_with_what_is_wrong() {
        for (text, said) in [
            ("iodepth", "it has no ="),
            ("=1", "an option has no name"),
            ("a:=1", "an option has no name"),
            ("iodepth=", "a value is empty"),
            ("iodepth=1,,2", "a value is empty"),
            ("iodepth=1..8", "has no step"),
            ("iodepth=8..1*2", "ends before it begins"),
            ("iodepth=1..8*1", "does not get from one end"),
            ("iodepth=0..8*2", "does not get from one end"),
            ("iodepth=1..8+0", "does not get from one end"),
            ("iodepth=1..8:1", "does not get from one end"),
            ("iodepth=1..x*2", "\"x\" in \"1..x*2\" is no number"),
            ("iodepth=0..99999999+1", "more than 10000 values"),
            ("a+b=1+2,3", "\"3\" does not have 2 values"),
        ] {
            let error = SweepAxis::parse(text).unwrap_err();
            assert!(error.contains(said) && error.contains("1..256*2"), "{text}: {error}");
        }
    }
}
