//! Which rule of direct I/O a read or write breaks.

use std::fmt;

use crate::DirectIo;

/// What of a request must be a multiple of an alignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestPart {
    /// The address of the buffer.
    Address,
    /// The length.
    Length,
    /// The offset in the file.
    Offset,
}

impl fmt::Display for RequestPart {
    /// `address`, `length`, `offset`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            RequestPart::Address => "address",
            RequestPart::Length => "length",
            RequestPart::Offset => "offset",
        })
    }
}

/// One part of a request that is no multiple of what it must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Misalignment {
    /// Which part.
    pub part: RequestPart,
    /// Its value.
    pub value: u64,
    /// What it must be a multiple of, in bytes.
    pub required: u32,
}

impl fmt::Display for Misalignment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Misalignment { part, value, required } = self;
        match part {
            RequestPart::Address => write!(f, "the {part} {value:#x}")?,
            _ => write!(f, "the {part} {value}")?,
        }
        write!(f, " is not a multiple of {required}")
    }
}

/// Reads and writes have rules of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    /// From the file to memory.
    Read,
    /// From memory to the file.
    Write,
}

impl DirectIo {
    /// The rules that a transfer of `bytes` bytes at `offset` breaks, with a
    /// buffer at `address`: none, if direct I/O takes it.
    pub fn misalignments(
        &self,
        transfer: Transfer,
        address: usize,
        bytes: usize,
        offset: u64,
    ) -> Vec<Misalignment> {
        let in_file = match transfer {
            Transfer::Read => self.read_offset_alignment,
            Transfer::Write => self.offset_alignment,
        };
        let parts = [
            (RequestPart::Address, address as u64, self.memory_alignment),
            (RequestPart::Length, bytes as u64, in_file),
            (RequestPart::Offset, offset, in_file),
        ];
        let broken = |&(part, value, required): &(RequestPart, u64, u32)| {
            (required > 1 && value % u64::from(required) != 0).then_some(Misalignment {
                part,
                value,
                required,
            })
        };
        parts.iter().filter_map(broken).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Known;

    #[test]
    fn each_broken_rule_is_named_with_its_value_and_what_it_must_be_a_multiple_of() {
        let needs = DirectIo {
            possible: true,
            memory_alignment: 4,
            offset_alignment: 4096,
            read_offset_alignment: 512,
            known: Known::Stated,
        };
        let of = |transfer, address, bytes, offset| -> Vec<String> {
            let broken = needs.misalignments(transfer, address, bytes, offset);
            broken.iter().map(Misalignment::to_string).collect()
        };
        assert_eq!(of(Transfer::Write, 0x1000, 8192, 4096), [""; 0]);
        assert_eq!(of(Transfer::Read, 0x1000, 512, 1024), [""; 0]);
        assert_eq!(
            of(Transfer::Write, 0x1001, 512, 1024),
            [
                "the address 0x1001 is not a multiple of 4",
                "the length 512 is not a multiple of 4096",
                "the offset 1024 is not a multiple of 4096"
            ]
        );
        assert_eq!(of(Transfer::Read, 4, 513, 0), ["the length 513 is not a multiple of 512"]);
    }
}
