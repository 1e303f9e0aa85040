//! The least value of a function of a few numbers, without its derivatives: the simplex method of Nelder and Mead (Computer Journal
//! 7, 1965). Same function, same start, same answer.

/// A point, and what the function is there.
type Vertex = (Vec<f64>, f64);

/// Searches from `start`, at first about `step` away from it in every direction, and looks at the function about `looks` times.
/// Returns the best point and its value; what is not a number counts as worst.
pub fn minimise(
    mut function: impl FnMut(&[f64]) -> f64,
    start: &[f64],
    step: f64,
    looks: usize,
) -> (Vec<f64>, f64) {
    let mut looked = 0;
    let mut look = |point: Vec<f64>| {
        looked += 1;
        let value = function(&point);
        let value = if value.is_nan() { f64::INFINITY } else { value };
        ((point, value), looked)
    };
    let size = start.len();
    let mut vertices: Vec<Vertex> = vec![look(start.to_vec()).0];
    for moved in 0..size {
        let mut point = start.to_vec();
        point[moved] += step;
        vertices.push(look(point).0);
    }
    loop {
        vertices.sort_by(|a, b| a.1.total_cmp(&b.1));
        let mean = |place: usize| {
            let sum: f64 = vertices[..size].iter().map(|(point, _)| point[place]).sum();
            sum / size.max(1) as f64
        };
        let centre: Vec<f64> = (0..size).map(mean).collect();
        let (worst, best) = (vertices[size].clone(), vertices[0].clone());
        // On the line from the worst point through the centre of the others, so much beyond it.
        let beyond = |by: f64| {
            let place = |(centre, worst): (&f64, &f64)| centre + by * (centre - worst);
            centre.iter().zip(&worst.0).map(place).collect::<Vec<f64>>()
        };
        let (reflected, so_far) = look(beyond(1.0));
        if so_far >= looks || size == 0 {
            return if reflected.1 < best.1 {
                reflected
            } else {
                best
            };
        }
        if reflected.1 < best.1 {
            let (expanded, _) = look(beyond(2.0));
            vertices[size] = if expanded.1 < reflected.1 {
                expanded
            } else {
                reflected
            };
        } else if reflected.1 < vertices[size - 1].1 {
            vertices[size] = reflected;
        } else {
            let outside = reflected.1 < worst.1;
            let (contracted, _) = look(beyond(if outside { 0.5 } else { -0.5 }));
            if contracted.1 < reflected.1.min(worst.1) {
                vertices[size] = contracted;
                continue;
            }
            for vertex in &mut vertices[1..] {
                let half = |(best, own): (&f64, &f64)| best + 0.5 * (own - best);
                let point = best.0.iter().zip(&vertex.0).map(half).collect();
                *vertex = look(point).0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The valley of Rosenbrock (1960), whose floor is at (1, 1).
    #[test]
    fn finds_the_floor_of_a_curved_valley() {
        let valley = |p: &[f64]| (1.0 - p[0]).powi(2) + 100.0 * (p[1] - p[0] * p[0]).powi(2);
        let (point, value) = minimise(valley, &[-1.2, 1.0], 0.5, 400);
        assert!(value < 1e-9, "{point:?} {value}");
        assert!((point[0] - 1.0).abs() < 1e-4 && (point[1] - 1.0).abs() < 1e-4);
    }

    #[test]
    fn what_is_not_a_number_is_kept_away_from() {
        let root = |p: &[f64]| (p[0].sqrt() - 2.0).powi(2);
        let (point, _) = minimise(root, &[0.1], -1.0, 200);
        assert!((point[0] - 4.0).abs() < 1e-3, "{point:?}");
    }

    #[test]
    fn looks_no_more_often_than_it_may() {
        let mut looks = 0;
        let count = |p: &[f64]| {
            looks += 1;
            p.iter().map(|x| x * x).sum()
        };
        minimise(count, &[1.0; 8], 0.1, 100);
        assert!(looks <= 110, "{looks}");
        assert_eq!(minimise(|_| 3.0, &[], 1.0, 10), (Vec::new(), 3.0));
    }
}
