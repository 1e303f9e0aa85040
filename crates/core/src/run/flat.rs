//! The flat schedule: federated learning without a hierarchy. UAVs only pass models on.
//!
//! A global round is one edge round: every selected device trains H steps from the global model and
//! sends its own model to its UAV. There nothing is merged: every device's model crosses the link to
//! the aggregator, one after another, and the UAV hovers meanwhile. The aggregator merges all of them
//! and sends the global model to the UAVs. Everything else is Algorithm 1.
//!
//! The global model reaches devices once, in the download of their next edge round (10). In a hierarchy
//! the broadcast (22) also relays it to them, one download more among K; here that would double the
//! downlink.

/// Seconds of passing the global model on as a part of the broadcast.
pub(super) const RELAY_S: f64 = 0.0;

/// Device models as they are passed on, each with its samples.
pub(super) fn relayed(models: &[(&[f32], f64)]) -> Vec<(Vec<f32>, f64)> {
    let own = |(model, samples): &(&[f32], f64)| (model.to_vec(), *samples);
    models.iter().map(own).collect()
}
