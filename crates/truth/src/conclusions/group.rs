//! Control groups of either version, for one run.

use iosonde_testing::{Undo, quoted};
use std::fs;
use std::path::Path;

/// What a control group is to do.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Limit {
    /// I/O: the names of the limit in both versions, and the figure.
    Io(&'static str, &'static str, u64),
    /// Processor time, in percent of one.
    Processor(u64),
    /// Nothing: to be frozen later.
    Freezer,
}

/// A control group; removed when dropped.
pub(super) struct LimitedGroup {
    pub(super) path: String,
    _undo: Undo,
}

impl LimitedGroup {
    /// With a limit; `id` is that of the device.
    pub(super) fn make(limit: &Limit, id: &str) -> Result<LimitedGroup, String> {
        let root = Path::new("/sys/fs/cgroup");
        let controller = match limit {
            Limit::Io(..) => "blkio",
            Limit::Processor(_) => "cpu",
            Limit::Freezer => "freezer",
        };
        let is_one = root.join(controller).join("cgroup.procs").exists();
        let above = if is_one { root.join(controller) } else { root.to_owned() };
        let path = above.join(format!("iosonde-conclusions-{}", std::process::id()));
        fs::create_dir(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        // The last of its programs may still be on its way out.
        let undo = Undo::by(&format!("again rmdir {}", quoted(&path)));
        let group = LimitedGroup { path: path.display().to_string(), _undo: undo };
        let (file, text) = match (limit, is_one) {
            (Limit::Io(one, _, figure), true) => {
                (format!("blkio.throttle.{one}_device"), format!("{id} {figure}"))
            }
            (Limit::Io(_, two, figure), false) => ("io.max".into(), format!("{id} {two}={figure}")),
            (Limit::Processor(percent), true) => {
                ("cpu.cfs_quota_us".into(), (percent * 1000).to_string())
            }
            (Limit::Processor(percent), false) => {
                ("cpu.max".into(), format!("{} 100000", percent * 1000))
            }
            (Limit::Freezer, _) => return Ok(group),
        };
        fs::write(path.join(&file), text).map_err(|error| format!("{file}: {error}"))?;
        Ok(group)
    }

    /// The commands that freeze and thaw it.
    pub(super) fn freezing(&self) -> [String; 2] {
        let one = Path::new(&self.path).join("freezer.state");
        if one.exists() {
            ["FROZEN", "THAWED"].map(|word| format!("echo {word} > {}", quoted(&one)))
        } else {
            let two = Path::new(&self.path).join("cgroup.freeze");
            ["1", "0"].map(|word| format!("echo {word} > {}", quoted(&two)))
        }
    }
}
