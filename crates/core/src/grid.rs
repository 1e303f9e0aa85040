//! A uniform grid over points: who is within a radius, without looking at everybody.

use crate::vocabulary::Point;

/// Buckets of point ids, rebuilt in linear time when the points move. Ids inside a bucket ascend.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    cell_m: f64,
    columns: usize,
    rows: usize,
    /// `starts[c]..starts[c + 1]` are the entries of bucket `c`.
    starts: Vec<u32>,
    entries: Vec<u32>,
}

/// More buckets than this cost more memory than they save time.
const MOST_BUCKETS_PER_SIDE: usize = 1 << 10;

impl Grid {
    /// An index over an area with buckets about `cell_m` wide.
    #[must_use]
    pub(crate) fn new(width_m: f64, height_m: f64, cell_m: f64) -> Self {
        let widest = width_m.max(height_m) / MOST_BUCKETS_PER_SIDE as f64;
        let cell_m = cell_m.max(widest);
        let buckets = |side: f64| (side / cell_m).ceil().max(1.0) as usize;
        let (columns, rows) = (buckets(width_m), buckets(height_m));
        Self {
            cell_m,
            columns,
            rows,
            starts: vec![0; columns * rows + 1],
            entries: Vec::new(),
        }
    }

    fn column(&self, x_m: f64) -> usize {
        ((x_m / self.cell_m).max(0.0) as usize).min(self.columns - 1)
    }

    fn row(&self, y_m: f64) -> usize {
        ((y_m / self.cell_m).max(0.0) as usize).min(self.rows - 1)
    }

    /// Takes new positions: a counting sort by bucket.
    pub(crate) fn rebuild(&mut self, points: &[Point]) {
        let bucket = |p: &Point| self.row(p.y_m) * self.columns + self.column(p.x_m);
        let buckets: Vec<u32> = points.iter().map(|p| bucket(p) as u32).collect();
        self.starts.clear();
        self.starts.resize(self.columns * self.rows + 1, 0);
        for &b in &buckets {
            self.starts[b as usize + 1] += 1;
        }
        for c in 1..self.starts.len() {
            self.starts[c] += self.starts[c - 1];
        }
        let mut next = self.starts.clone();
        self.entries.clear();
        self.entries.resize(points.len(), 0);
        for (id, &b) in buckets.iter().enumerate() {
            self.entries[next[b as usize] as usize] = id as u32;
            next[b as usize] += 1;
        }
    }

    /// The ids of the points within `radius_m` of `center` (edge included), ascending.
    #[must_use]
    pub(crate) fn within(&self, points: &[Point], center: Point, radius_m: f64) -> Vec<u32> {
        let mut found: Vec<u32> = self.search(points, center, radius_m).collect();
        found.sort_unstable();
        found
    }

    /// The ids of the points within `radius_m` of `center`, bucket by bucket.
    pub(crate) fn search(
        &self,
        points: &[Point],
        center: Point,
        radius_m: f64,
    ) -> impl Iterator<Item = u32> {
        let (left, right) = (
            self.column(center.x_m - radius_m),
            self.column(center.x_m + radius_m),
        );
        let rows = self.row(center.y_m - radius_m)..=self.row(center.y_m + radius_m);
        let bucket_row = move |row: usize| {
            let from = self.starts[row * self.columns + left] as usize;
            let to = self.starts[row * self.columns + right + 1] as usize;
            &self.entries[from..to]
        };
        let near =
            move |id: &u32| points[*id as usize].distance_squared(center) <= radius_m * radius_m;
        rows.flat_map(bucket_row).copied().filter(near)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn finds_exactly_what_a_full_scan_finds(
            points in prop::collection::vec((0.0..100.0f64, 0.0..50.0f64), 0..200),
            center in (-20.0..120.0f64, -20.0..70.0f64),
            radius_m in 0.0..80.0f64,
            cell_m in 0.01..60.0f64,
        ) {
            let points: Vec<Point> = points.into_iter().map(|(x, y)| Point::new(x, y)).collect();
            let center = Point::new(center.0, center.1);
            let mut grid = Grid::new(100.0, 50.0, cell_m);
            grid.rebuild(&points);
            let scan: Vec<u32> = (0..points.len() as u32)
                .filter(|&i| points[i as usize].distance(center) <= radius_m)
                .collect();
            prop_assert_eq!(grid.within(&points, center, radius_m), scan);
        }
    }

    #[test]
    fn the_edge_of_the_circle_is_inside() {
        let mut grid = Grid::new(10.0, 10.0, 2.0);
        let points = [Point::new(8.0, 5.0)];
        grid.rebuild(&points);
        assert_eq!(grid.within(&points, Point::new(5.0, 5.0), 3.0), [0]);
    }
}
