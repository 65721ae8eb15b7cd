//! The bands and their sources, one row each. Figures of data sheets are decimal.

use super::{Band, Class, Shape};
use Class::{Hdd, Memory, NetworkDisk, NvmeGen3, NvmeGen4, NvmeGen5, SataSsd};
use Shape::*;

const fn band(class: Class, shape: Shape, low: f64, high: f64, from: &'static str) -> Band {
    Band { class, shape, low, high, from }
}

pub(super) const BANDS: [Band; 38] = [
    band(Hdd, SequentialRead, 83e6, 270e6, EXOS),
    band(Hdd, SequentialWrite, 83e6, 270e6, EXOS),
    band(Hdd, RandomRead, 70.0, 190.0, SEEK),
    band(Hdd, RandomWrite, 70.0, 190.0, "as reads, without the volatile write cache of the disk"),
    band(
        Hdd,
        QueuedRandomRead,
        80.0,
        152.0,
        "from one typical seek each, to one actuator of a Seagate Exos 2X18, of which two reach 304 \
         IOPS at depth 16 ([data sheet, by Tom's Hardware][exos-2x18])",
    ),
    band(
        Hdd,
        SyncedWrite,
        25.0,
        120.0,
        "7 200 revolutions per minute are 120 per second, and the same sector comes round once in \
         each; a commit that seeks three times takes 37 ms",
    ),
    band(
        SataSsd,
        SequentialRead,
        300e6,
        560e6,
        "from a port of 3 Gb/s to Samsung's figure for the 870 EVO ([KitGuru][870-evo])",
    ),
    band(
        SataSsd,
        SequentialWrite,
        80e6,
        530e6,
        "from a Samsung 870 QVO of 1 TB whose fast cache is full ([PC Gamer][870-qvo]) to Samsung's \
         figure for the 870 EVO ([KitGuru][870-evo])",
    ),
    band(
        SataSsd,
        RandomRead,
        7.5e3,
        13e3,
        "Samsung's figures for the 860 QVO ([MMORPG.com][860-qvo]) and the 870 EVO ([KitGuru][870-evo])",
    ),
    band(
        SataSsd,
        RandomWrite,
        36e3,
        40e3,
        "Samsung's figures for the 870 EVO ([KitGuru][870-evo]) and the 850 EVO \
         ([Wired2Fire][850-evo])",
    ),
    band(SataSsd, QueuedRandomRead, 67e3, 98e3, S3500),
    band(SataSsd, QueuedRandomWrite, 14.5e3, 88e3, S3500),
    band(NvmeGen3, SequentialRead, 2.7e9, 3.5e9, P3500),
    band(
        NvmeGen3,
        SequentialWrite,
        400e6,
        3.3e9,
        "Samsung's data sheet of the 970 EVO Plus: 250 GB with its fast cache full, to 1 TB within it",
    ),
    band(NvmeGen3, RandomRead, 17e3, 19e3, "Samsung's data sheet of the 970 EVO Plus"),
    band(
        NvmeGen3,
        RandomWrite,
        60e3,
        163e3,
        "from Samsung's data sheet of the 970 EVO Plus to what KitGuru measured on it",
    ),
    band(NvmeGen3, QueuedRandomRead, 250e3, 600e3, "Samsung's data sheet of the 970 EVO Plus"),
    band(
        NvmeGen3,
        QueuedRandomWrite,
        355e3,
        550e3,
        "from what KitGuru measured on the 970 EVO Plus to Samsung's data sheet of it",
    ),
    band(
        NvmeGen3,
        SyncedWrite,
        280.0,
        7.3e3,
        "from a Samsung 960 PRO ([Percona, 2018][percona-2018]: 3.5 ms) to an Intel P3700 with \
         power-loss protection ([Percona, 2019][percona-2019])",
    ),
    band(
        NvmeGen4,
        SequentialRead,
        5e9,
        7.45e9,
        "from the first SSDs of this generation ([Tom's Hardware][first-gen4]) to Samsung's figure \
         for the 990 PRO ([StorageReview][9100-pro])",
    ),
    band(
        NvmeGen4,
        SequentialWrite,
        2.7e9,
        6.9e9,
        "Samsung's figures for the 980 PRO of 250 GB ([Review Central][980-pro]) and the 990 PRO \
         ([StorageReview][9100-pro]); less where the fast cache is full",
    ),
    band(
        NvmeGen4,
        RandomRead,
        17e3,
        20e3,
        "from PCIe 3, since the flash decides and not the link, to what KitGuru measured on a \
         [Lexar NM790][nm790] and The FPS Review on a [Samsung 990 PRO][990-pro]",
    ),
    band(
        NvmeGen4,
        RandomWrite,
        57e3,
        163e3,
        "from what KitGuru measured on a [Lexar NM790][nm790] to the most of PCIe 3: the memory of \
         the drive takes the writes",
    ),
    band(
        NvmeGen4,
        QueuedRandomRead,
        500e3,
        1.4e6,
        "Samsung's figures for the 980 PRO of 250 GB ([Review Central][980-pro]) and the 990 PRO \
         ([slashCAM][990-pro-figures])",
    ),
    band(
        NvmeGen4,
        QueuedRandomWrite,
        372e3,
        1.55e6,
        "from what KitGuru measured on a [PNY CS3140][cs3140] to Samsung's figure for the 990 PRO \
         ([slashCAM][990-pro-figures])",
    ),
    band(
        NvmeGen4,
        SyncedWrite,
        1.1e3,
        80e3,
        "from a Samsung 990 PRO (891 us) to SSDs with power-loss protection (12 us), \
         [measured with 16 KiB][sync-latency]",
    ),
    band(NvmeGen5, SequentialRead, 11.7e9, 14.8e9, GEN5),
    band(NvmeGen5, SequentialWrite, 9.5e9, 13.4e9, GEN5),
    band(NvmeGen5, QueuedRandomRead, 1.35e6, 2.2e6, GEN5),
    band(NvmeGen5, QueuedRandomWrite, 1.4e6, 2.6e6, GEN5),
    band(NetworkDisk, SequentialRead, 131e6, 1.05e9, GP3),
    band(NetworkDisk, SequentialWrite, 131e6, 1.05e9, GP3),
    band(NetworkDisk, RandomRead, 100.0, 2e3, EBS_LATENCY),
    band(NetworkDisk, RandomWrite, 100.0, 2e3, EBS_LATENCY),
    band(NetworkDisk, QueuedRandomRead, 3e3, 16e3, GP3),
    band(NetworkDisk, QueuedRandomWrite, 3e3, 16e3, GP3),
    band(Memory, SequentialRead, 3.7e9, 12.8e9, COPY),
    band(
        Memory,
        RandomRead,
        576e3,
        1.45e6,
        "[performance.md](performance.md): fio and iosonde, 16 and 256 MiB in the page cache",
    ),
];

const EXOS: &str = "from the innermost tracks of a Seagate Constellation ES.3 (product manual of its SAS \
     model, 4.1.2: 83 to 175 MB/s) to the outermost of an Exos X18 ([ComputerBase][exos-x18])";
const SEEK: &str = "half a revolution (4.17 ms) and a seek: 10.2 ms, the longest average of a HGST Ultrastar \
     7K4000 (its specification, 4.4.1), to 1 ms to the next track. A small file is at the upper end";
const S3500: &str = "from Intel's data sheet of the SSD DC S3500 (M.2), over its full range, to Samsung's \
     figure for the 870 EVO ([KitGuru][870-evo])";
const P3500: &str =
    "Intel's specification of the SSD DC P3500, Samsung's data sheet of the 970 EVO Plus";
const GEN5: &str = "Crucial's figures for the T700 of 1 TB ([Tom's Hardware][t700]) and Samsung's for the \
     9100 PRO ([StorageReview][9100-pro])";
const GP3: &str = "[Amazon EBS][ebs], gp3: its baseline (125 MiB/s, 3 000 IOPS) to the most that could be \
     bought for it until 2025 (1 000 MiB/s, 16 000 IOPS)";
const EBS_LATENCY: &str = "latencies that [Amazon EBS][ebs] states: less than 10 ms (gp3) to 0.5 ms on average \
     (io2 Block Express)";
const COPY: &str = "from 4 KiB at a time ([performance.md](performance.md)) to one channel of DDR4-3200 \
     (25.6 GB/s), over which a copy moves each byte twice";
