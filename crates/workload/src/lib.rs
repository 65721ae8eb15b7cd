//! What the next I/O is: direction, place, size. Replays from a seed; does no I/O.
