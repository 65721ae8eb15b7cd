//! The hot loop and the engines that move bytes.
