//! Which file is served next: `roundrobin:4`, `zipf:1.2`.

use iosonde_options::{Choice, Context, Kind, OptionValue, ValueError};

use super::distribution::{normal_deviation, pareto_h, show_skew, skew, zipf_theta};

/// How the next file is picked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FilePick {
    /// In turn.
    RoundRobin,
    /// The next one when this one is done.
    Sequential,
    /// At random.
    Random,
    /// At random, few files being hot.
    Zipf {
        /// The exponent, not 1.
        theta: f64,
        /// Where the hottest file lies, 0 to 1 of the list.
        center: Option<f64>,
    },
    /// At random, few files being hot, by another law.
    Pareto {
        /// Its input, above 0 and below 1.
        h: f64,
        /// Where the hottest file lies, 0 to 1 of the list.
        center: Option<f64>,
    },
    /// A bell over the files.
    Normal {
        /// In percent of the list, below 100.
        deviation: f64,
        /// Where the top of the bell lies, 0 to 1 of the list.
        center: Option<f64>,
    },
}

/// The value of `file_service_type`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FileServiceType {
    /// How the next file is picked.
    pub pick: FilePick,
    /// I/Os that go to a file before another is picked; at least 1. The skewed picks keep
    /// their own parameter in this place, and pick anew for each I/O.
    pub every: u32,
}

impl OptionValue for FileServiceType {
    const KIND: Kind = Kind::Form;
    const CHOICES: &'static [Choice] = &[
        ("random", "at random"),
        ("zipf", "at random by Zipf: few files are very hot"),
        ("pareto", "at random by Pareto: few files are hot"),
        ("normal", "at random by a Gaussian bell"),
        ("gauss", "the same as normal"),
        ("roundrobin", "in turn"),
        ("sequential", "one file to its end before the next"),
    ];
    fn parse(text: &str, _: &mut Context) -> Result<Self, ValueError> {
        let (word, after) = text.split_once(':').unwrap_or((text, ""));
        let what = "file service type random";
        let every = |pick| {
            let number = if after.is_empty() { Ok(1) } else { after.trim().parse::<u32>() };
            let want = |_| ValueError::new("a number of I/Os after the colon", text);
            number.map(|every| FileServiceType { pick, every: every.max(1) }).map_err(want)
        };
        match word {
            "roundrobin" => every(FilePick::RoundRobin),
            "sequential" => every(FilePick::Sequential),
            "random" => every(FilePick::Random),
            "zipf" => {
                let (theta, center) = skew(after, 1.1, text, what)?;
                zipf_theta(theta, text, "zipf theta must be different than 1.0")?;
                Ok(FileServiceType { pick: FilePick::Zipf { theta, center }, every: 1 })
            }
            "pareto" => {
                let (h, center) = skew(after, 0.2, text, what)?;
                pareto_h(h, text)?;
                Ok(FileServiceType { pick: FilePick::Pareto { h, center }, every: 1 })
            }
            "normal" | "gauss" => {
                let (deviation, center) = skew(after, 0.0, text, what)?;
                normal_deviation(deviation, text)?;
                Ok(FileServiceType { pick: FilePick::Normal { deviation, center }, every: 1 })
            }
            _ => {
                let words: Vec<&str> = Self::CHOICES.iter().map(|(word, _)| *word).collect();
                Err(ValueError::new(format!("one of {}", words.join(", ")), text))
            }
        }
    }
    fn show(&self) -> String {
        let plain = |word: &str| match self.every {
            1 => word.to_owned(),
            every => format!("{word}:{every}"),
        };
        match self.pick {
            FilePick::RoundRobin => plain("roundrobin"),
            FilePick::Sequential => plain("sequential"),
            FilePick::Random => plain("random"),
            FilePick::Zipf { theta, center } => show_skew("zipf", theta, center),
            FilePick::Pareto { h, center } => show_skew("pareto", h, center),
            FilePick::Normal { deviation, center } => show_skew("normal", deviation, center),
        }
    }
}
