//! The machine: kernel, processors, memory, whether it is a virtual one.

use std::fs;
use std::path::Path;

use crate::platform;

/// The machine. `None` is unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// `6.18.44`.
    pub kernel: String,
    /// The processor's name.
    pub cpu_model: Option<String>,
    /// Processors that this process may use.
    pub cpus: u32,
    /// How their frequency is chosen.
    pub governor: Option<String>,
    /// All memory, in bytes.
    pub memory_bytes: u64,
    /// Memory that could be had without swapping, in bytes.
    pub available_bytes: Option<u64>,
    /// It is a virtual machine, of this kind.
    pub virtual_machine: Option<String>,
    /// This process is in a container, of this kind.
    pub container: Option<String>,
}

impl Machine {
    /// This one, now.
    pub fn this() -> Machine {
        let cpuinfo = text("/proc/cpuinfo").unwrap_or_default();
        let meminfo = platform::meminfo_text().unwrap_or_default();
        Machine {
            kernel: platform::kernel_release(),
            cpu_model: field(&cpuinfo, "model name").or_else(|| field(&cpuinfo, "Model")),
            cpus: crate::cpu::allowed_count() as u32,
            governor: text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            memory_bytes: crate::memory::total_bytes(),
            available_bytes: kib(&meminfo, "MemAvailable"),
            virtual_machine: virtual_machine(&cpuinfo),
            container: container(),
        }
    }
}

/// The first line's value of `name : value`.
fn field(text: &str, name: &str) -> Option<String> {
    let value = text.lines().find_map(|line| {
        let (found, value) = line.split_once(':')?;
        (found.trim() == name).then(|| value.trim().to_owned())
    })?;
    (!value.is_empty()).then_some(value)
}

fn kib(meminfo: &str, name: &str) -> Option<u64> {
    let value = field(meminfo, name)?;
    value.split(' ').next()?.parse::<u64>().ok()?.checked_mul(1024)
}

/// A small file's text without blanks around it; `None` if it cannot be read.
fn text(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// x86 says so by a flag that every hypervisor sets; elsewhere firmware does.
fn virtual_machine(cpuinfo: &str) -> Option<String> {
    const VENDORS: [&str; 9] = [
        "QEMU",
        "KVM",
        "Amazon EC2",
        "Google",
        "VMware",
        "innotek",
        "Xen",
        "Parallels",
        "Microsoft",
    ];
    let firmware = ["sys_vendor", "product_name"]
        .iter()
        .filter_map(|name| text(&format!("/sys/class/dmi/id/{name}")))
        .collect::<Vec<_>>()
        .join(" ");
    let named = VENDORS.iter().any(|vendor| firmware.contains(vendor));
    let flagged = field(cpuinfo, "flags")
        .is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor"));
    match (flagged, firmware.is_empty()) {
        (true, true) => Some("of an unknown kind".to_owned()),
        (true, false) => Some(firmware),
        // Some of these make real machines too; without the flag on x86 it is one.
        (false, _) if named && field(cpuinfo, "flags").is_none() => Some(firmware),
        _ => None,
    }
}

fn container() -> Option<String> {
    if let Some(kind) = text("/run/systemd/container") {
        return Some(kind);
    }
    let marks = [("/.dockerenv", "docker"), ("/run/.containerenv", "podman")];
    if let Some((_, kind)) = marks.iter().find(|(mark, _)| Path::new(mark).exists()) {
        return Some((*kind).to_owned());
    }
    std::env::var("container").ok().filter(|kind| !kind.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_their_whole_name() {
        let text = "model\t\t: 167\nmodel name\t: A B\nflags : fpu hypervisor\n";
        assert_eq!(field(text, "model name").as_deref(), Some("A B"));
        assert_eq!(field(text, "name"), None);
        assert_eq!(kib("MemFree: 1 kB\nMemAvailable:  8 kB\n", "MemAvailable"), Some(8192));
        assert!(virtual_machine(text).is_some());
    }

    #[test]
    fn this_machine_is_something() {
        let machine = Machine::this();
        assert!(machine.cpus > 0 && machine.memory_bytes > 0 && !machine.kernel.is_empty());
    }
}
