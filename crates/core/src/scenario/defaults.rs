//! What a user wants who says nothing else: the paper's network, and a learning rate that shows results within a minute.

use std::path::PathBuf;

use aerofed_data::PartitionKind;

use super::{
    AgentReward, AgentState, Aggregator, Allocation, Area, Association, Battery, Channel, Codec,
    Data, DataSet, Devices, Diversity, Fitness, Flight, Learner, Methods, Mobility, Model, Radio,
    Redeploy, Sampled, Scenario, Selection, Sharing, Solar, Span, Stop, Surrogate, TargetOn, Td3,
    Training, Uavs, Weights,
};

impl Default for Selection {
    fn default() -> Self {
        Self {
            share: 0.2,
            threshold: 0.4,
            noise_weight: 2.0,
            ask_every_rounds: 2,
            pace: 0.5,
        }
    }
}

impl Default for Fitness {
    fn default() -> Self {
        Self {
            difference: 0.6,
            distance: 0.2,
            compute: 0.2,
            diversity: Diversity::Marginal,
            small_batch: 10,
            personal_epochs: 1,
            refresh_epochs: 1,
            uav_cpu_hz: 10e9,
            uav_cycles_per_bit: 65.0,
        }
    }
}

impl Default for Td3 {
    fn default() -> Self {
        Self {
            agent: "pretrained".into(),
            online: true,
            state: AgentState::Extended,
            reward: AgentReward::CostAware,
            loss_weight: 0.5,
            accuracy_weight: 0.5,
            discount: 0.1,
            learning_rate: 1e-4,
            exploration_noise: 0.1,
            least_threshold: 0.3,
            least_share: 0.15,
            most_share: 0.25,
            candidates: 8,
            updates_per_round: 8,
            warm_up: 8,
            penalty: 1.0,
            penalty_step: 0.01,
        }
    }
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            energy: 0.5,
            time: 0.5,
        }
    }
}

impl Default for Scenario {
    fn default() -> Self {
        Self {
            name: "default".into(),
            seed: 1,
            method: "cehfed".into(),
            learner: Learner::Train,
            aggregator: Aggregator::Distance,
            faults: Vec::new(),
            area: Area::default(),
            devices: Devices::default(),
            uavs: Uavs::default(),
            flight: Flight::default(),
            battery: Battery::default(),
            solar: Solar::default(),
            radio: Radio::default(),
            channel: Channel::default(),
            mobility: Mobility::default(),
            data: Data::default(),
            model: Model::default(),
            codec: Codec::default(),
            training: Training::default(),
            surrogate: Surrogate::default(),
            sampled: Sampled::default(),
            weights: Weights::default(),
            redeploy: Redeploy::default(),
            association: Association::Auto {},
            selection: Selection::default(),
            fitness: Fitness::default(),
            td3: Td3::default(),
            allocation: Allocation::default(),
            methods: Methods::default(),
            stop: Stop::default(),
        }
    }
}

impl Default for Devices {
    fn default() -> Self {
        Self {
            count: 150,
            positions: PathBuf::new(),
            cpu_hz: Span::new(1e9, 1e10),
            cycles_per_bit: Span::new(30.0, 100.0),
            capacitance: 1e-28,
            fixed_time_s: 1e-3,
            tx_power_w: Span::new(0.2, 0.8),
            deadline_s: 0.0,
        }
    }
}

impl Default for Data {
    fn default() -> Self {
        Self {
            set: DataSet::Mnist,
            dir: PathBuf::new(),
            image_size: 64,
            color: true,
            classes: Vec::new(),
            test_fraction: 0.2,
            sharing: Sharing::Disjoint,
            partition: PartitionKind::NoniidA,
            data_volume: 4_000,
            probe_samples: 500,
            personal_samples: 200,
        }
    }
}

impl Default for Model {
    fn default() -> Self {
        Self {
            name: "cnn".into(),
            bits_per_parameter: 32.0,
            layers: Vec::new(),
            start: PathBuf::new(),
        }
    }
}

impl Default for Training {
    fn default() -> Self {
        Self {
            learning_rate: 0.05,
            momentum: 0.0,
            weight_decay: 0.0,
            batch_size: 10,
            max_edge_rounds: 10,
        }
    }
}

impl Default for Stop {
    fn default() -> Self {
        Self {
            max_rounds: 40,
            target_accuracy: 1.0,
            target_on: TargetOn::Test,
            smooth: 1,
            convergence_norm: 0.0,
            targets: vec![0.7, 0.8, 0.9],
        }
    }
}
