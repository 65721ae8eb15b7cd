//! Several hosts: one run on all of them, by MPI ([`mpi`], [`group`]), by servers ([`remote`],
//! [`wire`]) or at one moment ([`start_at`]), and their results merged ([`merge`]).
//!
//! A percentile of all hosts is that of the sum of their histograms, and a rate is that
//! of the time in which all of them ran ([hosts.md](../../../docs/hosts.md)).

pub mod group;
pub mod member;
pub mod merge;
pub mod mpi;
pub mod remote;
pub mod start_at;
pub mod transport;
pub mod wire;
