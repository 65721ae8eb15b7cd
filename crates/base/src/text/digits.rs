//! Whole numbers as digits, for files of millions of lines: most of their cost is this.

/// All numbers of two digits.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut n = 0;
    while n < 100 {
        pairs[n] = [b'0' + (n / 10) as u8, b'0' + (n % 10) as u8];
        n += 1;
    }
    pairs
};

/// Digits of a number at most, and two bytes before them.
const MOST: usize = 22;

/// Append `value` in digits.
// Not inlined, here and below: who writes lines may be compiled for size.
#[inline(never)]
pub fn put_number(out: &mut Vec<u8>, value: u64) {
    let (digits, at) = digits(value);
    out.extend_from_slice(&digits[at..]);
}

/// Append a comma, a space and `value` in digits.
#[inline(never)]
pub fn put_next_number(out: &mut Vec<u8>, value: u64) {
    let (mut digits, at) = digits(value);
    let at = at - 2;
    digits[at..at + 2].copy_from_slice(b", ");
    out.extend_from_slice(&digits[at..]);
}

/// The digits at the end, and where they begin: at the third byte at least.
#[inline(always)]
fn digits(mut value: u64) -> ([u8; MOST], usize) {
    let mut digits = [0; MOST];
    let mut at = MOST;
    while value >= 10 {
        at -= 2;
        digits[at..at + 2].copy_from_slice(&PAIRS[(value % 100) as usize]);
        value /= 100;
    }
    if value > 0 || at == MOST {
        at -= 1;
        digits[at] = b'0' + value as u8;
    }
    (digits, at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_the_standard_library_writes_them() {
        let mut sample = 1u64;
        let check = |n: u64| {
            let mut out = b"x".to_vec();
            put_number(&mut out, n);
            put_next_number(&mut out, n);
            assert_eq!(String::from_utf8(out).unwrap(), format!("x{n}, {n}"));
        };
        for n in (0..1200).chain((0..64).map(|shift| u64::MAX >> shift)) {
            check(n);
            sample = sample.wrapping_mul(6364136223846793005).wrapping_add(1);
            check(sample);
        }
    }
}
