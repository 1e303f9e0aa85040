//! Simple polygons on the ground.

use super::geometry::Point;

/// A polygon whose edges do not cross. Its edge belongs to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Polygon {
    /// Corners, counter-clockwise, the first not repeated.
    corners: Vec<Point>,
    /// The least and the greatest coordinates.
    bounds: (Point, Point),
}

/// Why corners make no polygon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolygonError {
    /// Too few, or all on one line.
    #[error("at least three corners, not all on one line, and edges that do not cross")]
    Flat,
    /// Edges meet elsewhere than at their common corner.
    #[error("edges that do not cross or touch each other")]
    Crossed,
    /// A coordinate is not finite.
    #[error("finite coordinates")]
    NotFinite,
}

/// Twice the area of the triangle, positive when `c` is to the left of the way from `a` to `b`.
fn turn(a: Point, b: Point, c: Point) -> f64 {
    (b.x_m - a.x_m) * (c.y_m - a.y_m) - (b.y_m - a.y_m) * (c.x_m - a.x_m)
}

fn is_between(low: f64, value: f64, high: f64) -> bool {
    (low.min(high)..=low.max(high)).contains(&value)
}

/// Whether two segments have a point in common, ends included.
#[must_use]
pub fn segments_meet(a: Point, b: Point, c: Point, d: Point) -> bool {
    let (to_c, to_d) = (turn(a, b, c), turn(a, b, d));
    let (to_a, to_b) = (turn(c, d, a), turn(c, d, b));
    let apart = |x: f64, y: f64| (x > 0.0 && y > 0.0) || (x < 0.0 && y < 0.0);
    if apart(to_c, to_d) || apart(to_a, to_b) {
        return false;
    }
    // On one line, or one touches the other: then their boxes decide.
    let overlap = |a: f64, b: f64, c: f64, d: f64| a.max(b) >= c.min(d) && c.max(d) >= a.min(b);
    overlap(a.x_m, b.x_m, c.x_m, d.x_m) && overlap(a.y_m, b.y_m, c.y_m, d.y_m)
}

/// Where the lines through two segments cross, if the segments do and are not parallel.
#[must_use]
pub fn crossing(a: Point, b: Point, c: Point, d: Point) -> Option<Point> {
    let (to_c, to_d) = (turn(a, b, c), turn(a, b, d));
    if to_c == to_d || !segments_meet(a, b, c, d) {
        return None;
    }
    let share = to_c / (to_c - to_d);
    Some(Point::new(
        c.x_m + share * (d.x_m - c.x_m),
        c.y_m + share * (d.y_m - c.y_m),
    ))
}

/// The point of a segment that is nearest to another point.
#[must_use]
pub fn nearest_on_segment(a: Point, b: Point, to: Point) -> Point {
    let (dx, dy) = (b.x_m - a.x_m, b.y_m - a.y_m);
    let squared = dx * dx + dy * dy;
    let along = (to.x_m - a.x_m) * dx + (to.y_m - a.y_m) * dy;
    let share = match squared > 0.0 {
        true => (along / squared).clamp(0.0, 1.0),
        false => 0.0,
    };
    Point::new(a.x_m + share * dx, a.y_m + share * dy)
}

impl Polygon {
    /// The polygon with these corners in either direction; the last may repeat the first, as in GeoJSON.
    ///
    /// # Errors
    /// When they make no simple polygon.
    pub fn new(corners: &[Point]) -> Result<Self, PolygonError> {
        if !corners
            .iter()
            .all(|p| p.x_m.is_finite() && p.y_m.is_finite())
        {
            return Err(PolygonError::NotFinite);
        }
        let mut ring = corners.to_vec();
        ring.dedup();
        while ring.len() > 1 && ring.first() == ring.last() {
            ring.pop();
        }
        let mut bounds = (
            Point::new(f64::MAX, f64::MAX),
            Point::new(f64::MIN, f64::MIN),
        );
        for p in &ring {
            bounds.0 = Point::new(bounds.0.x_m.min(p.x_m), bounds.0.y_m.min(p.y_m));
            bounds.1 = Point::new(bounds.1.x_m.max(p.x_m), bounds.1.y_m.max(p.y_m));
        }
        let mut polygon = Self {
            corners: ring,
            bounds,
        };
        let signed = polygon.signed_area_m2();
        if polygon.corners.len() < 3 || signed == 0.0 || !signed.is_finite() {
            return Err(PolygonError::Flat);
        }
        if signed < 0.0 {
            polygon.corners.reverse();
        }
        match polygon.crosses_itself() {
            true => Err(PolygonError::Crossed),
            false => Ok(polygon),
        }
    }

    /// Its corners, counter-clockwise, the first not repeated.
    #[must_use]
    pub fn corners(&self) -> &[Point] {
        &self.corners
    }

    /// The least and the greatest coordinates.
    #[must_use]
    pub fn bounds(&self) -> (Point, Point) {
        self.bounds
    }

    /// Its edges, the interior to their left.
    pub fn edges(&self) -> impl Iterator<Item = (Point, Point)> {
        let next = self.corners.iter().cycle().skip(1);
        self.corners.iter().copied().zip(next.copied())
    }

    /// Square metres.
    #[must_use]
    pub fn area_m2(&self) -> f64 {
        self.signed_area_m2()
    }

    fn signed_area_m2(&self) -> f64 {
        let Some(&first) = self.corners.first() else {
            return 0.0;
        };
        // From one of the corners, so that large coordinates cancel no digits.
        self.edges().map(|(a, b)| turn(first, a, b) / 2.0).sum()
    }

    fn crosses_itself(&self) -> bool {
        let edges: Vec<(Point, Point)> = self.edges().collect();
        let meet = |i: usize, j: usize| {
            let ((a, b), (c, d)) = (edges[i], edges[j]);
            match j == i + 1 || (i == 0 && j == edges.len() - 1) {
                // Neighbours share a corner; one that turns back upon the other shares more.
                true => {
                    let (tip, from, to) = if j == i + 1 { (b, a, d) } else { (a, b, c) };
                    turn(tip, from, to) == 0.0
                        && (from.x_m - tip.x_m) * (to.x_m - tip.x_m)
                            + (from.y_m - tip.y_m) * (to.y_m - tip.y_m)
                            > 0.0
                }
                false => segments_meet(a, b, c, d),
            }
        };
        (0..edges.len()).any(|i| (i + 1..edges.len()).any(|j| meet(i, j)))
    }

    fn is_in_bounds(&self, point: Point) -> bool {
        is_between(self.bounds.0.x_m, point.x_m, self.bounds.1.x_m)
            && is_between(self.bounds.0.y_m, point.y_m, self.bounds.1.y_m)
    }

    /// Whether a point is inside or on an edge.
    #[must_use]
    pub fn contains(&self, point: Point) -> bool {
        if !self.is_in_bounds(point) {
            return false;
        }
        let mut inside = false;
        for (a, b) in self.edges() {
            let side = turn(a, b, point);
            if side == 0.0
                && is_between(a.x_m, point.x_m, b.x_m)
                && is_between(a.y_m, point.y_m, b.y_m)
            {
                return true;
            }
            // A ray to the east crosses the edge.
            if (a.y_m > point.y_m) != (b.y_m > point.y_m) && (side > 0.0) == (b.y_m > a.y_m) {
                inside = !inside;
            }
        }
        inside
    }

    /// Whether the straight way between two points touches it.
    #[must_use]
    pub fn blocks(&self, from: Point, to: Point) -> bool {
        let beyond = |a: f64, b: f64, low: f64, high: f64| a.max(b) < low || a.min(b) > high;
        let (low, high) = self.bounds;
        if beyond(from.x_m, to.x_m, low.x_m, high.x_m)
            || beyond(from.y_m, to.y_m, low.y_m, high.y_m)
        {
            return false;
        }
        let mut edges = self.edges();
        edges.any(|(a, b)| segments_meet(from, to, a, b)) || self.contains(from)
    }

    /// The point of its edges that is nearest to another point.
    #[must_use]
    pub fn nearest_on_edge(&self, to: Point) -> Point {
        let nearest = self.edges().map(|(a, b)| nearest_on_segment(a, b, to));
        nearest
            .min_by(|a, b| a.distance_squared(to).total_cmp(&b.distance_squared(to)))
            .unwrap_or(to)
    }

    /// Metres to a point; 0 for one inside.
    #[must_use]
    pub fn distance_m(&self, to: Point) -> f64 {
        match self.contains(to) {
            true => 0.0,
            false => self.nearest_on_edge(to).distance(to),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn polygon(corners: &[(f64, f64)]) -> Result<Polygon, PolygonError> {
        let corners: Vec<Point> = corners.iter().map(|&(x, y)| Point::new(x, y)).collect();
        Polygon::new(&corners)
    }

    /// An L: a square of 4 without its upper right quarter.
    fn l_shape() -> Polygon {
        let ring = [
            (0.0, 0.0),
            (0.0, 4.0),
            (2.0, 4.0),
            (2.0, 2.0),
            (4.0, 2.0),
            (4.0, 0.0),
            (0.0, 0.0),
        ];
        polygon(&ring).unwrap()
    }

    #[test]
    fn inside_outside_and_the_edge() {
        let l = l_shape();
        assert_eq!(l.area_m2(), 12.0);
        assert_eq!(l.corners().len(), 6);
        for (x, y, inside) in [
            (1.0, 3.0, true),
            (3.0, 1.0, true),
            (3.0, 3.0, false),
            (2.0, 3.0, true),
            (0.0, 0.0, true),
            (4.0, 1.0, true),
            (-1.0, 0.0, false),
            (-1.0, 4.0, false),
            (4.1, 1.0, false),
        ] {
            assert_eq!(l.contains(Point::new(x, y)), inside, "{x} {y}");
        }
        assert_eq!(l.distance_m(Point::new(3.0, 4.0)), 1.0);
        assert_eq!(l.distance_m(Point::new(7.0, -4.0)), 5.0);
        assert_eq!(l.distance_m(Point::new(1.0, 1.0)), 0.0);
    }

    #[test]
    fn ways_that_touch_it_are_blocked() {
        let l = l_shape();
        let blocks = |a: (f64, f64), b: (f64, f64)| {
            let (a, b) = (Point::new(a.0, a.1), Point::new(b.0, b.1));
            assert_eq!(l.blocks(a, b), l.blocks(b, a));
            l.blocks(a, b)
        };
        assert!(blocks((-1.0, 1.0), (5.0, 1.0)));
        assert!(blocks((1.0, 1.0), (1.5, 1.5)), "all of it inside");
        assert!(blocks((2.0, 2.0), (4.0, 4.0)), "touches a corner");
        assert!(blocks((0.0, -1.0), (0.0, 9.0)), "along an edge");
        assert!(!blocks((2.5, 4.0), (4.0, 2.5)));
        assert!(!blocks((-1.0, -1.0), (9.0, -1.0)));
        assert!(!blocks((5.0, 0.0), (4.0, 5.0)));
    }

    #[test]
    fn what_is_no_polygon_is_refused() {
        assert_eq!(polygon(&[]), Err(PolygonError::Flat));
        assert_eq!(
            polygon(&[(0.0, 0.0), (1.0, 1.0), (0.0, 0.0)]),
            Err(PolygonError::Flat)
        );
        assert_eq!(
            polygon(&[(0.0, 0.0), (1.0, 1.0), (2.0, 2.0)]),
            Err(PolygonError::Flat)
        );
        let bow = [(0.0, 0.0), (2.0, 2.0), (2.0, 0.0), (0.0, 3.0)];
        assert_eq!(polygon(&bow), Err(PolygonError::Crossed));
        let spike = [(0.0, 0.0), (4.0, 0.0), (9.0, 0.0), (5.0, 0.0), (5.0, 4.0)];
        assert_eq!(polygon(&spike), Err(PolygonError::Crossed));
        assert_eq!(
            polygon(&[(0.0, f64::NAN), (1.0, 0.0), (0.0, 1.0)]),
            Err(PolygonError::NotFinite)
        );
        assert!(polygon(&[(0.0, 0.0), (1.0, 0.0), (2.0, 0.0), (2.0, 2.0)]).is_ok());
    }

    #[test]
    fn segments_cross_where_they_cross() {
        let p = Point::new;
        let middle = crossing(p(0.0, 0.0), p(4.0, 4.0), p(0.0, 4.0), p(4.0, 0.0));
        assert_eq!(middle, Some(p(2.0, 2.0)));
        assert_eq!(
            crossing(p(0.0, 0.0), p(1.0, 0.0), p(0.0, 1.0), p(1.0, 1.0)),
            None
        );
        assert_eq!(
            crossing(p(0.0, 0.0), p(1.0, 1.0), p(5.0, 0.0), p(4.0, 9.0)),
            None
        );
    }

    proptest! {
        /// Of a triangle one can say who is inside by the signs of three turns.
        #[test]
        fn triangles_contain_what_three_turns_say(c in prop::collection::vec(-9.0..9.0f64, 8)) {
            let p = |i: usize| Point::new(c[i], c[i + 1]);
            let (a, b, d, at) = (p(0), p(2), p(4), p(6));
            let turns = [turn(a, b, at), turn(b, d, at), turn(d, a, at)];
            let inside = turns.iter().all(|t| *t >= 0.0) || turns.iter().all(|t| *t <= 0.0);
            if let Ok(triangle) = Polygon::new(&[a, b, d]) {
                prop_assert_eq!(triangle.contains(at), inside);
                prop_assert_eq!(triangle.distance_m(at) == 0.0, inside);
            }
        }
    }
}
