//! The facts about a path and the machine, as plain data.

use super::arguments::ProbeArgs;
use super::trials::{self, Trials};
use iosonde_base::bare;
use iosonde_direct::cache::{Residency, residency};
use iosonde_direct::sysfs::Tree;
use iosonde_direct::{DeviceFacts, Fact, Facts, PathKind};
use iosonde_sys::counters::{
    Attributes, CpuTime, DiskCounters, Extents, GroupLimits, Groups, Pressure, Resource,
};
use iosonde_sys::environment::Machine;
use iosonde_sys::files::FileSystem;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Everything that is known before a test.
#[derive(Debug)]
pub struct PathSurvey {
    /// As typed.
    pub path: PathBuf,
    /// The path, and the devices below it.
    pub facts: Facts,
    /// Space on the file system; `None` for a device.
    pub space: Option<Fact<Space>>,
    /// Queue settings of each device of `facts`, in its order.
    pub queues: Vec<QueueSettings>,
    /// For a file: its extents and cached pages.
    pub file: Option<SurveyedFile>,
    /// The machine.
    pub machine: Machine,
    /// Limits of control groups.
    pub limits: GroupLimits,
    /// Activity of other programs.
    pub others: Others,
    /// Which kinds of I/O work here.
    pub trials: Trials,
}

/// Space on a file system, in bytes and files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    /// All.
    pub bytes: u64,
    /// Unused bytes.
    pub free_bytes: u64,
    /// Of those, the bytes this user may use.
    pub available_bytes: u64,
    /// The most files there can be; 0 without a limit.
    pub files: u64,
    /// How many more files there can be.
    pub files_free: u64,
}

impl Space {
    /// Used bytes.
    pub fn used_bytes(&self) -> u64 {
        self.bytes.saturating_sub(self.free_bytes)
    }

    /// The used share in whole percent, rounded down.
    pub fn fill_percent(&self) -> u64 {
        (u128::from(self.used_bytes()) * 100 / u128::from(self.bytes.max(1))) as u64
    }
}

/// How the system treats a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueSettings {
    /// Read ahead of sequential reads through memory, in bytes.
    pub read_ahead_bytes: Fact<u64>,
    /// The latency that writeback is throttled for, in microseconds; 0 is off.
    pub throttle_us: Fact<u64>,
    /// Whether its I/O is counted.
    pub counted: Fact<bool>,
    /// Whether neighbouring requests are merged: 0 yes, 1 simply, 2 no.
    pub no_merges: Fact<u64>,
    /// The schedulers it could have.
    pub schedulers: Vec<String>,
    /// The background action of a software RAID: `resync`.
    pub rebuilding: Option<String>,
}

/// What is known of a file without reading it.
#[derive(Debug)]
pub struct SurveyedFile {
    /// What the page cache holds of it.
    pub cached: Fact<Residency>,
    /// What of it is data.
    pub extents: Fact<Extents>,
    /// Its flags.
    pub attributes: Fact<Attributes>,
}

/// Activity of other programs during a short time.
#[derive(Debug)]
pub struct Others {
    /// How long.
    pub observed: Duration,
    /// Requests that each disk completed.
    pub requests: Vec<(String, Fact<u64>)>,
    /// Processor time that was used, and that the hypervisor took, in percent
    /// of all.
    pub cpu_percent: Fact<(f64, f64)>,
    /// Time in which something waited for storage, in percent.
    pub io_wait_percent: Fact<f64>,
}

/// How long other activity is observed.
const OBSERVED: Duration = Duration::from_millis(250);

impl PathSurvey {
    /// Read all facts, try all kinds of I/O.
    ///
    /// # Errors
    /// The path does not exist or is of the wrong kind.
    pub fn take(arguments: &ProbeArgs) -> Result<PathSurvey, String> {
        let path = &arguments.path;
        let facts = Facts::of(path).map_err(|error| missing(path, &error))?;
        let wrong = match facts.kind {
            PathKind::CharacterDevice => Some("is a character device"),
            PathKind::Other => Some("is a pipe or a socket"),
            PathKind::File | PathKind::BlockDevice | PathKind::Folder => None,
        };
        if let Some(wrong) = wrong {
            return Err(format!(
                "{}: {wrong}: name a directory, a file or a block device",
                path.display()
            ));
        }
        let tree = Tree::here();
        let others = Others::observe(&facts);
        Ok(PathSurvey {
            space: (facts.kind != PathKind::BlockDevice).then(|| space(path)),
            queues: facts.devices.iter().map(|device| QueueSettings::of(&tree, device)).collect(),
            file: (facts.kind == PathKind::File)
                .then(|| SurveyedFile::of(path, arguments.no_touch)),
            machine: Machine::this(),
            limits: Groups::of_thread().limits(),
            trials: trials::all(arguments, &facts),
            others,
            path: path.clone(),
            facts,
        })
    }
}

fn missing(path: &Path, error: &std::io::Error) -> String {
    let why = bare(&error.to_string());
    match error.kind() {
        std::io::ErrorKind::NotFound => {
            format!(
                "{}: {why}; name the directory in which the file will be created",
                path.display()
            )
        }
        _ => format!("{}: {why}", path.display()),
    }
}

fn space(path: &Path) -> Fact<Space> {
    match FileSystem::of(path) {
        Ok(system) if system.bytes > 0 => Fact::Known(Space {
            bytes: system.bytes,
            free_bytes: system.free_bytes,
            available_bytes: system.available_bytes,
            files: system.files,
            files_free: system.files_free,
        }),
        Ok(_) => Fact::unknown("the file system does not report its size"),
        Err(error) => Fact::unknown(bare(&format!("statvfs(2): {error}"))),
    }
}

impl QueueSettings {
    fn of(tree: &Tree, device: &DeviceFacts) -> QueueSettings {
        // A partition has the queue of its disk.
        let disk = tree.disk(&device.name).unwrap_or_else(|| device.name.clone());
        let number = |attribute: &'static str| -> Fact<u64> {
            let text = tree.attribute(&disk, attribute);
            let parsed = text.and_then(|text| text.trim().parse().ok());
            Fact::or_why(
                parsed,
                format!("there is no number in /sys/class/block/{disk}/{attribute}"),
            )
        };
        let schedulers = tree.attribute(&disk, "queue/scheduler").unwrap_or_default();
        let plain = |word: &str| word.trim_matches(['[', ']']).to_owned();
        let action = tree.attribute(&disk, "md/sync_action");
        QueueSettings {
            read_ahead_bytes: number("queue/read_ahead_kb").map(|kib| kib.saturating_mul(1024)),
            throttle_us: number("queue/wbt_lat_usec"),
            // zram counts by itself, whatever is set.
            counted: number("queue/iostats").map(|flag| flag != 0 || disk.starts_with("zram")),
            no_merges: number("queue/nomerges"),
            schedulers: schedulers.split_whitespace().map(plain).collect(),
            rebuilding: action.filter(|action| !matches!(action.trim(), "idle" | "frozen" | "")),
        }
    }
}

impl SurveyedFile {
    fn of(path: &Path, no_touch: bool) -> SurveyedFile {
        let open = if no_touch {
            Err("not opened (--no-touch)".to_owned())
        } else {
            let open = iosonde_direct::OpenOptions::new().read(true).keep_access_time(true);
            open.open(path).map_err(|error| bare(&format!("it cannot be opened: {}", error.source)))
        };
        match open {
            Ok(file) => SurveyedFile {
                cached: residency(&file, 0, 0),
                extents: known_or_why(Extents::of(&file, 0, length(&file))),
                attributes: known_or_why(Attributes::of(&file)),
            },
            Err(why) => SurveyedFile {
                cached: Fact::unknown(why.clone()),
                extents: Fact::unknown(why.clone()),
                attributes: Fact::unknown(why),
            },
        }
    }
}

fn length(file: &File) -> u64 {
    file.metadata().map_or(0, |metadata| metadata.len())
}

fn known_or_why<T>(result: std::io::Result<T>) -> Fact<T> {
    result.map_or_else(|error| Fact::unknown(bare(&error.to_string())), Fact::Known)
}

impl Others {
    /// Observe while this program is idle.
    fn observe(facts: &Facts) -> Others {
        let names: Vec<String> = facts.disks().iter().map(|disk| disk.name.clone()).collect();
        let counters = || names.iter().map(|name| DiskCounters::of(name)).collect::<Vec<_>>();
        let (disks, cpu, waits) = (counters(), CpuTime::now(), Pressure::of(Resource::Io));
        std::thread::sleep(OBSERVED);
        let (disks_after, cpu_after) = (counters(), CpuTime::now());
        let waits_after = Pressure::of(Resource::Io);
        let requests = disks.into_iter().zip(disks_after).map(|(before, after)| {
            known_or_why(before.and_then(|before| Ok(after?.since(&before))))
                .map(|since| since.reads + since.writes + since.discards + since.flushes)
        });
        Others {
            observed: OBSERVED,
            requests: names.iter().cloned().zip(requests).collect(),
            cpu_percent: known_or_why(cpu.and_then(|before| Ok(cpu_after?.since(&before)))).map(
                |since| {
                    let share = |part: u64| part as f64 / since.total.max(1) as f64 * 100.0;
                    (
                        share(since.total.saturating_sub(since.idle + since.stolen)),
                        share(since.stolen),
                    )
                },
            ),
            io_wait_percent: known_or_why(waits.and_then(|before| Ok(waits_after?.since(&before))))
                .map(|since| {
                    (since.some_us as f64 / OBSERVED.as_micros() as f64 * 100.0).min(100.0)
                }),
        }
    }
}
