//! Where the facilities of a plan are, so that one finds its neighbours without asking everybody.

use super::Problem;
use crate::vocabulary::Point;

/// Facilities by squares of the ground.
pub(super) struct Posts {
    square_m: f64,
    columns: usize,
    squares: Vec<Vec<usize>>,
}

/// More squares than this for a side cost more memory than they save time.
const MOST_PER_SIDE: f64 = 256.0;

impl Posts {
    pub(super) fn new(problem: &Problem, at: &[Point]) -> Self {
        let [width_m, height_m] = problem.size_m;
        let least_m = width_m.max(height_m) / MOST_PER_SIDE;
        let square_m = least_m.max(problem.largest_m()).max(f64::MIN_POSITIVE);
        let squares = |side_m: f64| (side_m / square_m) as usize + 1;
        let mut posts = Self {
            square_m,
            columns: squares(width_m),
            squares: vec![Vec::new(); squares(width_m) * squares(height_m)],
        };
        for (who, &post) in at.iter().enumerate() {
            let square = posts.square(post);
            posts.squares[square].push(who);
        }
        posts
    }

    /// A facility goes from one place to another.
    pub(super) fn shift(&mut self, who: usize, from: Point, to: Point) {
        let (from, to) = (self.square(from), self.square(to));
        self.squares[from].retain(|other| *other != who);
        self.squares[to].push(who);
    }

    /// Whoever is in a square that is within so many metres of a place, in no particular order.
    pub(super) fn around(&self, place: Point, reach_m: f64) -> impl Iterator<Item = usize> {
        let (left, right) = (
            self.index(place.x_m - reach_m),
            self.index(place.x_m + reach_m),
        );
        let right = right.min(self.columns - 1);
        let rows = self.squares.len() / self.columns;
        let (first, last) = (
            self.index(place.y_m - reach_m),
            self.index(place.y_m + reach_m),
        );
        let rows = first..=last.min(rows - 1);
        let squares = rows.flat_map(move |row| {
            (left..=right).map(move |column| &self.squares[row * self.columns + column])
        });
        squares.flatten().copied()
    }

    fn index(&self, at_m: f64) -> usize {
        (at_m / self.square_m).max(0.0) as usize
    }

    fn square(&self, place: Point) -> usize {
        let column = self.index(place.x_m).min(self.columns - 1);
        let rows = self.squares.len() / self.columns;
        self.index(place.y_m).min(rows - 1) * self.columns + column
    }
}
