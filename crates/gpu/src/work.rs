//! Work as the kernels read it.

/// One device's work; `kernels.cu` has the same struct.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub(crate) struct Job {
    /// Where its first weights lie among all starts.
    pub(crate) start: u64,
    /// Where its samples begin in the list of all, and how many they are.
    pub(crate) order: u32,
    pub(crate) length: u32,
    pub(crate) batch: u32,
    /// Where its results go.
    pub(crate) slot: u32,
    pub(crate) learning_rate: f32,
    pub(crate) momentum: f32,
    pub(crate) weight_decay: f32,
    pub(crate) proximal: f32,
    pub(crate) epsilon: f32,
}

/// Samples that a model is looked at with.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub(crate) struct Look {
    /// Where the model lies among all.
    pub(crate) model: u64,
    pub(crate) order: u32,
    pub(crate) length: u32,
}

/// Models of one cell, which follow each other.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub(crate) struct Cell {
    pub(crate) first: u32,
    pub(crate) count: u32,
}

/// Jobs, the longest first, with their lists of samples one after the other and each start once.
pub(crate) struct Jobs<'a> {
    pub(crate) jobs: Vec<Job>,
    pub(crate) orders: Vec<u32>,
    pub(crate) starts: Vec<&'a [f32]>,
}

impl<'a> Jobs<'a> {
    /// Devices of a cell begin with the same model, which is told once.
    pub(crate) fn new(jobs: &[aerofed_nn::Job<'a>], parameters: usize) -> Self {
        let mut listed = Self {
            jobs: Vec::with_capacity(jobs.len()),
            orders: Vec::new(),
            starts: Vec::new(),
        };
        for (slot, job) in jobs.iter().enumerate() {
            let last = listed.starts.last();
            if !last.is_some_and(|last| std::ptr::eq(*last, job.start)) {
                listed.starts.push(job.start);
            }
            listed.jobs.push(Job {
                start: ((listed.starts.len() - 1) * parameters) as u64,
                order: listed.orders.len() as u32,
                length: job.order.len() as u32,
                batch: job.batch_size as u32,
                slot: slot as u32,
                learning_rate: job.sgd.learning_rate,
                momentum: job.sgd.momentum,
                weight_decay: job.sgd.weight_decay,
                proximal: job.sgd.proximal,
                epsilon: job.sgd.adversarial_epsilon,
            });
            listed.orders.extend_from_slice(job.order);
        }
        // A long job taken last would leave the rest of the card waiting for it.
        listed.jobs.sort_by_key(|job| std::cmp::Reverse(job.length));
        listed
    }
}

/// Samples to be looked at, `most` of them at a time.
pub(crate) struct Looks {
    pub(crate) looks: Vec<Look>,
    pub(crate) orders: Vec<u32>,
}

impl Looks {
    /// Of models by their numbers.
    pub(crate) fn new<'a>(
        models: impl Iterator<Item = (usize, &'a [u32])>,
        parameters: usize,
        most: usize,
    ) -> Self {
        let mut listed = Self {
            looks: Vec::new(),
            orders: Vec::new(),
        };
        for (model, indices) in models {
            for some in indices.chunks(most) {
                listed.looks.push(Look {
                    model: (model * parameters) as u64,
                    order: listed.orders.len() as u32,
                    length: some.len() as u32,
                });
                listed.orders.extend_from_slice(some);
            }
        }
        listed
    }
}
