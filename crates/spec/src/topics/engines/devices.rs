//! Options of engines over special devices, and libraries that drive devices.

use iosonde_options::{Built, Category, options};

use crate::values::{RdmaVerb, SgWriteMode};

options! {
    /// mtd
    pub struct Mtd in Category::Engine {
        /// Leave out blocks that are known to be bad.
        skip_bad: bool = "0" as "skip_bad" {
            built: Built::No,
            good: &["0", "1"],
            bad: &["2"],
        }
    }
}

options! {
    /// sg
    pub struct Sg in Category::Engine {
        /// Poll for completions rather than wait for interrupts.
        hipri: bool = "0" as "hipri" {
            built: Built::No,
            bare: Some("1"),
            good: &["1", "0"],
            bad: &["yes"],
        }
        /// Set Force Unit Access on reads.
        readfua: bool = "0" as "readfua" {
            built: Built::No,
            good: &["0", "1"],
            bad: &["2"],
        }
        /// Set Force Unit Access on writes.
        writefua: bool = "0" as "writefua" {
            built: Built::No,
            good: &["0", "1"],
            bad: &["2"],
        }
        /// The SCSI command that writes.
        sg_write_mode: SgWriteMode = "write" as "sg_write_mode" {
            built: Built::No,
            good: &["write", "verify", "same"],
            bad: &["append"],
        }
        /// The stream that WRITE STREAM writes to.
        stream_id: u32 = "0" as "stream_id" {
            built: Built::No,
            good: &["0", "1"],
            bad: &["first"],
        }
    }
}

options! {
    /// rdma
    pub struct Rdma in Category::Engine {
        /// Host to connect to.
        hostname: Option<String> = "" as "hostname" {
            built: Built::No,
            good: &["192.0.2.1"],
        }
        /// Local address.
        bindname: Option<String> = "" as "bindname" {
            built: Built::No,
            good: &["192.0.2.10"],
        }
        /// Port to connect to or to listen on.
        port: u32 = "0" as "port" {
            built: Built::No,
            good: &["1"],
            bad: &["some"],
        }
        /// What is done.
        verb: RdmaVerb = "write" as "verb" | "proto" {
            built: Built::No,
            good: &["write", "read", "send", "recv"],
            bad: &["push"],
        }
    }
}

options! {
    /// xnvme
    pub struct Xnvme in Category::Engine {
        /// Poll for completions.
        hipri: bool = "0" as "hipri" {
            built: Built::No,
            good: &["0", "1"],
            bad: &["2"],
        }
        /// Let a thread of the kernel submit.
        sqthread_poll: bool = "0" as "sqthread_poll" {
            built: Built::No,
            good: &["0", "1"],
            bad: &["2"],
        }
        /// The backend.
        xnvme_be: Option<String> = "" as "xnvme_be" {
            built: Built::No,
            good: &["linux", "spdk"],
        }
        /// The asynchronous interface.
        xnvme_async: Option<String> = "" as "xnvme_async" {
            built: Built::No,
            good: &["io_uring", "libaio", "thrpool", "emu"],
        }
        /// The synchronous interface.
        xnvme_sync: Option<String> = "" as "xnvme_sync" {
            built: Built::No,
            good: &["nvme", "psync", "block"],
        }
        /// The admin interface.
        xnvme_admin: Option<String> = "" as "xnvme_admin" {
            built: Built::No,
            good: &["nvme", "block"],
        }
        /// The namespace.
        xnvme_dev_nsid: u32 = "0" as "xnvme_dev_nsid" {
            built: Built::No,
            good: &["1"],
            bad: &["some"],
        }
        /// The subsystem.
        xnvme_dev_subnqn: Option<String> = "" as "xnvme_dev_subnqn" {
            built: Built::No,
            good: &["nqn.2016-06.io.spdk:cnode1"],
        }
        /// The memory manager.
        xnvme_mem: Option<String> = "" as "xnvme_mem" {
            built: Built::No,
            good: &["posix", "hugepage", "spdk"],
        }
        /// Use vectored commands.
        xnvme_iovec: bool = "0" as "xnvme_iovec" {
            built: Built::No,
            good: &["0", "1"],
            bad: &["2"],
        }
        /// Bytes of metadata that go with each I/O.
        md_per_io_size: u32 = "0" as "md_per_io_size" {
            built: Built::No,
            good: &["1"],
            bad: &["some"],
        }
        /// Let the device make and strip protection information.
        pi_act: bool = "1" as "pi_act" {
            built: Built::No,
            good: &["0", "1"],
            bad: &["2"],
        }
        /// What protection information is checked.
        pi_chk: Option<String> = "" as "pi_chk" {
            built: Built::No,
            good: &["GUARD", "GUARD,APPTAG"],
        }
        /// Application tag.
        apptag: u32 = "0x1234" as "apptag" {
            built: Built::No,
            good: &["1"],
            bad: &["some"],
        }
        /// Bits of the application tag that are checked.
        apptag_mask: u32 = "0xffff" as "apptag_mask" {
            built: Built::No,
            good: &["1"],
            bad: &["some"],
        }
    }
}

options! {
    /// libblkio
    pub struct LibBlkIo in Category::Engine {
        /// The driver.
        libblkio_driver: Option<String> = "" as "libblkio_driver" {
            built: Built::No,
            good: &["io_uring", "nvme-io_uring", "virtio-blk-vfio-pci"],
        }
        /// Its path.
        libblkio_path: Option<String> = "" as "libblkio_path" {
            built: Built::No,
            good: &["/dev/nvme0n1", "0000:01:00.0"],
        }
        /// Properties set before connecting.
        libblkio_pre_connect_props: Option<String> = "" as "libblkio_pre_connect_props" {
            built: Built::No,
            good: &["direct=true", "read-only=true"],
        }
        /// Entries of a queue.
        libblkio_num_entries: u32 = "0" as "libblkio_num_entries" {
            built: Built::No,
            good: &["1"],
            bad: &["some"],
        }
        /// Size of a queue.
        libblkio_queue_size: u32 = "0" as "libblkio_queue_size" {
            built: Built::No,
            good: &["1"],
            bad: &["some"],
        }
        /// Properties set before starting.
        libblkio_pre_start_props: Option<String> = "" as "libblkio_pre_start_props" {
            built: Built::No,
            good: &["num-queues=4", "num-poll-queues=1"],
        }
        /// Use poll queues.
        hipri: bool = "0" as "hipri" {
            built: Built::No,
            good: &["0", "1"],
            bad: &["2"],
        }
        /// Use vectored requests.
        libblkio_vectored: bool = "0" as "libblkio_vectored" {
            built: Built::No,
            good: &["0", "1"],
            bad: &["2"],
        }
        /// Write zeroes for trims.
        libblkio_write_zeroes_on_trim: bool = "0" as "libblkio_write_zeroes_on_trim" {
            built: Built::No,
            good: &["0", "1"],
            bad: &["2"],
        }
        /// How to wait: block, eventfd or loop.
        libblkio_wait_mode: Option<String> = "" as "libblkio_wait_mode" {
            built: Built::No,
            good: &["block", "eventfd", "loop"],
        }
        /// Have an eventfd always.
        libblkio_force_enable_completion_eventfd: bool = "0" as "libblkio_force_enable_completion_eventfd" {
            built: Built::No,
            good: &["0", "1"],
            bad: &["2"],
        }
    }
}

options! {
    /// libcufile
    pub struct LibCuFile in Category::Engine {
        /// The GPUs, parted by colons.
        gpu_dev_ids: Option<String> = "" as "gpu_dev_ids" {
            built: Built::No,
            good: &["0", "0:1"],
        }
        /// How data gets to the GPU: cufile or posix.
        cuda_io: Option<String> = "" as "cuda_io" {
            built: Built::No,
            good: &["cufile", "posix"],
        }
    }
}

options! {
    /// libhipfile
    pub struct LibHipFile in Category::Engine {
        /// The GPUs, parted by colons.
        gpu_dev_ids: Option<String> = "" as "gpu_dev_ids" {
            built: Built::No,
            good: &["0", "0:1"],
        }
        /// How data gets to the GPU: hipfile or posix.
        rocm_io: Option<String> = "" as "rocm_io" {
            built: Built::No,
            good: &["hipfile", "posix"],
        }
    }
}

options! {
    /// windowsaio
    pub struct WindowsAio in Category::Engine {
        /// Reap without a separate thread.
        no_completion_thread: bool = "0" as "no_completion_thread" {
            built: Built::No,
            good: &["0", "1"],
            bad: &["2"],
        }
    }
}
