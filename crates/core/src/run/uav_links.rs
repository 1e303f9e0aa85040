//! Links between UAVs: who hears whom, how long models take, and the worst that can be.

use std::sync::PoisonError;

use rayon::prelude::*;

use crate::books::Books;
use crate::nature::UavLink;
use crate::nature::channel::End;
use crate::record::EventKind;
use crate::vocabulary::{Point, UavId};
use crate::world::Uav;

use super::fleet::Fleet;

/// Round, bits, and who is where.
pub(super) type SlowestAsked = (usize, f64, Vec<(UavId, Point)>);

impl Fleet {
    /// Tells which pairs of UAVs have a way between them over which nothing arrives, or not at the first attempt.
    pub(super) fn tell_weak_uav_links(&self, books: &mut Books) {
        if self.bound_on_uav_links_s(self.model_bits).is_some() {
            return;
        }
        let active: Vec<&Uav> = self.world.active().collect();
        let transfer = |from: &Uav, to: &Uav| {
            let link = self.uav_link(from, to);
            let (_, transfer) = self.nature.uav_transfer(self.model_bits, &link)?;
            transfer.arrived.then_some(transfer.repeats as usize)
        };
        let weak = |from: &Uav, to: &Uav| {
            let uavs = [from.id, to.id];
            match (transfer(from, to), transfer(to, from)) {
                (Some(0), Some(0)) => None,
                (Some(there), Some(back)) => Some(EventKind::UavLinkRepeated {
                    uavs,
                    attempts: there.max(back),
                }),
                _ => Some(EventKind::UavLinkOutage { uavs }),
            }
        };
        let places = (0..active.len()).into_par_iter();
        let weak_of = |place: usize| {
            let later = active[place + 1..].iter();
            later.filter_map(|to| weak(active[place], to)).collect()
        };
        let all: Vec<Vec<EventKind>> = places.map(weak_of).collect();
        all.into_iter().flatten().for_each(|weak| books.tell(weak));
    }

    /// No link between two active UAVs takes longer, if the channel can say so; then none of them is out.
    pub(super) fn bound_on_uav_links_s(&self, bits: f64) -> Option<f64> {
        let mut corners = [
            Point::new(f64::MAX, f64::MAX),
            Point::new(f64::MIN, f64::MIN),
        ];
        let (mut lowest_m, mut highest_m) = (f64::MAX, 0.0f64);
        let mut weakest_w = f64::MAX;
        for uav in self.world.active() {
            let Point { x_m, y_m } = uav.position;
            corners[0] = Point::new(corners[0].x_m.min(x_m), corners[0].y_m.min(y_m));
            corners[1] = Point::new(corners[1].x_m.max(x_m), corners[1].y_m.max(y_m));
            lowest_m = lowest_m.min(uav.altitude_m);
            highest_m = highest_m.max(uav.altitude_m);
            weakest_w = weakest_w.min(uav.tx_power_w);
        }
        let across_m = corners[0].distance(corners[1]);
        let height_m = (highest_m - lowest_m).max(0.0);
        self.nature
            .worst_uav_link_time_s(bits, weakest_w, across_m, height_m)
    }

    /// The same for channels that cannot say what lies within a distance: all pairs are looked at, each with as many attempts as
    /// there may be, which after a flight may be more than now. Also whether any of them is cut or out.
    pub(super) fn slowest_uav_link_s(&self, bits: f64) -> (f64, bool) {
        let active: Vec<&Uav> = self.world.active().collect();
        let posts = active.iter().map(|uav| (uav.id, uav.position));
        let question = (self.round, bits, posts.collect::<Vec<_>>());
        let mut known = self
            .slowest_links
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some((_, answer)) = known.iter().find(|(asked, _)| *asked == question) {
            return *answer;
        }
        let attempts = f64::from(self.nature.retries) + 1.0;
        let of_pair = |from: &Uav, to: &Uav| {
            let link = self.uav_link(from, to);
            match self.nature.uav_transfer(bits, &link) {
                Some((once_s, transfer)) if transfer.arrived && !self.is_cut(from.id, to.id) => {
                    (attempts * once_s, false)
                }
                _ => (0.0, true),
            }
        };
        let worse = |a: (f64, bool), b: (f64, bool)| (f64::max(a.0, b.0), a.1 || b.1);
        let of_sender = |from: &&Uav| {
            let others = active.iter().filter(|to| to.id != from.id);
            others.map(|to| of_pair(from, to)).fold((0.0, false), worse)
        };
        let answer = active
            .par_iter()
            .map(of_sender)
            .reduce(|| (0.0, false), worse);
        // Only the same fleet is asked about again, for models and for updates.
        known.retain(|((round, _, posts), _)| (*round, posts) == (question.0, &question.2));
        known.push((question, answer));
        answer
    }

    /// Seconds of sending `bits` from one UAV straight to another; none when that link is cut or too weak. To itself it takes
    /// no time.
    pub(super) fn link_s(&self, from: &Uav, to: &Uav, bits: f64) -> Option<f64> {
        if from.id == to.id {
            return Some(0.0);
        }
        match self.is_cut(from.id, to.id) {
            true => None,
            false => {
                let link = self.uav_link(from, to);
                self.nature.uav_link_time_s(bits, &link)
            }
        }
    }

    /// The link from one UAV to another in this round.
    fn uav_link(&self, from: &Uav, to: &Uav) -> UavLink {
        let end = |uav: &Uav| End::uav(uav.id, uav.position, uav.altitude_m);
        UavLink {
            tx_power_w: from.tx_power_w,
            from: end(from),
            to: end(to),
            round: self.round,
        }
    }

    /// Seconds of sending `bits` from one UAV to another, by way of the quickest third one when there is no link between
    /// the two; none when there is no way.
    pub(super) fn crossing_s(&self, from: &Uav, to: &Uav, bits: f64) -> Option<f64> {
        let link_s = |from, to| self.link_s(from, to, bits);
        link_s(from, to).or_else(|| {
            let between = self.world.active().filter(|other| other.id != from.id);
            let ways = between.filter_map(|by| Some(link_s(from, by)? + link_s(by, to)?));
            ways.min_by(f64::total_cmp)
        })
    }

    /// Whether a fault has cut the link between two UAVs.
    fn is_cut(&self, a: UavId, b: UavId) -> bool {
        !self.failed_links.is_empty() && self.failed_links.contains(&pair(a.0, b.0))
    }
}

/// Two UAVs, the lower number first.
pub(super) fn pair(a: u32, b: u32) -> [u32; 2] {
    [a.min(b), a.max(b)]
}
