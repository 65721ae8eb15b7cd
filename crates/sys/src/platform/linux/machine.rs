//! What /proc and /sys say of the machine.

use std::fs;
use std::path::Path;

use super::memory::available_memory_bytes;
use crate::environment::Machine;

/// This machine: its name, its kernel, processors and memory are filled in by the caller.
pub(crate) fn machine() -> Machine {
    let cpuinfo = text("/proc/cpuinfo").unwrap_or_default();
    Machine {
        cpu_model: field(&cpuinfo, "model name").or_else(|| field(&cpuinfo, "Model")),
        governor: text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        available_bytes: available_memory_bytes(),
        virtual_machine: virtual_machine(&cpuinfo),
        container: container(),
        pages_out: pages_out(Path::new("/sys")),
        ..Machine::default()
    }
}

/// Whether the kernel trusts the processor's counter: it strikes one that drifts between processors off its
/// list. No list (a container without sysfs) is no verdict.
#[allow(dead_code)] // Only x86_64 has one that is read.
pub(crate) fn clock_counter_is_trusted() -> bool {
    fs::read_to_string("/sys/devices/system/clocksource/clocksource0/available_clocksource")
        .map_or(true, |list| lists_counter(&list))
}

fn lists_counter(list: &str) -> bool {
    list.split_ascii_whitespace().any(|name| name == "tsc")
}

/// The first line's value of `name : value`.
fn field(text: &str, name: &str) -> Option<String> {
    let value = text.lines().find_map(|line| {
        let (found, value) = line.split_once(':')?;
        (found.trim() == name).then(|| value.trim().to_owned())
    })?;
    (!value.is_empty()).then_some(value)
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

/// DAMON with a scheme that pages out, or its reclaim module (kernel,
/// Documentation/admin-guide/mm/damon). Its counts would be renewed by a write
/// only, so that nothing more is known.
fn pages_out(sysfs: &Path) -> Option<String> {
    let read = |path: &Path| fs::read_to_string(path).unwrap_or_default().trim().to_owned();
    let numbered = |folder: &Path| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect::<Vec<_>>()
    };
    let module = sysfs.join("module/damon_reclaim/parameters/enabled");
    let scheme = |kdamond: &std::path::PathBuf| {
        let contexts = numbered(&kdamond.join("contexts"));
        let schemes = contexts.iter().flat_map(|context| numbered(&context.join("schemes")));
        let pages_out =
            schemes.map(|scheme| read(&scheme.join("action"))).any(|to| to == "pageout");
        pages_out && read(&kdamond.join("state")) == "on"
    };
    let kdamonds = numbered(&sysfs.join("kernel/mm/damon/admin/kdamonds"));
    (read(&module) == "Y" || kdamonds.iter().any(scheme)).then(|| "DAMON".to_owned())
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
    fn damon_counts_where_it_is_on_and_pages_out() {
        let sysfs = std::env::temp_dir().join(format!("iosonde-damon-{}", std::process::id()));
        let kdamond = sysfs.join("kernel/mm/damon/admin/kdamonds/0");
        let scheme = kdamond.join("contexts/0/schemes/0");
        fs::create_dir_all(&scheme).unwrap();
        let with = |state: &str, action: &str| {
            fs::write(kdamond.join("state"), state).unwrap();
            fs::write(scheme.join("action"), action).unwrap();
            pages_out(&sysfs)
        };
        let found = [with("on\n", "pageout\n"), with("off\n", "pageout\n"), with("on\n", "stat\n")];
        fs::remove_dir_all(&sysfs).unwrap();
        assert_eq!(found, [Some("DAMON".to_owned()), None, None]);
        assert_eq!(pages_out(&sysfs), None);
    }

    #[test]
    fn fields_are_found_by_their_whole_name() {
        let text = "model\t\t: 167\nmodel name\t: A B\nflags : fpu hypervisor\n";
        assert_eq!(field(text, "model name").as_deref(), Some("A B"));
        assert_eq!(field(text, "name"), None);
        assert!(virtual_machine(text).is_some());
    }

    #[test]
    fn a_counter_off_the_kernels_list_is_not_trusted() {
        assert!(lists_counter("tsc hpet acpi_pm \n"));
        assert!(!lists_counter("hpet acpi_pm \n"));
        assert!(!lists_counter("tsc-early hpet\n"));
    }
}
