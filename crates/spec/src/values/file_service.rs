//! Which file is served next: `roundrobin:4`, `zipf:1.2`.

use iosonde_options::{Choice, OptionValue, ParseContext, ValueError, ValueKind};
use iosonde_workload::{FilePick, FileService};

use super::distribution::{
    PARETO_H, ZIPF_THETA, normal_deviation, pareto_h, show_skew, skew, zipf_theta,
};

/// The value of `file_service_type`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FileServiceType(pub FileService);

impl OptionValue for FileServiceType {
    const KIND: ValueKind = ValueKind::Form;
    const CHOICES: &'static [Choice] = &[
        ("random", "at random"),
        ("zipf", "Zipf: a few very hot files"),
        ("pareto", "Pareto: a few hot files"),
        ("normal", "Gaussian"),
        ("gauss", "same as normal"),
        ("roundrobin", "in turn"),
        ("sequential", "one file to its end before the next"),
    ];
    fn parse(text: &str, _: &mut ParseContext) -> Result<Self, ValueError> {
        file_service(text).map(FileServiceType)
    }
    fn show(&self) -> String {
        let plain = |word: &str| match self.0.every {
            1 => word.to_owned(),
            every => format!("{word}:{every}"),
        };
        match self.0.pick {
            FilePick::RoundRobin => plain("roundrobin"),
            FilePick::Sequential => plain("sequential"),
            FilePick::Random => plain("random"),
            FilePick::Zipf { theta, center } => show_skew("zipf", theta, center),
            FilePick::Pareto { h, center } => show_skew("pareto", h, center),
            FilePick::Normal { deviation, center } => show_skew("normal", deviation, center),
        }
    }
}

/// The number after `zipf`, `pareto` and `normal` is their parameter: they pick a file for each I/O.
fn file_service(text: &str) -> Result<FileService, ValueError> {
    let (word, after) = text.split_once(':').unwrap_or((text, ""));
    let what = "file service type random";
    let every = |pick| {
        let number = if after.is_empty() { Ok(1) } else { after.trim().parse::<u32>() };
        let want = |_| ValueError::new("a number of I/Os after the colon", text);
        number.map(|every| FileService { pick, every: every.max(1) }).map_err(want)
    };
    match word {
        "roundrobin" => every(FilePick::RoundRobin),
        "sequential" => every(FilePick::Sequential),
        "random" => every(FilePick::Random),
        "zipf" => {
            let (theta, center) = skew(after, ZIPF_THETA, text, what)?;
            zipf_theta(theta, text, "zipf theta must be different than 1.0")?;
            Ok(FileService { pick: FilePick::Zipf { theta, center }, every: 1 })
        }
        "pareto" => {
            let (h, center) = skew(after, PARETO_H, text, what)?;
            pareto_h(h, text)?;
            Ok(FileService { pick: FilePick::Pareto { h, center }, every: 1 })
        }
        "normal" | "gauss" => {
            let (deviation, center) = skew(after, 0.0, text, what)?;
            normal_deviation(deviation, text)?;
            Ok(FileService { pick: FilePick::Normal { deviation, center }, every: 1 })
        }
        _ => {
            let words: Vec<&str> = FileServiceType::CHOICES.iter().map(|(word, _)| *word).collect();
            Err(ValueError::new(format!("one of {}", words.join(", ")), text))
        }
    }
}
