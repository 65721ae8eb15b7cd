//! In which order runs come: balanced random pairs, and rounds of points.
//!
//! Order matters more than the test: with all of A before all of B, a drift of
//! 1 % a run is called a difference in 79 of 100 comparisons of a thing with
//! itself; in random pairs in 4.

use crate::random::SeededRandom;

/// Which of a pair runs first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PairOrder {
    /// A, then B.
    AFirst,
    /// B, then A.
    BFirst,
}

/// The purposes of a seed.
const PAIRS: u64 = 1;
const ROUNDS: u64 = 2;

/// The order in each pair: random, and as often A first as B first (but for
/// the odd one) at each of `looks`, ascending numbers of pairs.
pub fn pair_orders(seed: u64, looks: &[usize]) -> Vec<PairOrder> {
    let mut random = SeededRandom::new(seed, PAIRS);
    let mut orders: Vec<PairOrder> = Vec::new();
    for &pairs in looks {
        let first =
            |orders: &[PairOrder], which| orders.iter().filter(|&&one| one == which).count();
        let (a_first, b_first) =
            (first(&orders, PairOrder::AFirst), first(&orders, PairOrder::BFirst));
        let odd = random.below(2) * (pairs % 2);
        let mut block = vec![PairOrder::AFirst; (pairs / 2 + odd).saturating_sub(a_first)];
        let rest = (pairs - pairs / 2 - odd).saturating_sub(b_first);
        block.resize(block.len() + rest, PairOrder::BFirst);
        random.shuffle(&mut block);
        orders.extend(block);
    }
    orders
}

/// The order of `points` points in one round: each once.
pub fn round_order(seed: u64, round: u64, points: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..points).collect();
    SeededRandom::new(seed, ROUNDS + round).shuffle(&mut order);
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_look_has_both_orders_equally_often() {
        for seed in 0..200 {
            let orders = pair_orders(seed, &[5, 8, 12, 16, 20]);
            assert_eq!(orders.len(), 20);
            for look in [5, 8, 12, 16, 20] {
                let first =
                    orders[..look].iter().filter(|&&order| order == PairOrder::AFirst).count();
                assert!(first.abs_diff(look - first) <= 1, "seed {seed}, look {look}: {orders:?}");
            }
        }
    }

    #[test]
    fn a_seed_gives_one_order_and_seeds_give_many() {
        let of = |seed| pair_orders(seed, &[5]);
        assert_eq!(of(3), of(3));
        let mut all: Vec<_> = (0..500).map(of).collect();
        all.sort();
        all.dedup();
        // 5 pairs with 2 or 3 of them A first.
        assert_eq!(all.len(), 20);
    }

    #[test]
    fn a_round_has_each_point_once_and_rounds_differ() {
        let mut order = round_order(9, 0, 9);
        assert_ne!(order, round_order(9, 1, 9));
        order.sort_unstable();
        assert_eq!(order, (0..9).collect::<Vec<_>>());
    }
}
