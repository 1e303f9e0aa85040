//! Who flies where: of facilities that cover equally far each may take any of their positions.

use std::collections::BTreeMap;

use super::{Problem, ROUNDING};
use crate::grid::Grid;
use crate::vocabulary::Point;

/// So many are matched exactly, which takes the cube of their number; more exchange positions with their neighbours.
const MOST_EXACT: usize = 256;
/// The same where ways lead around zones, which take longer to find.
const MOST_EXACT_AROUND_ZONES: usize = 24;
/// Neighbours with which each of many is compared.
const NEIGHBOURS: usize = 12;
/// How often all of many are compared with their neighbours.
const SWEEPS: usize = 4;

/// Exchanges positions among facilities of the same radius and height where that takes less energy; whether it did.
pub(super) fn reassign(problem: &Problem, posts: &mut [Point]) -> bool {
    let mut kinds: BTreeMap<(u64, u64), Vec<usize>> = BTreeMap::new();
    for (who, one) in problem.facilities.iter().enumerate() {
        let kind = (one.radius_m.to_bits(), one.altitude_m.to_bits());
        kinds.entry(kind).or_default().push(who);
    }
    let mut changed = false;
    for members in kinds.into_values().filter(|members| members.len() > 1) {
        let most = match problem.zones(members[0]) {
            Some(_) => MOST_EXACT_AROUND_ZONES,
            None => MOST_EXACT,
        };
        changed |= match members.len() <= most {
            true => match_all(problem, &members, posts),
            false => exchange_with_neighbours(problem, &members, posts),
        };
    }
    changed
}

/// Joules of a flight, or far more than any where the battery does not last.
fn cost(problem: &Problem, who: usize, post: Point) -> f64 {
    match problem.reaches(who, post) {
        true => problem.travel.joules(who, post),
        false => UNREACHABLE_J,
    }
}

const UNREACHABLE_J: f64 = 1e15;

fn match_all(problem: &Problem, members: &[usize], posts: &mut [Point]) -> bool {
    let there: Vec<Point> = members.iter().map(|&who| posts[who]).collect();
    let row = |&who: &usize| -> Vec<f64> {
        let costs = there.iter().map(|&post| cost(problem, who, post));
        costs.collect()
    };
    let costs: Vec<Vec<f64>> = members.iter().map(row).collect();
    let taken = least_cost(&costs);
    let before: f64 = (0..members.len()).map(|i| costs[i][i]).sum();
    let after: f64 = (0..members.len()).map(|i| costs[i][taken[i]]).sum();
    // A joule is less than anybody's flight.
    if after >= before - 1.0 {
        return false;
    }
    for (&who, &post) in members.iter().zip(&taken) {
        posts[who] = there[post];
    }
    true
}

/// The column of each row of a square matrix such that their sum is least: shortest augmenting paths (Kuhn and Munkres).
fn least_cost(costs: &[Vec<f64>]) -> Vec<usize> {
    let all = costs.len();
    // Index 0 stands for "none yet".
    let (mut row_price, mut column_price) = (vec![0.0; all + 1], vec![0.0; all + 1]);
    let mut row_of = vec![0; all + 1];
    for row in 1..=all {
        row_of[0] = row;
        let mut column = 0;
        let mut least = vec![f64::INFINITY; all + 1];
        let mut before = vec![0; all + 1];
        let mut used = vec![false; all + 1];
        while row_of[column] != 0 {
            used[column] = true;
            let from = row_of[column];
            let (mut step, mut next) = (f64::INFINITY, 0);
            for other in (1..=all).filter(|&other| !used[other]) {
                let reduced = costs[from - 1][other - 1] - row_price[from] - column_price[other];
                if reduced < least[other] {
                    (least[other], before[other]) = (reduced, column);
                }
                if least[other] < step {
                    (step, next) = (least[other], other);
                }
            }
            for other in 0..=all {
                if used[other] {
                    row_price[row_of[other]] += step;
                    column_price[other] -= step;
                } else {
                    least[other] -= step;
                }
            }
            column = next;
        }
        while column != 0 {
            row_of[column] = row_of[before[column]];
            column = before[column];
        }
    }
    let mut column_of = vec![0; all];
    for column in 1..=all {
        column_of[row_of[column] - 1] = column - 1;
    }
    column_of
}

/// Two facilities exchange their positions where both together then fly less, until none do.
fn exchange_with_neighbours(problem: &Problem, members: &[usize], posts: &mut [Point]) -> bool {
    let [width_m, height_m] = problem.size_m;
    let cell_m = (width_m * height_m / members.len() as f64).sqrt();
    let mut ever = false;
    for _ in 0..SWEEPS {
        let there: Vec<Point> = members.iter().map(|&who| posts[who]).collect();
        let mut grid = Grid::new(width_m, height_m, cell_m);
        grid.rebuild(&there);
        let mut changed = false;
        for (place, &who) in members.iter().enumerate() {
            // Positions around its home and around where it would go.
            for around in [problem.facilities[who].home, there[place]] {
                let near = grid.search(&there, around, 2.0 * cell_m).take(NEIGHBOURS);
                for other in near.map(|other| members[other as usize]) {
                    changed |= other != who && exchanged(problem, who, other, posts);
                }
            }
        }
        ever |= changed;
        if !changed {
            break;
        }
    }
    ever
}

fn exchanged(problem: &Problem, a: usize, b: usize, posts: &mut [Point]) -> bool {
    let now = cost(problem, a, posts[a]) + cost(problem, b, posts[b]);
    let then = cost(problem, a, posts[b]) + cost(problem, b, posts[a]);
    let better = then < now - now.max(1.0) * ROUNDING;
    if better {
        posts.swap(a, b);
    }
    better
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_sum_is_that_of_all_permutations() {
        let number = |i: usize| (i * 7_919 % 1_009) as f64;
        for seed in 0..20 {
            let costs: Vec<Vec<f64>> = (0..5)
                .map(|row| {
                    (0..5)
                        .map(|column| number(seed * 25 + row * 5 + column))
                        .collect()
                })
                .collect();
            let sum = |taken: &[usize]| -> f64 {
                let each = taken.iter().enumerate();
                each.map(|(row, &column)| costs[row][column]).sum()
            };
            let mut least = f64::INFINITY;
            for code in 0..5usize.pow(5) {
                let taken: Vec<usize> = (0..5u32).map(|row| code / 5usize.pow(row) % 5).collect();
                if (0..5).all(|column| taken.contains(&column)) {
                    least = least.min(sum(&taken));
                }
            }
            assert_eq!(sum(&least_cost(&costs)), least);
        }
        assert_eq!(least_cost(&[]), Vec::<usize>::new());
    }
}
