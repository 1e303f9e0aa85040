//! Small neural networks, fast.
