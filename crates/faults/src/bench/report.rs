//! What a report in JSON says.

use super::ProgramEnd;
use serde_json::Value;

/// The report of one job.
pub(crate) struct Report(Value);

impl Report {
    /// The one on standard output, if there is one.
    pub(crate) fn of(ended: &ProgramEnd) -> Option<Report> {
        let document: Value = serde_json::from_str(&ended.stdout).ok()?;
        document["jobs"].as_array().is_some_and(|jobs| jobs.len() == 1).then_some(Report(document))
    }

    /// Errors that the job tolerated.
    pub(crate) fn total_errors(&self) -> u64 {
        self.0["jobs"][0]["total_err"].as_u64().unwrap_or(0)
    }

    /// The error number that ended the job.
    pub(crate) fn error(&self) -> i64 {
        self.0["jobs"][0]["error"].as_i64().unwrap_or(0)
    }

    /// Short I/O, in both directions.
    pub(crate) fn short(&self) -> u64 {
        self.lane("read", "short_ios") + self.lane("write", "short_ios")
    }

    /// A count of a direction: `total_ios`, `io_bytes`.
    pub(crate) fn lane(&self, lane: &str, key: &str) -> u64 {
        self.0["jobs"][0][lane][key].as_u64().unwrap_or(0)
    }

    /// The completion latencies of a direction.
    pub(crate) fn latencies(&self, lane: &str) -> &Value {
        &self.0["jobs"][0][lane]["clat_ns"]
    }

    /// The share of the reads back that came from the page cache, as the ledger has it.
    pub(crate) fn verified_from_cache(&self) -> f64 {
        self.0["iosonde"]["ledger"]["verify_reads"]["cache_share"].as_f64().unwrap_or(0.0)
    }

    /// A count of the check of data: `written`, `checked`, `wrong`.
    pub(crate) fn verify(&self, key: &str) -> u64 {
        self.0["iosonde"]["jobs"][0]["verify"][key].as_u64().unwrap_or(0)
    }
}

/// The offsets that messages on standard error blame, in ascending order.
pub(crate) fn blamed(ended: &ProgramEnd) -> Vec<u64> {
    const MARK: &str = "(requested block: offset=";
    let offset = |line: &str| {
        let rest = &line[line.find(MARK)? + MARK.len()..];
        rest.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
    };
    let mut offsets: Vec<u64> = ended.stderr.lines().filter_map(offset).collect();
    offsets.sort_unstable();
    offsets.dedup();
    offsets
}

/// The blocks that messages on standard error blame, by the name of their file and the
/// offset in it.
pub(crate) fn blamed_in(ended: &ProgramEnd) -> Vec<(String, u64)> {
    let block = |line: &str| {
        let (_, rest) = line.split_once(" at file ")?;
        let (path, rest) = rest.split_once(" offset ")?;
        let offset = rest.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()?;
        Some((path.rsplit('/').next().unwrap_or(path).to_owned(), offset))
    };
    ended.stderr.lines().filter_map(block).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(stdout: &str, stderr: &str) -> ProgramEnd {
        ProgramEnd {
            line: String::new(),
            code: Some(0),
            killed_by: None,
            took: std::time::Duration::ZERO,
            hung: false,
            stdout: stdout.to_owned(),
            stderr: stderr.to_owned(),
        }
    }

    #[test]
    fn offsets_of_wrong_blocks_are_read_from_messages() {
        let text = "crc32c: verify failed at file f offset 8192, length 4096 (requested block: \
                    offset=8192, length=4096, flags=88)\n       Expected CRC: d6\n\
                    verify: bad header offset 12288, wanted 4096 at file f offset 4096, length \
                    4096 (requested block: offset=4096, length=4096)\n";
        assert_eq!(blamed(&ended("", text)), [4096, 8192]);
        let file = |offset| ("f".to_owned(), offset);
        assert_eq!(blamed_in(&ended("", text)), [file(8192), file(4096)]);
    }

    #[test]
    fn no_report_is_none() {
        assert!(Report::of(&ended("", "")).is_none());
        assert!(Report::of(&ended(r#"{"jobs": [{"error": 5}]}"#, "")).is_some());
    }
}
