//! Sorting with one copy of the code for all types.
//!
//! The standard library's sort is 4 kB of code for each type and order. Lists of a report are short:
//! here one copy finds the order of places, and what is made for each type only moves the values.

use std::cmp::Ordering;

/// Sort by an order, as the slice's method of this name does; equals keep their order.
pub fn sort_by<T>(values: &mut [T], mut order: impl FnMut(&T, &T) -> Ordering) {
    let mut places = sorted_places(values.len(), &mut |a, b| order(&values[a], &values[b]));
    for start in 0..places.len() {
        let mut at = start;
        while places[at] != start {
            let from = places[at];
            values.swap(at, from);
            places[at] = at;
            at = from;
        }
        places[at] = at;
    }
}

/// Sort, as the slice's method of this name does.
pub fn sort<T: Ord>(values: &mut [T]) {
    sort_by(values, T::cmp);
}

/// Sort by what a function says of each value, as the slice's method of this name does.
pub fn sort_by_key<T, K: Ord>(values: &mut [T], mut key: impl FnMut(&T) -> K) {
    sort_by(values, |a, b| key(a).cmp(&key(b)));
}

/// Where the value comes from that belongs at each place.
fn sorted_places(count: usize, order: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<usize> {
    let mut places: Vec<usize> = (0..count).collect();
    places.sort_by(|&a, &b| order(a, b));
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_in_order_and_equals_stay_as_they_were() {
        // Each list of up to 7 values of 0 to 2, with its place beside it.
        for count in 0..8u32 {
            for number in 0..3usize.pow(count) {
                let digit = |place: u32| number / 3usize.pow(place) % 3;
                let mut ours: Vec<(usize, u32)> = (0..count).map(|at| (digit(at), at)).collect();
                let mut standard = ours.clone();
                sort_by_key(&mut ours, |pair| pair.0);
                standard.sort_by_key(|pair| pair.0);
                assert_eq!(ours, standard);
            }
        }
    }
}
