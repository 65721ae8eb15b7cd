//! Student's t distribution, by statrs.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// The value below which a t of `freedom` degrees lies with this probability.
/// Infinite where there is no degree of freedom.
///
/// # Panics
/// If `probability` is not between 0 and 1.
pub fn t_quantile(probability: f64, freedom: f64) -> f64 {
    match student(freedom) {
        Some(student) => student.inverse_cdf(probability),
        None => f64::INFINITY,
    }
}

/// The probability of a t at least so far from 0, on either side.
pub(crate) fn two_sided_p(t: f64, freedom: f64) -> f64 {
    match student(freedom) {
        Some(student) => 2.0 * student.cdf(-t.abs()),
        None => 1.0,
    }
}

fn student(freedom: f64) -> Option<StudentsT> {
    StudentsT::new(0.0, 1.0, freedom).ok()
}
