//! Powers of x modulo the polynomial of CRC-32C: what a sum is multiplied by
//! when more bytes follow.

/// The polynomial of CRC-32C (Castagnoli), bits reflected.
const POLYNOMIAL: u32 = 0x82f6_3b78;

/// x to the power of `exponent`, reflected: bit 31 is the coefficient of 1.
pub(super) const fn power_of_x(exponent: usize) -> u32 {
    let (mut power, mut left) = (1 << 31, exponent);
    while left > 0 {
        power = power >> 1 ^ if power & 1 == 1 { POLYNOMIAL } else { 0 };
        left -= 1;
    }
    power
}

/// The factors for the two halves of 128 bits which `bits` more bits follow.
///
/// A product without carry of two reflected words is that of their
/// polynomials times x, so a power less is enough. The first half is followed
/// by the second.
pub(super) const fn factors(bits: usize) -> [u64; 2] {
    [(power_of_x(bits + 63) as u64) << 32, (power_of_x(bits - 1) as u64) << 32]
}
