//! What the name of a log says: the run, the type, the number of the job.

/// What the values of a log are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogType {
    /// `_bw`: KiB/s.
    Bandwidth,
    /// `_iops`.
    Iops,
    /// `_lat`: from submission to completion, in nanoseconds.
    Lat,
    /// `_clat`: the completion latency.
    Clat,
    /// `_slat`: the submission latency.
    Slat,
    /// `_clat_hist`: latencies in bins.
    Histogram,
}

/// The endings that fio gives to names, longest first where one ends as another.
const ENDINGS: [(&str, LogType); 7] = [
    ("_clat_hist", LogType::Histogram),
    ("_hist", LogType::Histogram),
    ("_bw", LogType::Bandwidth),
    ("_iops", LogType::Iops),
    ("_clat", LogType::Clat),
    ("_slat", LogType::Slat),
    ("_lat", LogType::Lat),
];

impl LogType {
    /// All of them.
    pub const ALL: [LogType; 6] = [
        LogType::Bandwidth,
        LogType::Iops,
        LogType::Lat,
        LogType::Clat,
        LogType::Slat,
        LogType::Histogram,
    ];

    /// As file names and options have it.
    pub fn word(self) -> &'static str {
        match self {
            LogType::Bandwidth => "bw",
            LogType::Iops => "iops",
            LogType::Lat => "lat",
            LogType::Clat => "clat",
            LogType::Slat => "slat",
            LogType::Histogram => "hist",
        }
    }

    /// Whether values are times.
    pub fn is_latency(self) -> bool {
        !matches!(self, LogType::Bandwidth | LogType::Iops)
    }
}

/// The parts of a file's name: `run1_bw.3.log` is of job 3 of `run1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogName {
    /// The folder and the prefix that the jobs of a run share.
    pub run: String,
    /// The type, if the name has one of fio's endings.
    pub log_type: Option<LogType>,
    /// The number of the job; `None` with `per_job_logs=0`.
    pub job: Option<u32>,
}

impl LogName {
    /// Of a path. What follows `.log`, as a host's name, belongs to the run.
    pub fn of(path: &str) -> LogName {
        let (folder, file) = path.split_at(path.rfind('/').map_or(0, |at| at + 1));
        let (head, tail) = file.split_once(".log").unwrap_or((file, ""));
        let tail = [".gz", ".fz", ".z"]
            .iter()
            .fold(tail, |tail, end| tail.strip_suffix(end).unwrap_or(tail));
        let (head, job) = match head.rsplit_once('.') {
            Some((before, number)) => match number.parse() {
                Ok(number) => (before, Some(number)),
                Err(_) => (head, None),
            },
            None => (head, None),
        };
        let ending = ENDINGS.iter().find(|(ending, _)| head.ends_with(ending));
        let stem = ending.map_or(head, |(ending, _)| &head[..head.len() - ending.len()]);
        LogName {
            run: format!("{folder}{stem}{tail}"),
            log_type: ending.map(|(_, log_type)| *log_type),
            job,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str) -> (String, Option<LogType>, Option<u32>) {
        let name = LogName::of(path);
        (name.run, name.log_type, name.job)
    }

    #[test]
    fn names_are_taken_apart_as_fio_makes_them() {
        assert_eq!(of("a_bw.1.log"), ("a".into(), Some(LogType::Bandwidth), Some(1)));
        assert_eq!(
            of("d/e/a_clat_hist.12.log"),
            ("d/e/a".into(), Some(LogType::Histogram), Some(12))
        );
        assert_eq!(of("/a.b_iops.log"), ("/a.b".into(), Some(LogType::Iops), None));
        assert_eq!(of("x_slat.2.log.fz"), ("x".into(), Some(LogType::Slat), Some(2)));
        assert_eq!(of("x_lat.2.log.gz"), ("x".into(), Some(LogType::Lat), Some(2)));
        assert_eq!(
            of("f_clat_hist.1.log.host"),
            ("f.host".into(), Some(LogType::Histogram), Some(1))
        );
        assert_eq!(of("numbers.txt"), ("numbers.txt".into(), None, None));
        assert_eq!(of(""), (String::new(), None, None));
    }
}
