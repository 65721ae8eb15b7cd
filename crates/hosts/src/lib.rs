//! Several hosts: their results merged ([`merge`]).
//!
//! A percentile of all hosts is that of the sum of their histograms, and a rate is that
//! of the time in which all of them ran ([hosts.md](../../../docs/hosts.md)).

pub mod merge;
