//! The name of an I/O engine.

use iosonde_engine::{CATALOGUE, ELSEWHERE};
use iosonde_options::{Choice, OptionValue, ParseContext, ValueError, ValueKind, nearest};

/// An engine by name. Whether it is built, and runs here, is not asked yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum EngineName {
    /// One of fio's engines, by its canonical name.
    Known(&'static str),
    /// `external:/path/to/engine.so`, or the path alone.
    External(String),
}

impl EngineName {
    /// The canonical name; `external` for one from a shared object.
    pub fn name(&self) -> &str {
        match self {
            EngineName::Known(name) => name,
            EngineName::External(_) => "external",
        }
    }
}

/// fio's engines that are not built.
const UNBUILT: &[Choice] = &[
    ("io_uring_cmd", "Linux io_uring passthrough commands to NVMe"),
    ("sg", "SCSI generic"),
    ("mtd", "memory technology devices"),
    ("nbd", "network block device"),
    ("http", "WebDAV, S3, Swift over HTTP"),
    ("nfs", "NFS by libnfs"),
    ("libiscsi", "iSCSI by libiscsi"),
    ("rbd", "Ceph block device"),
    ("rados", "Ceph objects"),
    ("gfapi", "GlusterFS by libgfapi"),
    ("gfapi_async", "GlusterFS by libgfapi, asynchronous"),
    ("libhdfs", "HDFS"),
    ("dfs", "DAOS file system"),
    ("ime_psync", "Infinite Memory Engine"),
    ("ime_psyncv", "Infinite Memory Engine, vectored"),
    ("ime_aio", "Infinite Memory Engine, asynchronous"),
    ("rdma", "RDMA"),
    ("libpmem", "persistent memory by libpmem"),
    ("dev-dax", "device DAX"),
    ("pmemblk", "persistent memory blocks"),
    ("libzbc", "zoned devices by libzbc"),
    ("xnvme", "NVMe by xNVMe"),
    ("libblkio", "block devices by libblkio"),
    ("libcufile", "GPUDirect Storage"),
    ("libhipfile", "ROCm storage"),
    ("solarisaio", "Solaris aio"),
];

/// How many engines only other systems have.
const ELSEWHERE_COUNT: usize = {
    let (mut count, mut system) = (0, 0);
    while system < ELSEWHERE.len() {
        count += ELSEWHERE[system].engines.len();
        system += 1;
    }
    count
};

/// Those engines.
const OF_OTHER_SYSTEMS: [Choice; ELSEWHERE_COUNT] = {
    let mut names = [("", ""); ELSEWHERE_COUNT];
    let (mut at, mut system) = (0, 0);
    while system < ELSEWHERE.len() {
        let mut engine = 0;
        while engine < ELSEWHERE[system].engines.len() {
            names[at] = ELSEWHERE[system].engines[engine];
            (at, engine) = (at + 1, engine + 1);
        }
        system += 1;
    }
    names
};

/// The names that no job can run with here: of engines that are not built, and of those that only
/// other systems have.
pub(crate) const UNAVAILABLE_NAMES: [&str; UNBUILT.len() + ELSEWHERE_COUNT] = {
    let mut names = [""; UNBUILT.len() + ELSEWHERE_COUNT];
    let mut at = 0;
    while at < names.len() {
        let is_unbuilt = at < UNBUILT.len();
        names[at] = if is_unbuilt { UNBUILT[at].0 } else { OF_OTHER_SYSTEMS[at - UNBUILT.len()].0 };
        at += 1;
    }
    names
};

/// Every name: the catalogue, what is not built, what other systems have, and shared objects.
const NAMES: [Choice; CATALOGUE.len() + UNBUILT.len() + ELSEWHERE_COUNT + 1] = {
    let external = ("external", "an engine from a shared object: external:/path.so");
    let mut names = [external; CATALOGUE.len() + UNBUILT.len() + ELSEWHERE_COUNT + 1];
    let mut at = 0;
    while at < CATALOGUE.len() {
        names[at] = (CATALOGUE[at].name, CATALOGUE[at].summary);
        at += 1;
    }
    while at < CATALOGUE.len() + UNBUILT.len() {
        names[at] = UNBUILT[at - CATALOGUE.len()];
        at += 1;
    }
    while at + 1 < names.len() {
        names[at] = OF_OTHER_SYSTEMS[at - CATALOGUE.len() - UNBUILT.len()];
        at += 1;
    }
    names
};

impl OptionValue for EngineName {
    const KIND: ValueKind = ValueKind::Word;
    const CHOICES: &'static [Choice] = &NAMES;
    fn parse(text: &str, _: &mut ParseContext) -> Result<Self, ValueError> {
        if let Some(path) = text.strip_prefix("external:") {
            let want = || ValueError::new("a path after external:", text);
            let line = format!("fio: invalid external ioengine path \"{path}\"");
            let named = (!path.is_empty()).then(|| EngineName::External(path.to_owned()));
            return named.ok_or_else(|| want().as_fio(line));
        }
        // fio takes any name that begins so for its libaio engine.
        let is_libaio = text.starts_with("aio") || text.starts_with("linuxaio");
        let name = if is_libaio { "libaio" } else { text };
        let known = || Self::CHOICES.iter().map(|(word, _)| *word).filter(|w| *w != "external");
        if let Some(word) = known().find(|word| *word == name) {
            return Ok(EngineName::Known(word));
        }
        // fio, too, passes other names to the dynamic loader.
        if text.contains('/') {
            return Ok(EngineName::External(text.to_owned()));
        }
        let near = nearest(text, known()).map_or(String::new(), |n| format!(" such as {n}"));
        Err(ValueError::new(format!("the name of an engine{near} (see --enghelp)"), text)
            .as_fio(format!("fio: engine {text} not loadable")))
    }
    fn show(&self) -> String {
        match self {
            EngineName::Known(name) => (*name).to_owned(),
            EngineName::External(path) => format!("external:{path}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_is_built_or_not_and_listed_once() {
        for name in UNAVAILABLE_NAMES {
            assert!(iosonde_engine::find(name).is_none(), "{name} is built");
        }
        for (at, (name, _)) in NAMES.iter().enumerate() {
            assert!(NAMES[..at].iter().all(|(other, _)| other != name), "{name} is listed twice");
        }
    }
}
