//! The account of a run as plain data, and the formats it is written in.
