//! Fuzz targets. What they do stands in `targets`, which the test suite of the main workspace includes as well, to
//! run the seeds through it on the stable toolchain.

pub mod targets;

/// Makes what would run in parallel run in the fuzzer's own thread: inputs are small, and waking others takes longer
/// than the work. To be called once, before the first input.
pub fn stay_in_this_thread() {
    let pool = rayon::ThreadPoolBuilder::new();
    pool.num_threads(1)
        .use_current_thread()
        .build_global()
        .unwrap();
}
