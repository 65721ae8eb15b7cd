//! Buffers give their memory back: a million of them leave nothing behind.
//! Alone in its program, so that no other test's memory is counted.
#![cfg(target_os = "linux")]

use iosonde_direct::{AlignedBuf, BufferPool};

/// Bytes of this process that are in memory.
fn resident_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

#[test]
fn a_million_buffers_leave_nothing_behind() {
    const SLACK: u64 = 8 << 20;
    let pool = BufferPool::new(16, 64 << 10).unwrap();
    let round = |rounds: usize| {
        for number in 0..rounds {
            // Of the allocator: touched at both ends.
            let mut buffer = AlignedBuf::new(8192, 4096).unwrap();
            buffer[number % 8192] = 1;
            let mut pooled = pool.take().unwrap();
            pooled[number % 4096] = 1;
            if number % 1000 == 0 {
                // Mapped.
                let mut mapped = AlignedBuf::new(4 << 20, 4096).unwrap();
                mapped[number % 4096] = 1;
            }
        }
    };
    round(1000);
    let before = resident_bytes();
    round(1_000_000);
    let after = resident_bytes();
    assert!(after < before + SLACK, "{before} bytes before, {after} after");
    assert_eq!(pool.free(), 16);
}
