//! What stays the same while a fleet is placed: the points in the order of the ground, and the spots among them.

use super::spots::Sites;
use super::{CoverageCounts, Problem};
use crate::vocabulary::Point;

/// Built once for a problem: sorting a million points takes longer than most moves.
pub(super) struct Ground {
    /// Nobody covers anything.
    bare: CoverageCounts,
    pub(super) sites: Sites,
}

impl Ground {
    pub(super) fn new(problem: &Problem) -> Self {
        let bare = CoverageCounts::over(problem.size_m, problem.largest_m(), problem.points);
        Self {
            sites: Sites::new(problem, &bare),
            bare,
        }
    }

    /// Who is covered with facilities, the first ones of the problem, at these positions.
    pub(super) fn counts(&self, problem: &Problem, posts: &[Point]) -> CoverageCounts {
        let mut counts = self.bare.clone();
        for (one, &post) in problem.facilities.iter().zip(posts) {
            counts.add(post, one.radius_m);
        }
        counts
    }
}
