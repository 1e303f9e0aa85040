//! What keeps a UAV in the air.

/// Power drawn at a speed.
pub trait Flight: Send + Sync {
    /// Watts at `speed_mps`; 0 is hovering.
    fn power_w(&self, speed_mps: f64) -> f64;
}

/// One power for hovering, one for moving. Table II.
#[derive(Clone, Copy, Debug)]
pub struct ConstantPower {
    /// While hovering.
    pub hover_power_w: f64,
    /// While moving, at any speed.
    pub move_power_w: f64,
}

impl Flight for ConstantPower {
    fn power_w(&self, speed_mps: f64) -> f64 {
        if speed_mps > 0.0 {
            self.move_power_w
        } else {
            self.hover_power_w
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hovering_and_moving_differ() {
        let flight = ConstantPower {
            hover_power_w: 100.0,
            move_power_w: 160.0,
        };
        assert_eq!((flight.power_w(0.0), flight.power_w(20.0)), (100.0, 160.0));
    }
}
