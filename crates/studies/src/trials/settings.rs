//! Options of jobs that a comparison or a sweep sets on top of what the jobs
//! say: `iodepth=32`, or of one section `reader:iodepth=32`.

use iosonde_options::{Level, Origin};
use iosonde_spec::TypedOption;
use iosonde_spec::cli::{Parsed, ParsedJob};

/// One option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionSetting {
    /// Of which section; `None`: of all.
    pub section: Option<String>,
    /// The option's name, as typed.
    pub name: String,
    /// Its value; `None` where it stands bare.
    pub value: Option<String>,
}

impl OptionSetting {
    /// From `[--][SECTION:]NAME[=VALUE]`.
    ///
    /// # Errors
    /// There is no name.
    pub fn parse(word: &str) -> Result<OptionSetting, String> {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (word, None),
        };
        let (section, name) = match name.rsplit_once(':') {
            Some((section, name)) => (Some(section.trim_start_matches('-').to_owned()), name),
            None => (None, name),
        };
        let name = name.trim_start_matches('-').to_owned();
        if name.is_empty() || section.as_deref() == Some("") {
            Err(format!("invalid option {word:?}: use NAME=VALUE or SECTION:NAME=VALUE"))
        } else {
            Ok(OptionSetting { section, name, value })
        }
    }

    /// All of a line: `--iodepth=8 --bs=4k`, parted by spaces.
    ///
    /// # Errors
    /// A word is no option.
    pub fn parse_line(line: &str) -> Result<Vec<OptionSetting>, String> {
        line.split_whitespace().map(OptionSetting::parse).collect()
    }

    /// `iodepth=8`, or `reader:iodepth=8`.
    pub fn text(&self) -> String {
        match &self.value {
            Some(value) => format!("{}={value}", self.axis()),
            None => self.axis(),
        }
    }

    /// `iodepth`, or `reader:iodepth`.
    pub fn axis(&self) -> String {
        match &self.section {
            Some(section) => format!("{section}:{}", self.name),
            None => self.name.clone(),
        }
    }

    /// Set it in all jobs, or in those of its section.
    ///
    /// # Errors
    /// No such section, option or value.
    pub fn apply(&self, parsed: &mut Parsed) -> Result<(), String> {
        let mut is_found = false;
        for job in &mut parsed.jobs {
            if self.section.as_ref().is_some_and(|section| *section != job.name) {
                continue;
            }
            is_found = true;
            self.set(job).map_err(|why| format!("{}: {why}", self.text()))?;
        }
        match (&self.section, is_found) {
            (Some(section), false) => {
                let names: Vec<&str> = parsed.jobs.iter().map(|job| &job.name[..]).collect();
                Err(format!(
                    "{}: there is no job {section:?}: use one of {}",
                    self.text(),
                    names.join(", ")
                ))
            }
            _ => Ok(()),
        }
    }

    fn set(&self, job: &mut ParsedJob) -> Result<(), String> {
        let origin = Origin::CommandLine { index: 0 };
        let known = iosonde_spec::lookup(&self.name);
        let value = self.value.as_deref();
        let warnings = job.spec.set(&self.name, value, origin.clone());
        let warnings = warnings.map_err(|error| error.to_string())?;
        if let Some(error) = warnings.iter().find(|warning| warning.level >= Level::Error) {
            return Err(error.message.clone());
        }
        // As typed, for the report: it replaces what the job said.
        if let Some(known) = known {
            job.typed.retain(|typed| typed.name != known.name);
            job.typed.push(TypedOption { name: known.name, value: self.value.clone(), origin });
        }
        Ok(())
    }
}

/// The jobs in words, a line each: what two runs of the same jobs agree in.
pub fn identity(parsed: &Parsed) -> Vec<String> {
    let words = |options: &[TypedOption]| {
        let word = |typed: &TypedOption| match &typed.value {
            Some(value) => format!(" {}={value}", typed.name),
            None => format!(" {}", typed.name),
        };
        options.iter().map(word).collect::<String>()
    };
    let line =
        |job: &ParsedJob| format!("[{}]{}{}", job.name, words(&job.globals), words(&job.typed));
    parsed.jobs.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_session::Personality;
    use iosonde_session::prepare::parse;

    fn jobs() -> Parsed {
        let words = ["--name=a", "--rw=read", "--iodepth=1", "--name=b", "--rw=write"];
        parse(Personality::Native, &words.map(str::to_owned))
    }

    fn set(words: &str) -> Result<Parsed, String> {
        let mut parsed = jobs();
        for setting in OptionSetting::parse_line(words)? {
            setting.apply(&mut parsed)?;
        }
        Ok(parsed)
    }

    #[test]
    fn an_option_is_set_in_all_jobs_or_in_one() {
        let depths = |words: &str| -> Vec<u32> {
            let parsed = set(words).unwrap();
            parsed.jobs.iter().map(|job| *job.spec.depth.iodepth.get()).collect()
        };
        assert_eq!(depths("--iodepth=8"), [8, 8]);
        assert_eq!(depths("iodepth=8 b:iodepth=4"), [8, 4]);
        assert_eq!(depths("--b:iodepth=4"), [1, 4]);
    }

    #[test]
    fn what_the_job_said_before_is_no_longer_in_its_words() {
        let lines = identity(&set("iodepth=8").unwrap());
        assert_eq!(lines, ["[a] name=a rw=read iodepth=8", "[b] name=b rw=write iodepth=8"]);
    }

    #[test]
    fn a_wrong_option_is_refused_with_its_name() {
        assert!(set("iodept=8").unwrap_err().contains("did you mean iodepth"));
        assert!(set("iodepth=x").unwrap_err().starts_with("iodepth=x: iodepth:"));
        let missing = set("c:iodepth=8").unwrap_err();
        assert_eq!(missing, "c:iodepth=8: there is no job \"c\": use one of a, b");
        assert!(set("=8").unwrap_err().contains("use NAME=VALUE"));
        assert!(set(":iodepth=8").unwrap_err().contains("use NAME=VALUE"));
    }
}
