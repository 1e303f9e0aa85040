//! Fuzz targets. What they do stands in `targets`, which the test suite of the main workspace includes as well, to
//! run the seeds through it on the stable toolchain.

pub mod targets;
