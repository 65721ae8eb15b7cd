//! Draws of a taus88 that nothing else draws from, made ahead of time and many at once.

use super::Taus88;

/// How many are made at once: as many as [`Taus88::draw_many`] does at once.
const MANY: usize = 64;

/// How many may be left when more are made: one less than are asked for at once.
const LEFT: usize = 11;

/// A generator with its next draws.
#[derive(Clone, Debug)]
pub(crate) struct Ahead {
    draws: Taus88,
    /// What was left of the last ones, and those made at once.
    numbers: Box<[u32; LEFT + MANY]>,
    next: usize,
}

impl Ahead {
    /// The draws of `draws`.
    pub fn new(draws: Taus88) -> Ahead {
        Ahead { draws, numbers: Box::new([0; LEFT + MANY]), next: LEFT + MANY }
    }

    /// The next 32 bits.
    #[inline(always)]
    pub fn draw(&mut self) -> u32 {
        if self.next >= LEFT + MANY {
            self.make();
        }
        let number = self.numbers[self.next];
        self.next += 1;
        number
    }

    /// The next `COUNT` times 32 bits.
    #[inline(always)]
    pub fn some<const COUNT: usize>(&mut self) -> [u32; COUNT] {
        const { assert!(COUNT <= LEFT + 1) };
        if self.next + COUNT > LEFT + MANY {
            self.make();
        }
        let some = self.numbers[self.next..].first_chunk();
        self.next += COUNT;
        *some.expect("as many were made")
    }

    /// The next draws, `most` of them or fewer, at least one; they are taken by [`Ahead::take`].
    #[inline]
    pub fn peek(&mut self, most: usize) -> &[u32] {
        // No more are left than there is room for in front.
        if self.numbers.len() - self.next < most.min(LEFT + 1) {
            self.make();
        }
        let numbers = &self.numbers[self.next..];
        &numbers[..numbers.len().min(most)]
    }

    /// Take so many of those that were looked at.
    #[inline]
    pub fn take(&mut self, count: usize) {
        self.next += count;
    }

    /// Move what is left to the front, and make more.
    #[inline(never)]
    fn make(&mut self) {
        let left = LEFT + MANY - self.next;
        self.numbers.copy_within(self.next.., LEFT - left);
        self.draws.draw_many(&mut self.numbers[LEFT..]);
        self.next = LEFT - left;
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
            let peeked = ahead.peek(40).to_vec();
            assert!(!peeked.is_empty() && peeked.len() <= 40);
            ahead.take(peeked.len() - 1);
            let taken = &peeked[..peeked.len() - 1];
            assert!(taken.iter().all(|&number| number == one.draw()), "{taken:?}");
        }
    }
}
