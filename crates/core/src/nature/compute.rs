//! What one local SGD iteration costs a device.

/// Seconds of one local iteration. Eq. (8): t_unit = t_fix + c φ|D| / f, where φ|D| is the
/// mini-batch, here in bits.
#[must_use]
pub(crate) fn iteration_time_s(
    fixed_time_s: f64,
    cycles_per_bit: f64,
    batch_bits: f64,
    cpu_hz: f64,
) -> f64 {
    fixed_time_s + cycles_per_bit * batch_bits / cpu_hz
}

/// Joules of one local iteration. Eq. (9): f² c φ|D| ϑ / 2.
#[must_use]
pub(crate) fn iteration_energy_j(
    capacitance: f64,
    cycles_per_bit: f64,
    batch_bits: f64,
    cpu_hz: f64,
) -> f64 {
    cpu_hz * cpu_hz * cycles_per_bit * batch_bits * capacitance / 2.0
}

/// Seconds of an iteration that goes over its mini-batch `passes` times: what it costs besides the
/// arithmetic is due once.
#[must_use]
pub(crate) fn repeated_time_s(iteration_time_s: f64, fixed_time_s: f64, passes: f64) -> f64 {
    iteration_time_s + (passes - 1.0) * (iteration_time_s - fixed_time_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 10 samples of 28x28 bytes are 62 720 bit; 50 cycle/bit make 3.136e6 cycles.
    #[test]
    fn an_iteration_worked_by_hand() {
        assert!((iteration_time_s(1e-3, 50.0, 62_720.0, 2e9) - 2.568e-3).abs() < 1e-12);
        assert!((iteration_energy_j(1e-28, 50.0, 62_720.0, 2e9) - 6.272e-4).abs() < 1e-12);
    }

    #[test]
    fn a_second_pass_doubles_the_arithmetic_only() {
        assert!((repeated_time_s(2.568e-3, 1e-3, 2.0) - 4.136e-3).abs() < 1e-12);
        assert_eq!(repeated_time_s(1e-3, 1e-3, 2.0), 1e-3);
    }
}
