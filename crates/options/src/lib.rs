//! Tables of options: one entry holds a name, a type, a default and its documentation.
