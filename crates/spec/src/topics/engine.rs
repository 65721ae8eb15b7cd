//! Which engine does the I/O.

use iosonde_options::{Category, options};

use crate::values::EngineName;

options! {
    /// Engine
    pub struct EngineOptions in Category::Engine {
        /// How I/O is done.
        ///
        /// Options that only some engines know may stand before or after it.
        ioengine: EngineName = "psync" as "ioengine" {
            unbuilt_words: &["io_uring_cmd", "e4defrag", "sg", "mtd", "nbd", "http", "nfs", "libiscsi", "rbd", "rados",
                "gfapi", "gfapi_async", "libhdfs", "dfs", "ime_psync", "ime_psyncv", "ime_aio",
                "rdma", "libpmem", "dev-dax", "pmemblk", "libzbc", "xnvme", "libblkio",
                "libcufile", "libhipfile", "solarisaio", "windowsaio"],
            good: &["psync", "libaio", "io_uring", "null", "mmap", "sync", "pvsync2"],
            bad: &["fastest", "external:"],
        }
    }
}
