//! What something takes.

/// Seconds and joules of one activity of one UAV.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bill {
    /// How long it lasts, s.
    pub seconds: f64,
    /// What it takes out of the battery, J.
    pub joules: f64,
}

impl Bill {
    /// An activity that lasts.
    #[must_use]
    pub const fn new(seconds: f64, joules: f64) -> Self {
        Self { seconds, joules }
    }

    /// Joules that are spent beside something else, which has the seconds.
    #[must_use]
    pub const fn beside(joules: f64) -> Self {
        Self {
            seconds: 0.0,
            joules,
        }
    }
}

/// One after the other.
impl std::ops::Add for Bill {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self::new(self.seconds + other.seconds, self.joules + other.joules)
    }
}
