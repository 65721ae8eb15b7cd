//! Draws of a taus88 that nothing else draws from, made ahead of time and many at once.

use super::Taus88;

/// How many are made at once: a whole number of times what [`Taus88::draw_many`] does at once.
const MANY: usize = 128;

/// A generator with its next draws.
#[derive(Clone, Debug)]
pub(crate) struct Ahead {
    draws: Taus88,
    /// Empty until something is drawn: there may be a generator for each of many files.
    numbers: Vec<u32>,
    next: usize,
}

impl Ahead {
    /// The draws of `draws`.
    pub fn new(draws: Taus88) -> Ahead {
        Ahead { draws, numbers: Vec::new(), next: 0 }
    }

    /// The next 32 bits.
    #[inline(always)]
    pub fn draw(&mut self) -> u32 {
        let [number] = self.some();
        number
    }

    /// The next `COUNT` times 32 bits, which is at most [`MANY`].
    #[inline(always)]
    pub fn some<const COUNT: usize>(&mut self) -> [u32; COUNT] {
        const { assert!(COUNT <= MANY) };
        if self.numbers.len() - self.next < COUNT {
            self.make();
        }
        let (some, _) = self.numbers[self.next..].as_chunks();
        self.next += COUNT;
        some[0]
    }

    /// Move what is left to the front, and add more to it.
    #[inline(never)]
    fn make(&mut self) {
        self.numbers.drain(..self.next);
        let left = self.numbers.len();
        self.numbers.resize(left + MANY, 0);
        self.draws.draw_many(&mut self.numbers[left..]);
        self.next = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_made_ahead_are_those_of_one_by_one() {
        let mut one = Taus88::new(7);
        let mut ahead = Ahead::new(one.clone());
        for _ in 0..100 {
            assert_eq!(ahead.some::<12>(), [(); 12].map(|()| one.draw()));
            assert_eq!(ahead.draw(), one.draw());
        }
    }
}
