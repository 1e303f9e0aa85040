//! Trains and evaluates many copies of one network over all cores.

use crate::error::Error;
use crate::job::{Evaluation, Examples, Job, Update, check_weights};
use crate::network::Network;
use crate::oracle;

/// A network and the workers that train it.
#[derive(Debug)]
pub struct Engine {
    network: Network,
    threads: usize,
}

impl Engine {
    /// An engine with `threads` workers (0 counts as 1).
    pub fn new(network: Network, threads: usize) -> Engine {
        Engine {
            network,
            threads: threads.max(1),
        }
    }

    /// The network it trains.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Number of workers.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Trains every job from its own start weights; updates come back in the order of the jobs.
    ///
    /// # Errors
    /// When examples, weights, indices or labels do not fit the network. Nothing is trained then.
    pub fn train(&self, examples: &Examples, jobs: &[Job]) -> Result<Vec<Update>, Error> {
        examples.check(&self.network)?;
        for job in jobs {
            job.check(&self.network, examples)?;
        }
        Ok(self.spread(jobs.len(), &|index| self.train_one(examples, &jobs[index])))
    }

    /// Loss and accuracy over `indices`, or over all examples.
    ///
    /// # Errors
    /// When examples, weights, indices or labels do not fit the network.
    pub fn evaluate(
        &self,
        examples: &Examples,
        weights: &[f32],
        indices: Option<&[u32]>,
    ) -> Result<Evaluation, Error> {
        examples.check(&self.network)?;
        check_weights(&self.network, weights, "weights")?;
        let all: Vec<u32>;
        let indices = match indices {
            Some(indices) => indices,
            None => {
                all = (0..examples.len() as u32).collect();
                &all
            }
        };
        examples.check_indices(&self.network, indices)?;
        let wide: Vec<f64> = weights.iter().map(|&w| f64::from(w)).collect();
        let parts = self.spread(indices.len().div_ceil(64), &|part| {
            let (mut loss, mut correct) = (0.0, 0);
            for &index in indices.iter().skip(part * 64).take(64) {
                let pass = self.pass(examples, &wide, index);
                loss += pass.loss;
                let label = usize::from(examples.labels[index as usize]);
                correct += usize::from(
                    (0..pass.logits.len())
                        .all(|c| c == label || pass.logits[c] < pass.logits[label]),
                );
            }
            (loss, correct)
        });
        let loss: f64 = parts.iter().map(|part| part.0).sum();
        Ok(Evaluation {
            loss: loss / indices.len().max(1) as f64,
            correct: parts.iter().map(|part| part.1).sum(),
            samples: indices.len(),
        })
    }

    /// Softmax outputs of the samples at `indices`, `classes` values each.
    ///
    /// # Errors
    /// When examples, weights, indices or labels do not fit the network.
    pub fn probabilities(
        &self,
        examples: &Examples,
        weights: &[f32],
        indices: &[u32],
    ) -> Result<Vec<f32>, Error> {
        self.per_sample(examples, weights, indices, |pass| {
            oracle::softmax(&pass.logits)
        })
    }

    /// Gradient of each sample's loss with respect to the sample, one map per index.
    ///
    /// # Errors
    /// When examples, weights, indices or labels do not fit the network.
    pub fn input_gradient(
        &self,
        examples: &Examples,
        weights: &[f32],
        indices: &[u32],
    ) -> Result<Vec<f32>, Error> {
        self.per_sample(examples, weights, indices, |pass| pass.input_gradient)
    }

    fn per_sample(
        &self,
        examples: &Examples,
        weights: &[f32],
        indices: &[u32],
        take: fn(oracle::Pass) -> Vec<f64>,
    ) -> Result<Vec<f32>, Error> {
        examples.check(&self.network)?;
        check_weights(&self.network, weights, "weights")?;
        examples.check_indices(&self.network, indices)?;
        let wide: Vec<f64> = weights.iter().map(|&w| f64::from(w)).collect();
        let rows = self.spread(indices.len(), &|at| {
            take(self.pass(examples, &wide, indices[at]))
        });
        Ok(rows.concat().into_iter().map(|v| v as f32).collect())
    }

    fn pass(&self, examples: &Examples, weights: &[f64], index: u32) -> oracle::Pass {
        let input = examples.sample(index as usize, self.network.input().values());
        let input: Vec<f64> = input.iter().map(|&v| f64::from(v)).collect();
        oracle::pass(
            &self.network,
            weights,
            &input,
            usize::from(examples.labels[index as usize]),
        )
    }

    fn train_one(&self, examples: &Examples, job: &Job) -> Update {
        let sgd = job.sgd;
        let start: Vec<f64> = job.start.iter().map(|&w| f64::from(w)).collect();
        let mut weights = start.clone();
        let mut velocity = vec![0.0; start.len()];
        let (mut losses, mut steps) = (0.0, 0);
        for batch in job.order.chunks(job.batch_size) {
            let mut gradient = vec![0.0; start.len()];
            let mut loss = 0.0;
            for &index in batch {
                let mut passes = vec![self.pass(examples, &weights, index)];
                if sgd.adversarial_epsilon > 0.0 {
                    let input = examples.sample(index as usize, self.network.input().values());
                    let moved: Vec<f64> = input
                        .iter()
                        .zip(&passes[0].input_gradient)
                        .map(|(&x, &g)| {
                            let sign = if g > 0.0 {
                                1.0
                            } else if g < 0.0 {
                                -1.0
                            } else {
                                0.0
                            };
                            (f64::from(x) + f64::from(sgd.adversarial_epsilon) * sign)
                                .clamp(0.0, 1.0)
                        })
                        .collect();
                    let label = usize::from(examples.labels[index as usize]);
                    passes.push(oracle::pass(&self.network, &weights, &moved, label));
                }
                let share = 1.0 / (passes.len() * batch.len()) as f64;
                for pass in passes {
                    loss += pass.loss * share;
                    gradient
                        .iter_mut()
                        .zip(pass.gradient)
                        .for_each(|(g, p)| *g += p * share);
                }
            }
            losses += loss;
            steps += 1;
            for (at, weight) in weights.iter_mut().enumerate() {
                let pull = f64::from(sgd.proximal) * (*weight - start[at]);
                let slope = gradient[at] + f64::from(sgd.weight_decay) * *weight + pull;
                velocity[at] = f64::from(sgd.momentum) * velocity[at] + slope;
                *weight -= f64::from(sgd.learning_rate) * velocity[at];
            }
        }
        Update {
            weights: weights.iter().map(|&w| w as f32).collect(),
            mean_loss: (losses / f64::from(steps.max(1))) as f32,
        }
    }

    /// Runs `task(0..count)` over the workers; results come back in order.
    fn spread<T: Send>(&self, count: usize, task: &(impl Fn(usize) -> T + Sync)) -> Vec<T> {
        use std::sync::Mutex;
        use std::sync::atomic::{AtomicUsize, Ordering};
        if self.threads == 1 || count < 2 {
            return (0..count).map(task).collect();
        }
        let next = AtomicUsize::new(0);
        let done = Mutex::new(Vec::with_capacity(count));
        std::thread::scope(|scope| {
            for _ in 0..self.threads.min(count) {
                scope.spawn(|| {
                    loop {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        if index >= count {
                            break;
                        }
                        let result = task(index);
                        done.lock()
                            .unwrap_or_else(|e| e.into_inner())
                            .push((index, result));
                    }
                });
            }
        });
        let mut done = done.into_inner().unwrap_or_else(|e| e.into_inner());
        done.sort_by_key(|(index, _)| *index);
        done.into_iter().map(|(_, result)| result).collect()
    }
}
