//! The parts of a fio result that an audit needs.

use serde_json::Value;

/// One result.
pub struct FioResult {
    pub version: String,
    pub jobs: Vec<FioJob>,
    /// The lowest of the disks that it counts; none if it counts none.
    pub disks: Vec<FioDisk>,
}

/// One entry of `jobs`: a job, or a group of them.
pub struct FioJob {
    pub name: String,
    /// Of reads and of writes.
    pub ios: [u64; 2],
    pub bytes: [u64; 2],
    pub syncs: u64,
    pub runtime_ms: u64,
    /// User and system time of one processor, in percent.
    pub cpu: f64,
    pub direct: bool,
    pub random: bool,
    pub end_sync: bool,
    /// `O_SYNC` or `O_DSYNC`.
    pub sync_writes: bool,
    pub depth: u64,
    pub count: u64,
    pub engine: String,
    pub error: i64,
}

/// One entry of `disk_util`.
pub struct FioDisk {
    pub name: String,
    /// Requests of reads and of writes that the device did.
    pub requests: [u64; 2],
    /// Requests that went into others.
    pub merges: [u64; 2],
    /// Summed time of requests in flight, in milliseconds.
    pub queue_ms: u64,
    /// Percent of the time.
    pub util: f64,
}

impl FioResult {
    /// Read the last whole document: with a status interval there are several,
    /// and other text may stand before them.
    pub fn parse(text: &str) -> Result<FioResult, String> {
        let start = text.find('{').ok_or("it contains no JSON, so it is not a fio result")?;
        let mut last = None;
        for value in serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>() {
            match value {
                Ok(value) => last = Some(value),
                // What follows a whole document may be anything.
                Err(_) if last.is_some() => break,
                Err(error) => return Err(format!("invalid JSON: {error}")),
            }
        }
        FioResult::of(&last.ok_or("it contains no JSON, so it is not a fio result")?)
    }

    fn of(whole: &Value) -> Result<FioResult, String> {
        let (Some(version), Some(jobs)) = (whole["fio version"].as_str(), whole["jobs"].as_array())
        else {
            let why = "it has no \"fio version\" and \"jobs\", so it is not a fio result (for \
                       client output, use the result of one host)";
            return Err(why.to_owned());
        };
        let global = &whole["global options"];
        let entries = whole["disk_util"].as_array().map(Vec::as_slice).unwrap_or_default();
        // Disks that stand on others carry sums of those below.
        let stands = |disk: &&Value| disk.get("aggr_util").is_none();
        let disks = entries.iter().filter(stands).map(FioDisk::of).collect();
        let jobs: Vec<FioJob> = jobs.iter().map(|job| FioJob::of(job, global)).collect();
        if jobs.is_empty() {
            return Err("it has no jobs".to_owned());
        }
        Ok(FioResult { version: version.to_owned(), jobs, disks })
    }

    /// One line on it.
    pub fn what(&self) -> String {
        let jobs = match &self.jobs[..] {
            [one] => format!("job {}", one.name),
            many => format!("{} jobs", many.len()),
        };
        let disks: Vec<&str> = self.disks.iter().map(|disk| &disk.name[..]).collect();
        let on = if disks.is_empty() { "no disk counters".to_owned() } else { disks.join(", ") };
        format!("{}, {jobs}, on {on}", self.version)
    }

    /// The sum over all jobs.
    pub fn sum(&self, of: impl Fn(&FioJob) -> u64) -> u64 {
        self.jobs.iter().map(of).fold(0, u64::saturating_add)
    }

    /// The sum over all disks.
    pub fn requests(&self, way: usize) -> u64 {
        let all = |disk: &FioDisk| disk.requests[way].saturating_add(disk.merges[way]);
        self.disks.iter().map(all).fold(0, u64::saturating_add)
    }

    /// The longest of the jobs.
    pub fn runtime_ms(&self) -> u64 {
        self.jobs.iter().map(|job| job.runtime_ms).max().unwrap_or(0)
    }
}

impl FioJob {
    fn of(job: &Value, global: &Value) -> FioJob {
        let option = |name: &str| {
            let own = &job["job options"][name];
            own.as_str().or(global[name].as_str()).unwrap_or_default().to_owned()
        };
        // An option without a value is on.
        let given = |name: &str| !job["job options"][name].is_null() || !global[name].is_null();
        let on = |name: &str| given(name) && !matches!(option(name).as_str(), "0" | "none");
        let ways = ["read", "write"];
        FioJob {
            name: job["jobname"].as_str().unwrap_or("?").to_owned(),
            ios: ways.map(|way| job[way]["total_ios"].as_u64().unwrap_or(0)),
            bytes: ways.map(|way| job[way]["io_bytes"].as_u64().unwrap_or(0)),
            syncs: job["sync"]["total_ios"].as_u64().unwrap_or(0),
            runtime_ms: ways
                .map(|way| job[way]["runtime"].as_u64().unwrap_or(0))
                .into_iter()
                .max()
                .unwrap_or(0),
            cpu: job["usr_cpu"].as_f64().unwrap_or(0.0) + job["sys_cpu"].as_f64().unwrap_or(0.0),
            direct: on("direct") || given("buffered") && !on("buffered"),
            random: option("rw").starts_with("rand") || option("readwrite").starts_with("rand"),
            end_sync: on("end_fsync") || on("fsync_on_close"),
            sync_writes: on("sync"),
            depth: option("iodepth").parse().unwrap_or(1),
            count: option("numjobs").parse().unwrap_or(1),
            engine: Some(option("ioengine"))
                .filter(|name| !name.is_empty())
                .unwrap_or("psync".into()),
            error: job["error"].as_i64().unwrap_or(0),
        }
    }
}

impl FioDisk {
    fn of(disk: &Value) -> FioDisk {
        let number = |name: &str| disk[name].as_u64().unwrap_or(0);
        FioDisk {
            name: disk["name"].as_str().unwrap_or("?").to_owned(),
            requests: [number("read_ios"), number("write_ios")],
            merges: [number("read_merges"), number("write_merges")],
            queue_ms: number("in_queue"),
            util: disk["util"].as_f64().unwrap_or(0.0),
        }
    }
}
