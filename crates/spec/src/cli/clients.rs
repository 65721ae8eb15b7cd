//! A command line for several servers as one for each: with the job files that follow its
//! `--client`, or those of all.

use std::ops::Range;

/// Where job files and `--client` stand among the arguments, the first being 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinePlaces {
    /// Each job file.
    pub files: Vec<usize>,
    /// Each `--client`, with its value.
    pub clients: Vec<Range<usize>>,
}

impl LinePlaces {
    /// The arguments for each `--client`: all that is neither one nor a job file, then the
    /// job files before the first one, then its own. One without has those of the next that has
    /// some, or else of the last.
    pub fn arguments(&self, arguments: &[String]) -> Vec<Vec<String>> {
        let starts: Vec<usize> = self.clients.iter().map(|client| client.start).collect();
        let first = starts.first().copied().unwrap_or(arguments.len());
        let of = |from: usize, to: usize| -> Vec<&String> {
            let between = self.files.iter().filter(|&&at| from <= at && at < to);
            between.filter_map(|&at| arguments.get(at)).collect()
        };
        let ends = starts.iter().skip(1).copied().chain([arguments.len()]);
        let own: Vec<Vec<&String>> =
            starts.iter().zip(ends).map(|(&from, to)| of(from, to)).collect();
        let is_common =
            |at: &usize| !self.files.contains(at) && !self.clients.iter().any(|c| c.contains(at));
        let common: Vec<&String> =
            (0..arguments.len()).filter(is_common).map(|at| &arguments[at]).collect();
        let has_files = |files: &&Vec<&String>| !files.is_empty();
        let for_each = |client: usize| {
            let files = own[client..].iter().find(has_files);
            let files = files.or_else(|| own.iter().rfind(has_files)).into_iter().flatten();
            let words = common.iter().copied().chain(of(0, first)).chain(files.copied());
            words.cloned().collect()
        };
        (0..own.len()).map(for_each).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::cli::{World, flag_table, parse};
    use crate::text::expand::Host;
    use std::collections::HashMap;
    use std::env::VarError;

    struct NoHost;

    impl Host for NoHost {
        fn variable(&self, _: &str) -> Result<String, VarError> {
            Err(VarError::NotPresent)
        }
        fn processors(&self) -> u64 {
            1
        }
        fn page_bytes(&self) -> u64 {
            4096
        }
        fn memory_mib(&self) -> u64 {
            1
        }
    }

    fn each(line: &str) -> Vec<String> {
        let arguments: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let files: HashMap<&str, &str> = HashMap::new();
        let world = World { files: &files, host: &NoHost, flags: &[flag_table::FIO] };
        let places = parse(&arguments, &world).places;
        places.arguments(&arguments).iter().map(|words| words.join(" ")).collect()
    }

    #[test]
    fn each_server_has_the_job_files_after_it_or_those_of_all() {
        for (line, wanted) in [
            ("--client=a a.fio --client=b b.fio", &["a.fio", "b.fio"][..]),
            ("--client=a --client=b j.fio k.fio", &["j.fio k.fio", "j.fio k.fio"]),
            ("--client=a j.fio --client=b", &["j.fio", "j.fio"]),
            ("all.fio --client a -C b b.fio", &["all.fio b.fio", "all.fio b.fio"]),
            ("--client=h j.fio --section=x --minimal", &["--section=x --minimal j.fio"]),
            ("--client=h --name=q --rw read --bs=4k", &["--name=q --rw read --bs=4k"]),
            ("j.fio", &[]),
        ] {
            assert_eq!(each(line), wanted, "{line}");
        }
    }
}
