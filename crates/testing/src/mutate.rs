//! Inputs that are seeds with random changes: the same on every machine.

/// Changes of inputs that a parser of one language is tried with.
#[derive(Clone, Copy, Debug)]
pub struct Mutations<'a> {
    /// Inputs as they should be.
    pub seeds: &'a [Vec<u8>],
    /// What matters to the language, inserted anywhere.
    pub pieces: &'a [&'a str],
    /// How many changed inputs.
    pub count: usize,
}

impl Mutations<'_> {
    /// Each seed as it is, then changed in one to eight places, again and again.
    /// An input that `body` panics on is printed: it is the next seed.
    pub fn run(&self, body: fn(&[u8])) {
        assert!(!self.seeds.is_empty(), "no seeds");
        self.seeds.iter().for_each(|seed| body(seed));
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        for _ in 0..self.count {
            let mut data = self.seeds[random.below(self.seeds.len())].clone();
            for _ in 0..=random.below(8) {
                self.change(&mut data, &mut random);
            }
            if let Err(panic) = std::panic::catch_unwind(|| body(&data)) {
                eprintln!("failed on {:?}", String::from_utf8_lossy(&data));
                eprintln!("which is {data:?}");
                std::panic::resume_unwind(panic);
            }
        }
    }

    fn change(&self, data: &mut Vec<u8>, random: &mut Random) {
        let at = random.below(data.len() + 1);
        match random.below(7) {
            0 if at < data.len() => data[at] ^= 1 << random.below(8),
            1 if at < data.len() => drop(data.drain(at..data.len().min(at + 1 + random.below(8)))),
            2 => data.insert(at, random.below(256) as u8),
            3 if !self.pieces.is_empty() => {
                let piece = self.pieces[random.below(self.pieces.len())];
                data.splice(at..at, piece.bytes());
            }
            4 => {
                let other = &self.seeds[random.below(self.seeds.len())];
                let from = random.below(other.len() + 1);
                let to = other.len().min(from + random.below(40));
                data.splice(at..at, other[from..to].iter().copied());
            }
            5 if at < data.len() => data[at] = random.below(256) as u8,
            _ => data.truncate(data.len().max(at + 200)),
        }
    }
}

/// xorshift64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_that_fails_on_a_change_fails_the_test() {
        let seeds = [b"seed".to_vec()];
        let mutations = Mutations { seeds: &seeds, pieces: &["%"], count: 200 };
        mutations.run(|_| ());
        let failed = std::panic::catch_unwind(|| {
            mutations.run(|data| assert!(!data.contains(&b'%')));
        });
        assert!(failed.is_err());
    }
}
