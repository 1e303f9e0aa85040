//! An engine of aerofed that computes on a card.

use std::ops::Range;
use std::sync::Arc;

use aerofed::learn::engine::examples;
use aerofed::learn::{Averages, Engine};
use aerofed_data::Dataset;
use aerofed_nn::{Evaluation, Inputs, Job, Network, Update};

use crate::card::{Card, Kernels, Numbers, Said};
use crate::source::{Phase, Values, Variant};
use crate::work::{Cell, Jobs, Looks};

/// Models that are under way at the same time take at most this share of the memory that is free.
const MEMORY_SHARE: usize = 4;
/// Samples that a block looks at.
const LOOK: usize = 32;

/// Trains and runs one network on a card.
pub(crate) struct CardEngine {
    card: Arc<Card>,
    network: Network,
}

impl Card {
    /// An engine for a network, for [`Builder::engine`](aerofed::run::Builder::engine). Engines of one card share its memory and its compiled kernels.
    ///
    /// # Errors
    /// None now: kernels are compiled when they are first needed.
    pub fn engine(self: &Arc<Self>, network: Network) -> Result<Arc<dyn Engine>, aerofed::Error> {
        Ok(Arc::new(CardEngine::new(self.clone(), network)))
    }
}

/// What trained models lie on the card.
struct OnCard {
    kernels: Arc<Kernels>,
    models: Numbers,
    losses: Numbers,
}

impl CardEngine {
    pub(crate) fn new(card: Arc<Card>, network: Network) -> Self {
        Self { card, network }
    }

    /// Trains jobs with kernels that count cycles, and tells where they went.
    pub(crate) fn profile(
        &self,
        set: &Arc<Dataset>,
        jobs: &[Job],
    ) -> Result<Vec<(Phase, u64)>, aerofed::Error> {
        let trained = self.train_there(set, jobs, true)?;
        Ok(self.card.profile(&trained.kernels)?)
    }

    fn values(set: &Dataset) -> Values {
        match examples(set).inputs {
            Inputs::Pixels(_) => Values::Pixels,
            Inputs::Numbers(_) => Values::Numbers,
        }
    }

    /// What is trained with, checked.
    fn check(&self, set: &Dataset, jobs: &[Job]) -> Result<(), aerofed::Error> {
        let examples = examples(set);
        examples.check(&self.network)?;
        for job in jobs {
            job.check(&self.network, &examples)?;
        }
        Ok(())
    }

    fn train_there(
        &self,
        set: &Arc<Dataset>,
        jobs: &[Job],
        profile: bool,
    ) -> Result<OnCard, aerofed::Error> {
        let parameters = self.network.parameter_count();
        let any = |with: fn(&Job) -> bool| jobs.iter().any(with);
        let batch = jobs.iter().map(|job| job.batch_size.min(job.order.len()));
        let variant = Variant {
            adversarial: any(|job| job.sgd.adversarial_epsilon > 0.0),
            momentum: any(|job| job.sgd.momentum > 0.0),
            proximal: any(|job| job.sgd.proximal > 0.0),
            profile,
            ..Variant::for_batch(batch.max().unwrap_or(1), Self::values(set))
        };
        let kernels = self.card.kernels(&self.network, variant)?;
        let work = Jobs::new(jobs, parameters);
        let starts = self.card.upload(&work.starts)?;
        let there = self.card.set(set)?;
        let listed = (&work.jobs[..], &work.orders[..]);
        let trained = self
            .card
            .train(&kernels, &there, listed, &starts, parameters)?;
        let (models, losses) = trained;
        Ok(OnCard {
            kernels,
            models,
            losses,
        })
    }

    /// Looks at models that lie on the card, by their numbers.
    fn look<'a>(
        &self,
        set: &Arc<Dataset>,
        models: &Numbers,
        asked: impl Iterator<Item = (usize, &'a [u32])>,
    ) -> Result<Said, aerofed::Error> {
        let variant = Variant::for_batch(LOOK, Self::values(set));
        let kernels = self.card.kernels(&self.network, variant)?;
        let looks = Looks::new(asked, self.network.parameter_count(), LOOK);
        let there = self.card.set(set)?;
        let listed = (&looks.looks[..], &looks.orders[..]);
        let classes = self.network.classes();
        Ok(self.card.look(&kernels, &there, listed, models, classes)?)
    }

    fn check_model(&self, model: &[f32]) -> Result<(), aerofed::Error> {
        let due = self.network.parameter_count();
        match model.len() == due {
            true => Ok(()),
            false => Err(aerofed_nn::Error::Length {
                what: "weights",
                expected: due,
                actual: model.len(),
            }
            .into()),
        }
    }

    /// Rows of softmax outputs, as many samples for each as it asked about.
    fn divide<'a>(&self, outputs: &[f32], asked: impl Iterator<Item = &'a [u32]>) -> Vec<Vec<f32>> {
        let mut rest = outputs;
        let row = |samples: &[u32]| {
            let (row, later) = rest.split_at(samples.len() * self.network.classes());
            rest = later;
            row.to_vec()
        };
        asked.map(row).collect()
    }
}

impl Engine for CardEngine {
    fn name(&self) -> &str {
        self.card.name()
    }

    fn network(&self) -> &Network {
        &self.network
    }

    fn jobs_at_once(&self) -> usize {
        let model_bytes = size_of::<f32>() * self.network.parameter_count();
        (self.card.free_bytes() / MEMORY_SHARE / model_bytes.max(1)).max(1)
    }

    fn train(&self, set: &Arc<Dataset>, jobs: &[Job]) -> Result<Vec<Update>, aerofed::Error> {
        self.check(set, jobs)?;
        if jobs.is_empty() {
            return Ok(Vec::new());
        }
        let there = self.train_there(set, jobs, false)?;
        let models = self.card.download(&there.models)?;
        let losses = self.card.download(&there.losses)?;
        let models = models.chunks_exact(self.network.parameter_count());
        let update = |(weights, mean_loss): (&[f32], f32)| Update {
            weights: weights.to_vec(),
            mean_loss,
        };
        Ok(models.zip(losses).map(update).collect())
    }

    fn outputs(
        &self,
        set: &Arc<Dataset>,
        models: &[(&[f32], &[u32])],
    ) -> Result<Vec<Vec<f32>>, aerofed::Error> {
        let examples = examples(set);
        examples.check(&self.network)?;
        for (model, samples) in models {
            self.check_model(model)?;
            examples.check_indices(&self.network, samples)?;
        }
        if models.is_empty() {
            return Ok(Vec::new());
        }
        // Neighbours often ask about the same model.
        let mut distinct: Vec<&[f32]> = Vec::new();
        let mut asked = Vec::with_capacity(models.len());
        for (model, samples) in models {
            if !distinct
                .last()
                .is_some_and(|last| std::ptr::eq(*last, *model))
            {
                distinct.push(model);
            }
            asked.push((distinct.len() - 1, *samples));
        }
        let uploaded = self.card.upload(&distinct)?;
        let said = self.look(set, &uploaded, asked.into_iter())?;
        Ok(self.divide(&said.outputs, models.iter().map(|(_, samples)| *samples)))
    }

    fn evaluate(
        &self,
        set: &Arc<Dataset>,
        model: &[f32],
        samples: Option<&[u32]>,
    ) -> Result<Evaluation, aerofed::Error> {
        let examples = examples(set);
        examples.check(&self.network)?;
        self.check_model(model)?;
        let all: Vec<u32>;
        let samples = match samples {
            Some(samples) => samples,
            None => {
                all = (0..examples.len() as u32).collect();
                &all
            }
        };
        examples.check_indices(&self.network, samples)?;
        let uploaded = self.card.upload(&[model])?;
        let said = self.look(set, &uploaded, [(0, samples)].into_iter())?;
        let loss: f64 = said.losses.iter().map(|loss| f64::from(*loss)).sum();
        Ok(Evaluation {
            loss: loss / samples.len().max(1) as f64,
            correct: said.correct.iter().map(|right| usize::from(*right)).sum(),
            samples: samples.len(),
        })
    }

    fn averages(&self) -> bool {
        true
    }

    fn train_and_average(
        &self,
        set: &Arc<Dataset>,
        jobs: &[Job],
        asked: &[&[u32]],
        cells: &[Range<usize>],
        shares: &[f64],
    ) -> Result<Option<Averages>, aerofed::Error> {
        if jobs.is_empty() || jobs.len() > self.jobs_at_once() {
            return Ok(None);
        }
        self.check(set, jobs)?;
        let parameters = self.network.parameter_count();
        let there = self.train_there(set, jobs, false)?;
        let said = self.look(set, &there.models, asked.iter().copied().enumerate())?;
        let cell = |jobs: &Range<usize>| Cell {
            first: jobs.start as u32,
            count: jobs.len() as u32,
        };
        let cells: Vec<Cell> = cells.iter().map(cell).collect();
        let means = self
            .card
            .average(&there.kernels, &there.models, &cells, shares, parameters)?;
        Ok(Some(Averages {
            models: means,
            losses: self.card.download(&there.losses)?,
            outputs: self.divide(&said.outputs, asked.iter().copied()),
        }))
    }
}
