//! What several workers do of a whole.

/// The part of one of `workers`, counted from 0, in `all`: as even as may be, the first
/// ones with one more. Where it begins, and how many.
///
/// # Panics
/// Without workers.
pub fn part_of(all: u64, workers: u32, worker: u32) -> (u64, u64) {
    let (workers, worker) = (u64::from(workers), u64::from(worker));
    let (even, rest) = (all / workers, all % workers);
    (even * worker + rest.min(worker), even + u64::from(worker < rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_even_and_leave_nothing_out() {
        assert_eq!([0, 1, 2].map(|worker| part_of(10, 3, worker)), [(0, 4), (4, 3), (7, 3)]);
        assert_eq!([0, 1, 2].map(|worker| part_of(2, 3, worker)), [(0, 1), (1, 1), (2, 0)]);
    }
}
