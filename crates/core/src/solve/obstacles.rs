//! Shortest ways around polygons: a graph of the corners that see each other, searched from place to place.

use std::collections::BinaryHeap;
use std::sync::OnceLock;

use super::keyed::Keyed;
use crate::vocabulary::Point;
use crate::vocabulary::geometry::{Polygon, crossing, nearest_on_segment};

/// Ways turn this far outside of corners, and places that are moved out of a polygon end up this far from it: enough that
/// rounding never puts them inside.
const CLEARANCE_M: f64 = 0.01;
/// At sharp corners it takes more to be as far from both edges; but not more than so many times.
const SHARPEST: f64 = 10.0;

/// Polygons that may overlap, and the ways around them.
#[derive(Debug, Default)]
pub struct Obstacles {
    polygons: Vec<Polygon>,
    /// Where ways may turn: just outside of corners that point outwards.
    nodes: Vec<Point>,
    /// Per node, the nodes that it sees and how far away they are; found when first asked for.
    seen: Vec<OnceLock<Vec<(usize, f64)>>>,
}

impl Obstacles {
    /// Around these polygons.
    #[must_use]
    pub fn new(polygons: Vec<Polygon>) -> Self {
        let mut obstacles = Self {
            polygons,
            ..Self::default()
        };
        let corners = obstacles.polygons.iter().flat_map(corners);
        let outward = corners.filter(|corner| corner.points_outwards);
        let nodes: Vec<Point> = outward.map(|corner| corner.outside).collect();
        obstacles.nodes = nodes;
        obstacles.nodes.retain(|&node| {
            let mut polygons = obstacles.polygons.iter();
            !polygons.any(|polygon| polygon.contains(node))
        });
        obstacles.seen = vec![OnceLock::new(); obstacles.nodes.len()];
        obstacles
    }

    /// The polygons.
    #[must_use]
    pub fn polygons(&self) -> &[Polygon] {
        &self.polygons
    }

    /// Whether a point is in one of the polygons or on its edge.
    #[must_use]
    pub fn contains(&self, point: Point) -> bool {
        self.polygons.iter().any(|polygon| polygon.contains(point))
    }

    /// Whether the straight way between two points touches a polygon.
    #[must_use]
    pub fn blocks(&self, from: Point, to: Point) -> bool {
        self.polygons.iter().any(|polygon| polygon.blocks(from, to))
    }

    /// By how much two ways one after the other may be shorter than the one way between their ends: ways turn a little outside
    /// of corners, and a place may be nearer to one.
    #[must_use]
    pub fn slack_m(&self) -> f64 {
        2.0 * SHARPEST * CLEARANCE_M * self.nodes.len() as f64
    }

    /// The shortest way between two points, both included; none when polygons enclose one of them. Out of a polygon it leads
    /// over its nearest edge. There and back are the same.
    #[must_use]
    pub fn route(&self, from: Point, to: Point) -> Option<Vec<Point>> {
        if !self.blocks(from, to) {
            return Some(vec![from, to]);
        }
        if (to.x_m, to.y_m) < (from.x_m, from.y_m) {
            let mut route = self.route(to, from)?;
            route.reverse();
            return Some(route);
        }
        let everywhere = (
            Point::new(f64::NEG_INFINITY, f64::NEG_INFINITY),
            Point::new(f64::INFINITY, f64::INFINITY),
        );
        let (start, end) = (
            self.nearest_free(from, everywhere)?,
            self.nearest_free(to, everywhere)?,
        );
        let mut route = vec![from];
        if start != from {
            route.push(start);
        }
        route.extend(self.turns(start, end)?);
        if end != to {
            route.push(end);
        }
        route.push(to);
        Some(route)
    }

    /// The nodes on the shortest way between two points outside of all polygons.
    fn turns(&self, from: Point, to: Point) -> Option<Vec<Point>> {
        if !self.blocks(from, to) {
            return Some(Vec::new());
        }
        let mut best: Vec<(f64, Option<usize>)> = vec![(f64::INFINITY, None); self.nodes.len()];
        // Nodes to go on from, and the way there; the one that may lead to the shortest way comes first.
        let mut heap = BinaryHeap::new();
        let mut reach = |heap: &mut BinaryHeap<Keyed<f64>>, node: usize, way_m: f64, by| {
            if way_m < best[node].0 {
                best[node] = (way_m, by);
                let least_m = way_m + self.nodes[node].distance(to);
                heap.push(Keyed {
                    key: -least_m,
                    place: node,
                    thing: way_m,
                });
            }
        };
        for (node, &at) in self.nodes.iter().enumerate() {
            if !self.blocks(from, at) {
                reach(&mut heap, node, from.distance(at), None);
            }
        }
        let mut done = vec![false; self.nodes.len()];
        let mut last = None;
        let mut shortest_m = f64::INFINITY;
        while let Some(entry) = heap.pop() {
            let (least_m, node, way_m) = (-entry.key, entry.place, entry.thing);
            if least_m >= shortest_m {
                break;
            }
            if std::mem::replace(&mut done[node], true) {
                continue;
            }
            if !self.blocks(self.nodes[node], to) {
                // What is left of the way is straight, so this entry's bound is its length.
                (shortest_m, last) = (least_m, Some(node));
            }
            for &(next, distance_m) in self.seen_from(node) {
                let way_m = way_m + distance_m;
                reach(&mut heap, next, way_m, Some(node));
            }
        }
        let mut turns = Vec::new();
        let mut next = Some(last?);
        while let Some(node) = next {
            turns.push(self.nodes[node]);
            next = best[node].1;
        }
        turns.reverse();
        Some(turns)
    }

    fn seen_from(&self, node: usize) -> &[(usize, f64)] {
        self.seen[node].get_or_init(|| {
            let at = self.nodes[node];
            let others = self.nodes.iter().enumerate();
            others
                .filter(|&(other, &there)| other != node && !self.blocks(at, there))
                .map(|(other, there)| (other, at.distance(*there)))
                .collect()
        })
    }

    /// The nearest point within bounds (least and greatest coordinates) that is in no polygon, for a point within them; none
    /// when there is no such point.
    #[must_use]
    pub fn nearest_free(&self, point: Point, bounds: (Point, Point)) -> Option<Point> {
        if !self.contains(point) {
            return Some(point);
        }
        let (low, high) = bounds;
        let sides = [
            (low, Point::new(high.x_m, low.y_m)),
            (Point::new(high.x_m, low.y_m), high),
            (high, Point::new(low.x_m, high.y_m)),
            (Point::new(low.x_m, high.y_m), low),
        ];
        let mut candidates: Vec<Point> = sides.iter().map(|side| side.0).collect();
        for polygon in &self.polygons {
            candidates.extend(corners(polygon).map(|corner| corner.outside));
            for (a, b) in polygon.edges() {
                let (east, north) = direction(a, b);
                let at = nearest_on_segment(a, b, point);
                candidates.push(Point::new(
                    at.x_m + CLEARANCE_M * north,
                    at.y_m - CLEARANCE_M * east,
                ));
                if low.x_m.is_finite() {
                    let cut = sides.iter().filter_map(|&side| beside((a, b), side));
                    candidates.extend(cut.flatten());
                }
            }
        }
        candidates.extend(self.beside_crossings());
        let is_inside = |p: &Point| {
            (low.x_m..=high.x_m).contains(&p.x_m) && (low.y_m..=high.y_m).contains(&p.y_m)
        };
        let near = |p: &Point| p.distance_squared(point);
        candidates.retain(|p| is_inside(p) && p.x_m.is_finite() && p.y_m.is_finite());
        candidates.sort_by(|a, b| near(a).total_cmp(&near(b)));
        candidates.into_iter().find(|&p| !self.contains(p))
    }

    /// Points just beside where edges of different polygons cross.
    fn beside_crossings(&self) -> Vec<Point> {
        let mut found = Vec::new();
        for (index, one) in self.polygons.iter().enumerate() {
            for other in &self.polygons[index + 1..] {
                let (a, b) = (one.bounds(), other.bounds());
                if a.0.x_m > b.1.x_m || b.0.x_m > a.1.x_m || a.0.y_m > b.1.y_m || b.0.y_m > a.1.y_m
                {
                    continue;
                }
                for (a, b) in one.edges() {
                    let beside = other.edges().filter_map(|edge| beside((a, b), edge));
                    found.extend(beside.flatten());
                }
            }
        }
        found
    }

    /// A point outside of all polygons from where no way leads out, because polygons that overlap surround it.
    #[must_use]
    pub fn enclosed(&self) -> Option<Point> {
        let beside_crossings = self.beside_crossings();
        if beside_crossings.is_empty() {
            return None;
        }
        let highest = self.polygons.iter().map(|polygon| polygon.bounds().1);
        let beyond = highest.fold(Point::default(), |most, high| {
            Point::new(most.x_m.max(high.x_m), most.y_m.max(high.y_m))
        });
        let beyond = Point::new(beyond.x_m + 1.0, beyond.y_m + 1.0);
        // Whatever is enclosed has a corner, of a polygon or of two that cross.
        let corners = self.polygons.iter().flat_map(corners);
        let places = corners.map(|corner| corner.outside);
        let mut places = places.chain(beside_crossings);
        places.find(|&place| !self.contains(place) && self.turns(place, beyond).is_none())
    }
}

/// A corner of a polygon.
struct Corner {
    /// Just outside of it.
    outside: Point,
    points_outwards: bool,
}

fn corners(polygon: &Polygon) -> impl Iterator<Item = Corner> {
    let ring = polygon.corners();
    (0..ring.len()).map(move |index| {
        let (before, after) = (
            ring[(index + ring.len() - 1) % ring.len()],
            ring[(index + 1) % ring.len()],
        );
        let at = ring[index];
        let (into, out) = (direction(before, at), direction(at, after));
        let cosine = into.0 * out.0 + into.1 * out.1;
        let sine = into.0 * out.1 - into.1 * out.0;
        // The sum of the normals bisects the angle; at a spike, where it vanishes, the difference of the directions does.
        let (x, y) = match (cosine >= 0.0, sine > 0.0) {
            (true, _) => (into.1 + out.1, -into.0 - out.0),
            (false, true) => (into.0 - out.0, into.1 - out.1),
            (false, false) => (out.0 - into.0, out.1 - into.1),
        };
        let length = (x * x + y * y).sqrt();
        let half = ((1.0 + cosine) / 2.0).max(0.0).sqrt();
        let far_m = CLEARANCE_M * (1.0 / half).min(SHARPEST);
        Corner {
            outside: Point::new(at.x_m + far_m * x / length, at.y_m + far_m * y / length),
            points_outwards: sine > 0.0,
        }
    })
}

fn direction(a: Point, b: Point) -> (f64, f64) {
    let length = a.distance(b);
    ((b.x_m - a.x_m) / length, (b.y_m - a.y_m) / length)
}

/// A point in each of the four angles in which two edges cross, as far from both as ways keep; none where they do not cross.
fn beside((a, b): (Point, Point), (c, d): (Point, Point)) -> Option<[Point; 4]> {
    let at = crossing(a, b, c, d)?;
    let (one, other) = (direction(a, b), direction(c, d));
    let sum = (one.0 + other.0, one.1 + other.1);
    let difference = (one.0 - other.0, one.1 - other.1);
    // The sum bisects the angle of which half the difference is the sine of half, and the other way round.
    let place = |along: (f64, f64), across: (f64, f64), sign: f64| {
        let (length, half) = (along.0.hypot(along.1), across.0.hypot(across.1) / 2.0);
        let far_m = sign * CLEARANCE_M * (1.0 / half).min(SHARPEST) / length;
        Point::new(at.x_m + far_m * along.0, at.y_m + far_m * along.1)
    };
    Some([
        place(sum, difference, 1.0),
        place(sum, difference, -1.0),
        place(difference, sum, 1.0),
        place(difference, sum, -1.0),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::airspace::length_m;
    use proptest::prelude::*;

    fn rectangle(x: f64, y: f64, width: f64, height: f64) -> Polygon {
        let p = Point::new;
        let ring = [
            p(x, y),
            p(x + width, y),
            p(x + width, y + height),
            p(x, y + height),
        ];
        Polygon::new(&ring).unwrap()
    }

    #[test]
    fn a_way_around_a_square_goes_over_its_nearer_corners() {
        let obstacles = Obstacles::new(vec![rectangle(40.0, -10.0, 20.0, 40.0)]);
        let (from, to) = (Point::new(0.0, 0.0), Point::new(100.0, 0.0));
        let route = obstacles.route(from, to).unwrap();
        assert_eq!(route.len(), 4, "{route:?}");
        let expected_m = 2.0 * 40f64.hypot(10.0) + 20.0;
        let found_m = length_m(&route);
        assert!(
            found_m > expected_m && found_m < expected_m + 0.1,
            "{found_m}"
        );
        let above = Point::new(100.0, 50.0);
        assert_eq!(obstacles.route(to, above), Some(vec![to, above]));
    }

    #[test]
    fn a_way_out_of_a_polygon_leaves_by_the_nearest_edge() {
        let obstacles = Obstacles::new(vec![rectangle(0.0, 0.0, 100.0, 100.0)]);
        let (inside, outside) = (Point::new(90.0, 50.0), Point::new(-50.0, 50.0));
        let route = obstacles.route(inside, outside).unwrap();
        assert!(
            route[1].distance(Point::new(100.01, 50.0)) < 1e-9,
            "{route:?}"
        );
        assert_eq!(route.len(), 5);
        let mut back = obstacles.route(outside, inside).unwrap();
        back.reverse();
        assert_eq!(back, route);
    }

    /// Four beams make a frame: whoever is in it cannot leave, and with one beam less can.
    #[test]
    fn ground_that_polygons_enclose_is_found() {
        let beams = [
            rectangle(0.0, 0.0, 100.0, 10.0),
            rectangle(90.0, 5.0, 10.0, 90.0),
            rectangle(0.0, 5.0, 10.0, 90.0),
            rectangle(0.0, 90.0, 100.0, 10.0),
        ];
        let open = Obstacles::new(beams[..3].to_vec());
        assert_eq!(open.enclosed(), None);
        let closed = Obstacles::new(beams.to_vec());
        let found = closed.enclosed().unwrap();
        assert!((10.0..=90.0).contains(&found.x_m) && (10.0..=90.0).contains(&found.y_m));
        let (inside, outside) = (Point::new(50.0, 50.0), Point::new(50.0, -50.0));
        assert_eq!(closed.route(inside, outside), None);
        assert!(open.route(inside, outside).unwrap().len() > 3);
    }

    /// The angle between the edges, of 33 degrees, has none of the eight main directions in it.
    #[test]
    fn a_way_out_leads_into_a_narrow_angle_between_two_polygons() {
        let polygon = |corners: &[(f64, f64)]| {
            let corners: Vec<_> = corners.iter().map(|&(x, y)| Point::new(x, y)).collect();
            Polygon::new(&corners).unwrap()
        };
        let obstacles = Obstacles::new(vec![
            polygon(&[(181.3, 37.2), (176.3, 61.4), (150.8, 37.2), (176.3, 32.2)]),
            polygon(&[(205.3, 56.8), (124.2, 102.2), (143.8, 45.2)]),
        ]);
        let bounds = (Point::new(-80.0, -80.0), Point::new(380.0, 380.0));
        let at = Point::new(161.5, 58.8);
        let found = obstacles.nearest_free(at, bounds).unwrap();
        // Beside the crossing, at 163.1 and 48.9 m.
        assert!((9.9..10.2).contains(&found.distance(at)), "{found:?}");
        assert!(!obstacles.contains(found));
    }

    #[test]
    fn the_nearest_free_point_stays_within_bounds() {
        let obstacles = Obstacles::new(vec![rectangle(-5.0, -5.0, 60.0, 200.0)]);
        let bounds = (Point::new(0.0, 0.0), Point::new(100.0, 100.0));
        let found = obstacles
            .nearest_free(Point::new(5.0, 50.0), bounds)
            .unwrap();
        assert!(found.distance(Point::new(55.01, 50.0)) < 1e-9, "{found:?}");
        let all = Obstacles::new(vec![rectangle(-5.0, -5.0, 200.0, 200.0)]);
        assert_eq!(all.nearest_free(Point::new(5.0, 50.0), bounds), None);
        let wedge = [
            Point::new(-9.0, -9.0),
            Point::new(209.0, -9.0),
            Point::new(-9.0, 199.0),
        ];
        let corner = Obstacles::new(vec![Polygon::new(&wedge).unwrap()]);
        let found = corner.nearest_free(Point::new(5.0, 5.0), bounds);
        assert!(
            found.is_some_and(|p| p.x_m > 50.0 && p.y_m > 50.0),
            "{found:?}"
        );
    }

    /// Polygons with a reflex corner here and there: a star around a middle.
    fn star() -> impl Strategy<Value = Polygon> {
        let radii = prop::collection::vec(5.0..60.0f64, 3..9);
        (0.0..300.0f64, 0.0..300.0f64, radii).prop_filter_map("simple", |(x, y, radii)| {
            let all = radii.len() as f64;
            let ring: Vec<Point> = radii
                .iter()
                .enumerate()
                .map(|(i, r)| {
                    let (sin, cos) = (std::f64::consts::TAU * i as f64 / all).sin_cos();
                    Point::new(x + r * cos, y + r * sin)
                })
                .collect();
            Polygon::new(&ring).ok()
        })
    }

    fn point() -> impl Strategy<Value = Point> {
        (-80.0..380.0f64, -80.0..380.0f64).prop_map(|(x, y)| Point::new(x, y))
    }

    proptest! {
        #[test]
        fn ways_are_free_symmetric_and_shorter_than_any_detour(
            polygons in prop::collection::vec(star(), 0..7), from in point(), to in point(), via in point(),
        ) {
            let obstacles = Obstacles::new(polygons);
            prop_assume!(![from, to, via].iter().any(|p| obstacles.contains(*p)));
            let Some(route) = obstacles.route(from, to) else {
                prop_assert!(obstacles.enclosed().is_some());
                return Ok(());
            };
            prop_assert_eq!((route[0], route[route.len() - 1]), (from, to));
            prop_assert!(length_m(&route) >= from.distance(to) * (1.0 - 1e-12));
            prop_assert!(route.windows(2).all(|leg| !obstacles.blocks(leg[0], leg[1])));
            for leg in route.windows(2) {
                for i in 0..=50 {
                    let share = f64::from(i) / 50.0;
                    let (a, b) = (leg[0], leg[1]);
                    let on = Point::new(a.x_m + share * (b.x_m - a.x_m), a.y_m + share * (b.y_m - a.y_m));
                    prop_assert!(!obstacles.contains(on));
                }
            }
            let mut back = obstacles.route(to, from).unwrap();
            back.reverse();
            prop_assert_eq!(&back, &route);
            if let (Some(there), Some(on)) = (obstacles.route(from, via), obstacles.route(via, to)) {
                let detour_m = length_m(&there) + length_m(&on);
                prop_assert!(length_m(&route) <= detour_m + obstacles.slack_m());
            }
        }

        #[test]
        fn who_is_inside_finds_the_nearest_free_point(polygons in prop::collection::vec(star(), 1..5), at in point()) {
            let obstacles = Obstacles::new(polygons);
            let bounds = (Point::new(-80.0, -80.0), Point::new(380.0, 380.0));
            let found = obstacles.nearest_free(at, bounds).unwrap();
            prop_assert!(!obstacles.contains(found));
            prop_assert_eq!(found == at, !obstacles.contains(at));
            // No free point of a fine grid is nearer by more than the clearance allows.
            for i in 0..92 {
                for j in 0..92 {
                    let other = Point::new(-80.0 + 5.0 * f64::from(i), -80.0 + 5.0 * f64::from(j));
                    prop_assert!(obstacles.contains(other) || other.distance(at) >= found.distance(at) - 0.2);
                }
            }
        }
    }
}
