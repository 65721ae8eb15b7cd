//! Ways to copy memory. Each takes a buffer, and copies its first half to the
//! second.

use std::hint::black_box;

/// Copies a half of a buffer to the other.
pub type Copy = fn(&mut [u8]);

/// The ways by the names that fio has for them, in its order.
pub const COPIES: [(&str, Copy); 4] =
    [("memcpy", memcpy), ("memmove", memmove), ("simple", simple), ("hybrid", hybrid)];

/// Up to so many bytes `hybrid` copies one by one.
const SMALL: usize = 64;

fn memcpy(buffer: &mut [u8]) {
    let (from, to) = buffer.split_at_mut(buffer.len() / 2);
    black_box(to).copy_from_slice(black_box(from));
}

fn memmove(buffer: &mut [u8]) {
    let half = black_box(buffer.len() / 2);
    buffer.copy_within(..half, half);
}

/// Byte by byte: `black_box` keeps the compiler from making a memcpy of it.
fn simple(buffer: &mut [u8]) {
    let (from, to) = buffer.split_at_mut(buffer.len() / 2);
    for (to, from) in to.iter_mut().zip(from) {
        *to = black_box(*from);
    }
}

fn hybrid(buffer: &mut [u8]) {
    match buffer.len() / 2 {
        ..=SMALL => simple(buffer),
        _ => memcpy(buffer),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_copies_all_bytes() {
        for (name, copy) in COPIES {
            for half in [1, 8, 64, 65, 4096] {
                let mut buffer: Vec<u8> = (0..2 * half).map(|at| at as u8 ^ 0x5a).collect();
                buffer[half..].fill(0);
                copy(&mut buffer);
                let (from, to) = buffer.split_at(half);
                assert_eq!(from, to, "{name} {half}");
            }
        }
    }
}
