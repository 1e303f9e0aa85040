//! `ahfed`: hierarchical FedAvg with adversarial training on devices (the paper's AHFed, VI.B). Every local
//! step also trains on the mini-batch moved along the sign of its gradient, FGSM (Goodfellow et al., ICLR
//! 2015). Devices at random, fixed H, equal bandwidth, nobody moves.
//!
//! The step takes two passes over the mini-batch: one gives the clean gradient, of weights and inputs
//! together, the other the gradient on the moved inputs. So the arithmetic counts twice, in time and energy
//! (as Shafahi et al., NeurIPS 2019, count: k attack steps make k + 1 passes).
//!
//! Departs from the paper's source, which it cites without details: clean and moved samples weigh the same.

use super::Entry;
use super::parts::{LocalPart, Parts};

pub(super) const ENTRY: Entry = Entry::built_in(
    "ahfed",
    "hierarchical FedAvg with adversarial (FGSM) training on devices drawn at random",
    Parts {
        local: LocalPart::Adversarial,
        ..Parts::RIVAL
    },
);
