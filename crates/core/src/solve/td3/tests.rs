//! Each step of the algorithm by hand, and everything that an agent must survive.

use std::collections::BTreeMap;

use rand::SeedableRng;

use super::*;

fn transition(state: f32, action: f32, reward: f32, next_state: f32, done: bool) -> Transition {
    Transition {
        state: vec![state],
        action: vec![action],
        reward,
        next_state: vec![next_state],
        done,
    }
}

/// One state, one action in 0 to 1, one hidden unit: the actor is sigmoid(v relu(w s + b) + c) with weights w, b, v, c,
/// a critic v relu(x s + y a + b) + c with weights x, y, b, v, c.
fn tiny(settings: Settings) -> Td3 {
    let settings = Settings {
        hidden: vec![1],
        learning_starts: 1,
        batch_size: 8,
        ..settings
    };
    Td3::new(settings, 1, 1, &mut Random::seed_from_u64(1)).unwrap()
}

/// An agent of two states and two actions from -1 to 3 with some experience.
fn experienced(rng: &mut Random) -> Td3 {
    let settings = Settings {
        hidden: vec![12, 9],
        action_low: -1.0,
        action_high: 3.0,
        batch_size: 20,
        learning_starts: 10,
        replay_capacity: 50,
        actor_learning_rate: 1e-3,
        critic_learning_rate: 1e-2,
        ..Settings::default()
    };
    let mut agent = Td3::new(settings, 2, 2, rng).unwrap();
    for number in 0..70 {
        live(&mut agent, number, rng);
    }
    agent
}

/// One step of some world.
fn live(agent: &mut Td3, number: usize, rng: &mut Random) {
    let state = vec![number as f32 % 7.0 / 7.0, number as f32 % 5.0 / 5.0];
    let action = agent.explore(&state, rng).unwrap();
    agent
        .remember(&Transition {
            reward: state[0] - (action[0] - state[1]).abs() - action[1].abs(),
            next_state: vec![state[1], state[0]],
            done: number % 10 == 9,
            state,
            action,
        })
        .unwrap();
}

#[test]
fn the_value_wanted_is_the_reward_and_the_smaller_targets_discounted() {
    let mut agent = tiny(Settings {
        discount: 0.9,
        target_noise: 0.0,
        ..Settings::default()
    });
    // mu'(s') = sigmoid(0) = 0.5, Q'1 = 2 relu(s' + a') + 1, Q'2 = 4 relu(s' + a').
    agent.state.actor.target = vec![1.0, 0.0, 0.0, 0.0];
    agent.state.critics[0].target = vec![1.0, 1.0, 0.0, 2.0, 1.0];
    agent.state.critics[1].target = vec![1.0, 1.0, 0.0, 4.0, 0.0];
    // The networks themselves have no say.
    agent.state.critics[0].weights = vec![0.0; 5];
    let mut wanted = |next_state, done| {
        agent.state.replay = Replay::new(1, 1, 10);
        agent
            .remember(&transition(0.0, 0.0, 10.0, next_state, done))
            .unwrap();
        let mut rng = Random::seed_from_u64(1);
        agent.state.replay.sample(1, &mut rng, &mut agent.batch);
        agent.find_wanted_values(&mut rng).unwrap();
        agent.wanted[0]
    };
    // min(2 x 1.5 + 1, 4 x 1.5) = 4; min(2 x 0.25 + 1, 4 x 0.25) = 1.
    assert_eq!(wanted(1.0, false), 10.0 + 0.9 * 4.0);
    assert_eq!(wanted(-0.25, false), 10.0 + 0.9 * 1.0);
    assert_eq!(wanted(1.0, true), 10.0);
}

#[test]
fn noise_is_normal_clipped_and_within_the_range() {
    let settings = Settings {
        action_low: -3.0,
        action_high: 5.0,
        ..Settings::default()
    };
    let mut rng = Random::seed_from_u64(5);
    let noisy = settings.noisy(&[1.0; 20_000], 0.1, &mut rng);
    let mean = noisy.iter().sum::<f32>() / 20_000.0;
    let variance = noisy.iter().map(|a| (a - mean) * (a - mean)).sum::<f32>() / 20_000.0;
    // 0.1 of half the range is 0.4; the errors allowed are four standard errors.
    assert!((mean - 1.0).abs() < 4.0 * 0.4 / 141.0, "{mean}");
    assert!(
        (variance.sqrt() - 0.4).abs() < 4.0 * 0.4 / 200.0,
        "{variance}"
    );
    // Clipped at 0.5 of half the range, which is 2; and at the range.
    let extremes = |around: f32, rng: &mut Random| {
        let noisy = settings.noisy(&[around; 100], 10.0, rng);
        let least = noisy.iter().copied().fold(f32::INFINITY, f32::min);
        [least, noisy.into_iter().fold(f32::NEG_INFINITY, f32::max)]
    };
    assert_eq!(extremes(1.0, &mut rng), [-1.0, 3.0]);
    assert_eq!(extremes(4.0, &mut rng), [2.0, 5.0]);
    assert_eq!(extremes(-3.0, &mut rng), [-3.0, -1.0]);
}

#[test]
fn the_target_action_is_smoothed() {
    let mut agent = tiny(Settings {
        discount: 1.0,
        target_noise: 10.0,
        noise_clip: 0.2,
        ..Settings::default()
    });
    // Q' = a', which is 0.5 with clipped noise of 0.2 x 0.5.
    agent.state.actor.target = vec![0.0; 4];
    for critic in &mut agent.state.critics {
        critic.target = vec![0.0, 1.0, 0.0, 1.0, 0.0];
    }
    agent
        .remember(&transition(0.0, 0.0, 0.0, 0.0, false))
        .unwrap();
    let mut rng = Random::seed_from_u64(2);
    agent.state.replay.sample(200, &mut rng, &mut agent.batch);
    agent.find_wanted_values(&mut rng).unwrap();
    assert!(agent.wanted.iter().all(|value| (0.4..=0.6).contains(value)));
    let at_clip = |clip: f32| agent.wanted.iter().filter(|value| **value == clip).count();
    assert!(at_clip(0.4) > 50 && at_clip(0.6) > 50);
}

#[test]
fn the_actor_and_the_targets_move_every_third_update() {
    let mut rng = Random::seed_from_u64(3);
    let mut agent = experienced(&mut rng);
    agent.state.settings.policy_delay = 3;
    agent.state.settings.target_rate = 0.25;
    for number in 1..=9 {
        let before = agent.state.clone();
        let losses = agent.update(&mut rng).unwrap().unwrap();
        assert_eq!(agent.updates(), number);
        let (old, new) = (&before.critics, &agent.state.critics);
        assert!(
            old.iter()
                .zip(new)
                .all(|(old, new)| old.weights != new.weights)
        );
        let learners = [&agent.state.actor, &new[0], &new[1]];
        let olds = [&before.actor, &old[0], &old[1]];
        if number % 3 > 0 {
            assert_eq!(losses.actor, None);
            assert_eq!(agent.state.actor, before.actor);
            assert!(
                olds.iter()
                    .zip(learners)
                    .all(|(old, new)| old.target == new.target)
            );
            continue;
        }
        assert!(losses.actor.is_some());
        assert_ne!(agent.state.actor.weights, before.actor.weights);
        for (old, new) in olds.iter().zip(learners) {
            let parts = old.target.iter().zip(&new.weights).zip(&new.target);
            for ((old, weight), new) in parts {
                assert!((new - (0.75 * old + 0.25 * weight)).abs() < 1e-6);
            }
        }
    }
}

/// The slope of the mean of -Q1(s, mu(s)) along a direction of the actor's weights, by differences and by the gradient.
#[test]
fn the_actor_goes_up_the_first_critic() {
    let mut rng = Random::seed_from_u64(4);
    let mut agent = experienced(&mut rng);
    let batch = agent.settings().batch_size;
    agent.state.replay.sample(batch, &mut rng, &mut agent.batch);
    let start = agent.state.clone();
    agent.improve_actor().unwrap();
    let gradient = agent.actor_gradient.clone();
    let mut loss_at = |weights: Vec<f32>| {
        agent.state.actor.weights = weights;
        let mut loss = 0.0;
        for state in agent.batch.states.clone().chunks(2) {
            let action = agent.act(state).unwrap();
            loss -= f64::from(agent.values(state, &action).unwrap()[0]);
        }
        loss / batch as f64
    };
    let mut directions = vec![gradient.clone()];
    let turn = |part: usize| {
        gradient
            .iter()
            .enumerate()
            .map(move |(i, g)| if i % 3 == part { *g } else { 0.0 })
    };
    directions.extend((0..3).map(|part| turn(part).collect()));
    for direction in directions {
        let expected: f64 = gradient
            .iter()
            .zip(&direction)
            .map(|(a, b)| f64::from(a * b))
            .sum();
        let step = 2e-2 / expected.sqrt() as f32;
        let mut at = |step: f32| {
            let moved = start.actor.weights.iter().zip(&direction);
            loss_at(moved.map(|(weight, along)| weight + step * along).collect())
        };
        let found = (at(step) - at(-step)) / (2.0 * f64::from(step));
        assert!(
            (found - expected).abs() < 0.02 * expected,
            "{found} {expected}"
        );
    }
}

#[test]
fn critics_learn_what_they_are_shown() {
    let mut rng = Random::seed_from_u64(6);
    let mut agent = experienced(&mut rng);
    let first = agent.update(&mut rng).unwrap().unwrap().critic;
    for _ in 0..600 {
        agent.update(&mut rng).unwrap();
    }
    let last = agent.update(&mut rng).unwrap().unwrap().critic;
    assert!(last < 0.15 * first, "{first} {last}");
}

#[test]
fn the_best_candidate_is_the_one_whose_worse_value_is_best() {
    let mut agent = tiny(Settings {
        exploration_noise: 1.0,
        ..Settings::default()
    });
    // Around mu(s) = 0.5, Q1 = a and Q2 = 1 - a: the smaller one is largest where a is nearest to 0.5.
    agent.state.actor.weights = vec![0.0; 4];
    agent.state.critics[0].weights = vec![0.0, 1.0, 0.0, 1.0, 0.0];
    agent.state.critics[1].weights = vec![0.0, 1.0, 0.0, -1.0, 1.0];
    assert_eq!(agent.values(&[0.7], &[0.25]).unwrap(), [0.25, 0.75]);
    let (mut rng, mut again) = (Random::seed_from_u64(8), Random::seed_from_u64(8));
    let off = |action: &[f32]| (action[0] - 0.5).abs();
    for candidates in [1, 2, 20] {
        let best = agent.best_of(&[0.7], candidates, &mut rng).unwrap();
        let explored = (0..candidates).map(|_| agent.explore(&[0.7], &mut again).unwrap());
        let nearest = explored.min_by(|a, b| off(a).total_cmp(&off(b)));
        assert_eq!(Some(best), nearest);
    }
    let none = agent.best_of(&[0.7], 0, &mut rng).unwrap_err();
    assert!(none.to_string().contains("`candidates` is 0"));
}

#[test]
fn rewards_too_large_to_learn_from_spoil_nothing() {
    let mut rng = Random::seed_from_u64(15);
    let mut agent = tiny(Settings::default());
    agent
        .remember(&transition(0.5, 0.5, f32::MAX, 0.5, false))
        .unwrap();
    for _ in 0..4 {
        let losses = agent.update(&mut rng).unwrap().unwrap();
        assert!(losses.critic.is_infinite());
        assert!(losses.actor.is_none_or(f32::is_finite));
    }
    assert!(agent.act(&[0.5]).unwrap()[0].is_finite());
    assert!(Td3::restore(agent.state).is_ok());
}

#[test]
fn nothing_is_learnt_from_too_little() {
    let mut rng = Random::seed_from_u64(9);
    let settings = Settings {
        learning_starts: 3,
        ..Settings::default()
    };
    let mut agent = Td3::new(settings, 1, 1, &mut rng).unwrap();
    for number in 0..4 {
        let before = agent.state.clone();
        let learnt = agent.update(&mut rng).unwrap().is_some();
        assert_eq!(learnt, number == 3);
        assert_eq!(agent.state == before, number < 3);
        agent
            .remember(&transition(0.0, 0.5, 1.0, 0.0, true))
            .unwrap();
    }
}

/// An agent's next steps and updates.
fn go_on(agent: &mut Td3, numbers: std::ops::Range<usize>, rng: &mut Random) {
    for number in numbers {
        live(agent, number, rng);
        agent.update(rng).unwrap();
    }
}

#[test]
fn a_restored_agent_goes_on_bit_for_bit() {
    let mut rng = Random::seed_from_u64(10);
    let mut straight = experienced(&mut rng);
    let mut again = rng.clone();
    let mut first_half = Td3::restore(straight.state().clone()).unwrap();
    go_on(&mut straight, 0..200, &mut rng);

    go_on(&mut first_half, 0..100, &mut again);
    let bytes = postcard::to_allocvec(first_half.state()).unwrap();
    drop(first_half);
    let state: Td3State = postcard::from_bytes(&bytes).unwrap();
    let mut second_half = Td3::restore(state).unwrap();
    go_on(&mut second_half, 100..200, &mut again);

    assert_eq!(straight.updates(), 200);
    let bytes = |agent: &Td3| postcard::to_allocvec(agent.state()).unwrap();
    assert_eq!(bytes(&straight), bytes(&second_half));
    assert_eq!(rng, again);
}

#[test]
fn damaged_states_are_refused() {
    let state = experienced(&mut Random::seed_from_u64(11)).state;
    let damaged = |damage: fn(&mut Td3State)| {
        let mut state = state.clone();
        damage(&mut state);
        Td3::restore(state).unwrap_err().to_string()
    };
    assert!(damaged(|s| s.settings.discount = 2.0).contains("`discount` is 2"));
    assert!(damaged(|s| s.state_dim = 0).contains("state_dim"));
    assert!(damaged(|s| _ = s.actor.weights.pop()).contains("`weights` has"));
    assert!(damaged(|s| s.critics[1].target[3] = f32::NAN).contains("`target weights` holds NaN"));
    assert!(damaged(|s| s.actor.adam = Adam::new(3)).contains("Adam"));
    assert!(damaged(|s| s.replay = Replay::new(2, 1, 50)).contains("replay"));
    assert!(damaged(|s| s.settings.replay_capacity = 51).contains("replay"));
}

#[test]
fn wrong_states_are_refused() {
    let mut agent = experienced(&mut Random::seed_from_u64(12));
    assert_eq!(
        agent.act(&[1.0]).unwrap_err(),
        Td3Error::Length {
            what: "state",
            expected: 2,
            actual: 1
        }
    );
    assert!(
        agent
            .act(&[1.0, f32::INFINITY])
            .unwrap_err()
            .to_string()
            .contains("`state` holds inf")
    );
    assert!(
        agent
            .values(&[1.0; 2], &[1.0; 3])
            .unwrap_err()
            .to_string()
            .contains("`action` has 3")
    );
}

#[test]
fn every_setting_has_a_range() {
    // A value just outside for every field of the serialised settings.
    let bad = [
        ("hidden", "[64, 0]"),
        ("hidden", "[]"),
        ("action_low", "2.0"),
        ("action_low", "-inf"),
        ("action_high", "nan"),
        ("discount", "1.01"),
        ("target_rate", "0.0"),
        ("actor_learning_rate", "0.0"),
        ("critic_learning_rate", "1.5"),
        ("batch_size", "0"),
        ("policy_delay", "0"),
        ("exploration_noise", "-0.1"),
        ("target_noise", "11.0"),
        ("noise_clip", "nan"),
        ("replay_capacity", "0"),
        ("learning_starts", "100001"),
    ];
    let fields: BTreeMap<String, toml::Value> =
        toml::from_str(&toml::to_string(&Settings::default()).unwrap()).unwrap();
    for field in fields.keys() {
        assert!(
            bad.iter().any(|(name, _)| name == field),
            "{field} has no bad value here"
        );
    }
    for (field, value) in bad {
        let settings: Settings = toml::from_str(&format!("{field} = {value}")).unwrap();
        let message = settings.check().unwrap_err().to_string();
        let named = if message.contains("above action_low") {
            "action_low"
        } else {
            field
        };
        assert!(
            message.contains(named) && message.contains("allowed"),
            "{field} = {value}: {message}"
        );
    }
    Settings::default().check().unwrap();
    assert!(toml::from_str::<Settings>("gamma = 0.9").is_err());
}

#[test]
fn a_policy_file_holds_the_networks() {
    let mut rng = Random::seed_from_u64(13);
    let mut agent = experienced(&mut rng);
    go_on(&mut agent, 0..20, &mut rng);
    let file = agent.to_safetensors().unwrap();
    let read = |file: &[u8]| Td3::from_safetensors(agent.settings().clone(), 2, 2, file);
    let copy = read(&file).unwrap();
    let networks = |agent: &Td3| {
        let Td3State {
            actor,
            critics: [first, second],
            ..
        } = &agent.state;
        [actor, first, second].map(|learner| (learner.weights.clone(), learner.target.clone()))
    };
    assert_eq!(networks(&copy), networks(&agent));
    assert!(copy.replay().is_empty() && copy.updates() == 0);
    for _ in 0..10 {
        assert_eq!(copy.to_safetensors().unwrap(), file);
    }
}

#[test]
fn foreign_and_damaged_policy_files_are_refused() {
    let agent = experienced(&mut Random::seed_from_u64(14));
    let file = agent.to_safetensors().unwrap();
    let settings = agent.settings().clone();
    let message = |settings: &Settings, file: &[u8]| {
        Td3::from_safetensors(settings.clone(), 2, 2, file)
            .unwrap_err()
            .to_string()
    };
    for length in [0, 7, 100, file.len() - 1] {
        assert!(message(&settings, &file[..length]).starts_with("policy file: "));
    }
    let wider = Settings {
        hidden: vec![12, 10],
        ..settings.clone()
    };
    let text = message(&wider, &file);
    assert!(
        text.contains("hidden = [12, 9], needed: [12, 10]"),
        "{text}"
    );
    let other = Td3::from_safetensors(settings.clone(), 3, 2, &file)
        .unwrap_err()
        .to_string();
    assert!(other.contains("state_dim = 2, needed: 3"), "{other}");

    let spec = aerofed_nn::ModelSpec::builtin("logistic", 10).unwrap();
    let shape = aerofed_nn::Shape {
        channels: 1,
        height: 2,
        width: 2,
    };
    let network = aerofed_nn::Network::new(&spec, shape, 10).unwrap();
    let foreign = aerofed_nn::to_safetensors(
        &network,
        &vec![0.0; network.parameter_count()],
        &BTreeMap::new(),
    );
    assert!(message(&settings, &foreign.unwrap()).contains("no metadata `td3`"));

    // The last four bytes are a weight.
    let mut spoilt = file.clone();
    let end = spoilt.len();
    spoilt[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
    assert!(message(&settings, &spoilt).contains("NaN"));
    // A tensor by another name, of the same length.
    let at = file.windows(6).position(|name| name == b"actor.").unwrap();
    let mut renamed = file.clone();
    renamed[at] = b'o';
    assert!(message(&settings, &renamed).contains("tensor actor."));
}
