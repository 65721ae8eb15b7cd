//! The name of an I/O engine.

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

impl OptionValue for EngineName {
    const KIND: ValueKind = ValueKind::Word;
    const CHOICES: &'static [Choice] = &[
        ("sync", "lseek(2), read(2), write(2)"),
        ("psync", "pread(2), pwrite(2)"),
        ("vsync", "readv(2), writev(2), neighbours joined"),
        ("pvsync", "preadv(2), pwritev(2)"),
        ("pvsync2", "preadv2(2), pwritev2(2)"),
        ("io_uring", "Linux io_uring"),
        ("io_uring_cmd", "Linux io_uring passthrough commands to NVMe"),
        ("libaio", "Linux io_submit(2), io_getevents(2)"),
        ("posixaio", "aio_read(3), aio_write(3)"),
        ("mmap", "memory mapped files"),
        ("splice", "splice(2), vmsplice(2)"),
        ("null", "no I/O at all: measures what is around it"),
        ("sim", "iosonde's own: a device of 100 us that exists only in time"),
        ("cpuio", "burns processor time"),
        ("net", "a network connection"),
        ("netsplice", "a network connection by splice(2)"),
        ("falloc", "fallocate(2) in place of I/O"),
        ("ftruncate", "ftruncate(2) in place of writes"),
        ("filecreate", "creates files"),
        ("filestat", "stats files"),
        ("filedelete", "deletes files"),
        ("dircreate", "creates directories"),
        ("dirstat", "stats directories"),
        ("dirdelete", "deletes directories"),
        ("exec", "runs a program beside the other jobs"),
        ("page_fault", "touches pages of memory"),
        ("e4defrag", "ext4 defragmentation"),
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
        ("windowsaio", "Windows overlapped I/O"),
        ("external", "an engine from a shared object: external:/path.so"),
    ];
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
        // fio's loader, too, is asked for what is none of its engines.
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
