//! What was tested, for the pages of commands that have no ledger: this machine, this program.

use iosonde_base::text::{bytes, counted};
use iosonde_report::scale::timestamp_with_zone;
use iosonde_sys::environment::Machine;

/// Names and words.
pub type TestedRows = Vec<(&'static str, String)>;

/// This machine, then `between` (the disk, the file system), then kernel, program and date.
pub fn with_machine(between: TestedRows) -> TestedRows {
    let machine = Machine::this();
    let mut rows = Vec::new();
    rows.extend(machine.host.map(|host| ("host", host)));
    let model = machine.cpu_model.unwrap_or_else(|| "unknown model".to_owned());
    let processors = counted(machine.cpus.into(), "processor");
    let memory = bytes(machine.memory_bytes);
    rows.push(("machine", format!("{processors}, {model}, {memory} of memory")));
    rows.extend(between);
    rows.push(("kernel", machine.kernel));
    rows.extend(program());
    rows
}

/// The program and the date, now.
pub fn program() -> TestedRows {
    let now = iosonde_base::time::unix_ms();
    vec![
        ("program", format!("iosonde {}", env!("CARGO_PKG_VERSION"))),
        ("date", timestamp_with_zone(now, iosonde_sys::local_time::utc_offset_s())),
    ]
}
