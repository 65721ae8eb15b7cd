//! Classes of devices, and which one a job's files are on.

use crate::ledger::{DeviceDescription, DeviceLedger, JobLedger, Ledger};

/// A class of devices that are alike in what they reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A disk with moving parts, 7 200 revolutions per minute.
    Hdd,
    /// An SSD on SATA.
    SataSsd,
    /// An NVMe SSD on four lanes of PCIe 3.
    NvmeGen3,
    /// An NVMe SSD on four lanes of PCIe 4.
    NvmeGen4,
    /// An NVMe SSD on four lanes of PCIe 5.
    NvmeGen5,
    /// An NVMe SSD whose link is not known.
    Nvme,
    /// A disk of a cloud, over its network.
    NetworkDisk,
    /// Memory: the page cache, tmpfs, a RAM disk.
    Memory,
}

impl Class {
    /// Those that have bands of their own, in the order of the page.
    pub const ALL: [Class; 7] = [
        Class::Hdd,
        Class::SataSsd,
        Class::NvmeGen3,
        Class::NvmeGen4,
        Class::NvmeGen5,
        Class::NetworkDisk,
        Class::Memory,
    ];

    /// With its article: `a SATA SSD`.
    pub fn words(self) -> &'static str {
        match self {
            Class::Hdd => "a hard disk",
            Class::SataSsd => "a SATA SSD",
            Class::NvmeGen3 => "an NVMe SSD of PCIe 3",
            Class::NvmeGen4 => "an NVMe SSD of PCIe 4",
            Class::NvmeGen5 => "an NVMe SSD of PCIe 5",
            Class::Nvme => "an NVMe SSD",
            Class::NetworkDisk => "a network disk of a cloud",
            Class::Memory => "memory",
        }
    }
}

/// The class of the one device that keeps a job's data; `None` where there are several, or
/// nothing tells what it is.
pub fn class_of(job: &JobLedger, ledger: &Ledger) -> Option<Class> {
    let [name] = job.files.devices.as_slice() else { return None };
    let named = |name: &str| ledger.devices.iter().find(|device| device.name == name);
    let mut device = named(name)?;
    // Deeper stacks do not work on Linux.
    for _ in 0..16 {
        match device.made_of.as_slice() {
            [] => return class_of_disk(device),
            [below] => device = named(below)?,
            _ => return None,
        }
    }
    None
}

/// Models by which clouds name their network disks.
const CLOUD_MODELS: [&str; 4] =
    ["Amazon Elastic Block Store", "nvme_card-pd", "PersistentDisk", "MSFT NVMe Accelerator"];
/// Models of disks whose place the guest cannot see.
const VIRTUAL_MODELS: [&str; 6] = ["QEMU", "VBOX", "VMware", "Virtual", "virtio", "Msft"];

fn class_of_disk(device: &DeviceLedger) -> Option<Class> {
    if device.in_memory {
        return Some(Class::Memory);
    }
    let DeviceDescription { model, rotational, link, .. } = &device.facts;
    let model = model.as_deref().unwrap_or_default();
    if CLOUD_MODELS.iter().any(|known| model.contains(known)) {
        return Some(Class::NetworkDisk);
    }
    if model.is_empty() || VIRTUAL_MODELS.iter().any(|known| model.contains(known)) {
        return None;
    }
    let is_disk = matches!(device.kind.as_str(), "disk" | "partition");
    match rotational {
        _ if !is_disk => None,
        _ if device.name.starts_with("nvme") => of_link(link.as_deref()),
        Some(true) if device.name.starts_with("sd") => Some(Class::Hdd),
        Some(false) if device.name.starts_with("sd") => Some(Class::SataSsd),
        _ => None,
    }
}

/// The class of an NVMe SSD by the link that it has now: `16.0 GT/s PCIe x4`.
fn of_link(link: Option<&str>) -> Option<Class> {
    let Some(link) = link else { return Some(Class::Nvme) };
    if !link.ends_with(" x4") {
        return None;
    }
    match link.split('.').next()? {
        "8" => Some(Class::NvmeGen3),
        "16" => Some(Class::NvmeGen4),
        "32" => Some(Class::NvmeGen5),
        _ => None,
    }
}
