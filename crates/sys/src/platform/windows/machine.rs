//! The machine.
#![allow(unsafe_code)]

use windows_sys::Wdk::System::SystemServices::RtlGetVersion;
use windows_sys::Win32::System::Registry as registry;
use windows_sys::Win32::System::SystemInformation::OSVERSIONINFOW;

use crate::environment::Machine;

/// The name of this machine in its network.
pub(crate) fn host_name() -> Option<String> {
    std::env::var("COMPUTERNAME").ok().filter(|name| !name.is_empty())
}

/// `Windows 10.0.19045`.
pub(crate) fn kernel_release() -> String {
    let mut version = OSVERSIONINFOW {
        dwOSVersionInfoSize: size_of::<OSVERSIONINFOW>() as u32,
        ..Default::default()
    };
    // SAFETY: the call fills the structure, whose size is in it; it always succeeds.
    unsafe { RtlGetVersion(&raw mut version) };
    format!(
        "Windows {}.{}.{}",
        version.dwMajorVersion, version.dwMinorVersion, version.dwBuildNumber
    )
}

/// What the registry says of it.
pub(crate) fn machine() -> Machine {
    let bios = |name| text(r"HARDWARE\DESCRIPTION\System\BIOS", name);
    Machine {
        cpu_model: text(r"HARDWARE\DESCRIPTION\System\CentralProcessor\0", "ProcessorNameString"),
        available_bytes: super::available_memory_bytes(),
        virtual_machine: virtual_machine(bios("SystemManufacturer"), bios("SystemProductName")),
        ..Machine::default()
    }
}

/// By the names that firmware of virtual machines has.
fn virtual_machine(maker: Option<String>, product: Option<String>) -> Option<String> {
    const MARKS: [&str; 7] =
        ["QEMU", "KVM", "Amazon EC2", "VMware", "VirtualBox", "Xen", "Virtual Machine"];
    let firmware = [maker?, product?].join(" ");
    MARKS.iter().any(|mark| firmware.contains(mark)).then_some(firmware)
}

/// A text of the registry's part for the machine.
fn text(key: &str, name: &str) -> Option<String> {
    let (key, name) = (super::wide(key.as_ref()), super::wide(name.as_ref()));
    let mut buffer = [0_u16; 256];
    let mut bytes = size_of_val(&buffer) as u32;
    // SAFETY: two texts up to their zeroes are read, and at most `bytes` bytes are written to the buffer.
    let result = unsafe {
        registry::RegGetValueW(
            registry::HKEY_LOCAL_MACHINE,
            key.as_ptr(),
            name.as_ptr(),
            registry::RRF_RT_REG_SZ,
            std::ptr::null_mut(),
            buffer.as_mut_ptr().cast(),
            &raw mut bytes,
        )
    };
    if result != 0 {
        return None;
    }
    let length = buffer.iter().position(|unit| *unit == 0).unwrap_or(buffer.len());
    let text = String::from_utf16_lossy(&buffer[..length]).trim().to_owned();
    (!text.is_empty()).then_some(text)
}
