//! Trains and evaluates many copies of one network over all cores.

use crate::error::Error;
use crate::isa::Isa;
use crate::job::{Evaluation, Examples, Job, Update, check_weights};
use crate::network::Network;
use crate::plan::Plan;
use crate::worker::{Outcome, Wanted, Worker};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Samples that a worker evaluates at a time.
const EVALUATION_BLOCK: usize = 256;

/// A network and the workers that train it.
///
/// Results do not depend on the number of workers, nor on which of them does what, nor on the
/// instruction set.
#[derive(Debug)]
pub struct Engine {
    network: Network,
    plan: Plan,
    threads: usize,
    isa: Result<Isa, Error>,
    /// Workers not at work now, kept for their memory.
    idle: Mutex<Vec<Worker>>,
}

impl Engine {
    /// An engine with `threads` workers (0 counts as 1) and the best instruction set of this machine.
    ///
    /// The environment variable `AEROFED_ISA` can name another; where it cannot be had, every call says so.
    pub fn new(network: Network, threads: usize) -> Engine {
        Engine::build(network, threads, Isa::from_environment())
    }

    /// An engine with a chosen instruction set.
    ///
    /// # Errors
    /// When this machine does not have it.
    pub fn with_isa(network: Network, threads: usize, isa: Isa) -> Result<Engine, Error> {
        Ok(Engine::build(network, threads, Ok(isa.checked()?)))
    }

    fn build(network: Network, threads: usize, isa: Result<Isa, Error>) -> Engine {
        Engine {
            plan: Plan::new(&network),
            network,
            threads: threads.max(1),
            isa,
            idle: Mutex::new(Vec::new()),
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

    /// The instruction set in use.
    ///
    /// # Errors
    /// When `AEROFED_ISA` names one that cannot be had.
    pub fn isa(&self) -> Result<Isa, Error> {
        self.isa.clone()
    }

    /// Trains every job from its own start weights; updates come back in the order of the jobs.
    ///
    /// # Errors
    /// When examples, weights, indices or labels do not fit the network. Nothing is trained then.
    pub fn train(&self, examples: &Examples, jobs: &[Job]) -> Result<Vec<Update>, Error> {
        let mut updates = Vec::new();
        self.train_into(examples, jobs, &mut updates)?;
        Ok(updates)
    }

    /// The same into `updates`, whose vectors are used again: weights by the megabyte are slow to come by.
    ///
    /// # Errors
    /// As [`Engine::train`]; `updates` is then as it was.
    pub fn train_into(
        &self,
        examples: &Examples,
        jobs: &[Job],
        updates: &mut Vec<Update>,
    ) -> Result<(), Error> {
        self.isa()?;
        examples.check(&self.network)?;
        for job in jobs {
            job.check(&self.network, examples)?;
        }
        // The longest first: a long job taken last would leave the other cores waiting for it.
        let mut order: Vec<usize> = (0..jobs.len()).collect();
        order.sort_by_key(|&index| std::cmp::Reverse(jobs[index].order.len()));
        let used = Mutex::new(std::mem::take(updates));
        *updates = self.spread(&order, |worker, index| {
            let weights = lock(&used).pop().map_or_else(Vec::new, |used| used.weights);
            worker.train(&self.plan, examples, &jobs[index], weights)
        })?;
        Ok(())
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
        let all: Vec<u32>;
        let indices = match indices {
            Some(indices) => indices,
            None => {
                all = (0..examples.len() as u32).collect();
                &all
            }
        };
        let classes = self.network.classes();
        let parts = self.blocks(
            examples,
            weights,
            indices,
            Wanted::Losses,
            |part, outcome| {
                let (loss, correct): &mut (f64, usize) = part;
                for sample in 0..outcome.count {
                    *loss += f64::from(outcome.losses[sample]);
                    let label = examples.labels[indices[outcome.first + sample] as usize];
                    *correct +=
                        usize::from(is_largest(&outcome, classes, usize::from(label), sample));
                }
            },
        )?;
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
        let classes = self.network.classes();
        let parts = self.blocks(
            examples,
            weights,
            indices,
            Wanted::Softmax,
            |part, outcome| {
                append_softmax(part, classes, &outcome);
            },
        )?;
        Ok(parts.concat())
    }

    /// Softmax outputs of several models, each on samples of its own: `classes` values a sample.
    ///
    /// # Errors
    /// When examples, weights, indices or labels do not fit the network.
    pub fn outputs(
        &self,
        examples: &Examples,
        models: &[(&[f32], &[u32])],
    ) -> Result<Vec<Vec<f32>>, Error> {
        examples.check(&self.network)?;
        for (weights, indices) in models {
            check_weights(&self.network, weights, "weights")?;
            examples.check_indices(&self.network, indices)?;
        }
        let order: Vec<usize> = (0..models.len()).collect();
        let classes = self.network.classes();
        self.spread(&order, |worker, index| {
            let (weights, indices) = models[index];
            let mut said = Vec::with_capacity(indices.len() * classes);
            let wanted = Wanted::Softmax;
            worker.each_group(&self.plan, examples, weights, indices, wanted, |outcome| {
                append_softmax(&mut said, classes, &outcome);
            });
            said
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
        let values = self.network.input().values();
        let wanted = Wanted::InputGradient;
        let parts = self.blocks(
            examples,
            weights,
            indices,
            wanted,
            |part: &mut Vec<f32>, outcome| {
                let (gradient, per_sample, per_value) = outcome.input_gradient;
                for sample in 0..outcome.count {
                    let own = gradient.iter().skip(sample * per_sample);
                    part.extend(own.step_by(per_value).take(values));
                }
            },
        )?;
        Ok(parts.concat())
    }

    /// Runs samples through the network in blocks and lets `visit` fold each group into its block's part.
    fn blocks<T: Default + Send>(
        &self,
        examples: &Examples,
        weights: &[f32],
        indices: &[u32],
        wanted: Wanted,
        visit: impl Fn(&mut T, Outcome) + Sync,
    ) -> Result<Vec<T>, Error> {
        examples.check(&self.network)?;
        check_weights(&self.network, weights, "weights")?;
        examples.check_indices(&self.network, indices)?;
        let order: Vec<usize> = (0..indices.len().div_ceil(EVALUATION_BLOCK)).collect();
        self.spread(&order, |worker, block| {
            let start = block * EVALUATION_BLOCK;
            let end = (start + EVALUATION_BLOCK).min(indices.len());
            let mut part = T::default();
            worker.each_group(
                &self.plan,
                examples,
                weights,
                &indices[start..end],
                wanted,
                |mut outcome| {
                    outcome.first += start;
                    visit(&mut part, outcome);
                },
            );
            part
        })
    }

    /// Does `task` for every index of `order` over the workers, each taking the next one as it gets free.
    /// Results are sorted by index.
    fn spread<T: Send>(
        &self,
        order: &[usize],
        task: impl Fn(&mut Worker, usize) -> T + Sync,
    ) -> Result<Vec<T>, Error> {
        let isa = self.isa.clone()?;
        let next = AtomicUsize::new(0);
        let done = Mutex::new(Vec::with_capacity(order.len()));
        let work = || {
            let idle = lock(&self.idle).pop();
            let mut worker = idle.unwrap_or_else(|| Worker::new(&self.plan, isa));
            while let Some(&index) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                let result = task(&mut worker, index);
                lock(&done).push((index, result));
            }
            lock(&self.idle).push(worker);
        };
        // The calling thread is a worker too.
        std::thread::scope(|scope| {
            for _ in 1..self.threads.min(order.len()) {
                scope.spawn(work);
            }
            work();
        });
        let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.sort_unstable_by_key(|(index, _)| *index);
        Ok(done.into_iter().map(|(_, result)| result).collect())
    }
}

/// A poisoned lock only means that another worker panicked, which its scope reports.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether the label's logit is the largest (the first of equals); with a NaN among them it is not.
fn is_largest(outcome: &Outcome, classes: usize, label: usize, sample: usize) -> bool {
    let logit = |class: usize| outcome.logits[sample * outcome.stride + class];
    let top = logit(label);
    (0..label).all(|class| logit(class) < top) && (label..classes).all(|class| logit(class) <= top)
}

/// Appends the softmax outputs sample by sample.
fn append_softmax(part: &mut Vec<f32>, classes: usize, outcome: &Outcome) {
    for row in outcome
        .softmax
        .chunks_exact(outcome.stride)
        .take(outcome.count)
    {
        part.extend_from_slice(&row[..classes]);
    }
}
