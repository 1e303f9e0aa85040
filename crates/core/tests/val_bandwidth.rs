#![allow(missing_docs)]
#[path = "val_bandwidth/cells.rs"]
mod cells;
use aerofed::solve::bandwidth::*;
use aerofed::solve::Status;
use cells::*;

#[test]
fn explore() {
    for class in CLASSES.into_iter().filter(|c| std::env::var("CLASS").map_or(true, |v| v == format!("{c:?}"))) {
        for n in [1usize, 2, 3, 10, 30, 100, 300] {
            let n = if class == Class::Single { 1 } else { n };
            let (mut fails, mut passes, mut most, mut worst, mut nmax) = (0, 0, 0, 0.0f64, 0usize);
            let (mut wp, mut wf) = (0, 0);
            let reps = 300;
            let t = std::time::Instant::now();
            let mut cold = 0.0;
            for seed in 0..reps {
                let c = cell(class, n, seed);
                let mut s = Solver::new();
                s.solve(&cell(class, n + 1, 1), 5).unwrap();
                let t0 = std::time::Instant::now();
                let a = s.solve(&c, 5).unwrap().clone();
                cold += t0.elapsed().as_secs_f64();
                if a.status != Status::Solved { fails += 1; if fails < 3 { println!("   fail seed {seed}: gap {:e} passes {}", a.kkt_residual, s.passes()); } }
                worst = worst.max(a.kkt_residual);
                passes += s.passes(); most = most.max(s.passes());
                let b = s.solve(&c, 6).unwrap().clone();
                if b.status != Status::Solved { wf += 1 }
                wp += s.passes(); nmax = nmax.max(s.passes());
            }
            let _ = t;
            println!("{class:?} n={n}: fails {fails} passes {:.1} max {most} worst gap {worst:.1e} us {:.1} | warm {:.1} max {nmax} fails {wf}", passes as f64 / reps as f64, cold / reps as f64 * 1e6, wp as f64 / reps as f64);
        }
    }
}

#[test]
fn explore_palm() {
    for class in CLASSES.into_iter().filter(|c| std::env::var("CLASS").map_or(true, |v| v == format!("{c:?}"))) {
        for n in [1usize, 3, 10, 30, 100, 300] {
            let n = if class == Class::Single { 1 } else { n };
            let reps = 4;
            let mut worst = 0.0f64; let mut werr = 0.0f64; let mut fails = 0;
            let t = std::time::Instant::now();
            for seed in 0..reps {
                let c = cell(class, n, seed);
                let a = palm::solve(&c, 5, &palm::settings()).unwrap();
                let mut s = Solver::new();
                let e = s.solve(&c, 5).unwrap();
                worst = worst.max(a.kkt_residual); werr = werr.max(a.objective / e.objective - 1.0);
                if a.status != Status::Solved { fails += 1 }
            }
            println!("{class:?} n={n} fails {fails} gap {worst:.1e} err {werr:.1e} ms {:.2}", t.elapsed().as_secs_f64() * 1e3 / reps as f64);
        }
    }
}
