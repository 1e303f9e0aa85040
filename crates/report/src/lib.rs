//! Tables and plots from run logs.
