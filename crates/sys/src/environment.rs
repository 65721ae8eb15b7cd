//! The machine: kernel, processors, memory, whether it is a virtual one.

use crate::platform;

/// The machine. `None` is unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// The name of the machine in its network.
    pub host: Option<String>,
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
    /// What drops idle pages of files from memory on its own account: `DAMON`.
    pub pages_out: Option<String>,
}

impl Machine {
    /// This one, now.
    pub fn this() -> Machine {
        let machine = platform::machine();
        Machine {
            host: platform::host_name(),
            kernel: platform::kernel_release(),
            cpus: crate::cpu::allowed_count() as u32,
            memory_bytes: crate::memory::total_bytes(),
            ..machine
        }
    }
}

/// The name of this machine in its network; `None` where it is not set.
pub fn host_name() -> Option<String> {
    platform::host_name()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_something() {
        let machine = Machine::this();
        assert!(machine.cpus > 0 && machine.memory_bytes > 0 && !machine.kernel.is_empty());
    }
}
