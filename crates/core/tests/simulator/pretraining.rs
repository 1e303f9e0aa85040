//! Training agents before a run.

use std::fs;
use std::ops::ControlFlow;
use std::sync::Mutex;

use aerofed::pretrain::{Event, Plan, Progress, pretrain};

use crate::common::{few_digits, tiny};

/// What decides which policy is kept must be the same whatever the test set says.
#[test]
fn test_data_do_not_choose_the_policy() {
    let (honest, folder) = (few_digits(), tempfile::tempdir().unwrap());
    for file in fs::read_dir(&honest).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), folder.path().join(file.file_name())).unwrap();
    }
    // Every test label is wrong.
    let labels = folder.path().join("t10k-labels-idx1-ubyte");
    let mut bytes = fs::read(&labels).unwrap();
    bytes[8..].iter_mut().for_each(|label| *label = 9 - *label);
    fs::write(&labels, bytes).unwrap();

    let judged = |dir: &std::path::Path| {
        let dir = format!("data.dir={dir:?}");
        let scenario = tiny(&[
            "association.kind=td3",
            "method=cehfed",
            "selection.share=0.2",
            "data.set=idx",
            &dir,
        ]);
        let plan = Plan {
            episodes: 2,
            rounds: 4,
            updates: 2,
        };
        let turns: Mutex<Vec<Progress>> = Mutex::default();
        let agent = pretrain(&scenario, &plan, |event| {
            if let Event::Turn(progress) = event {
                turns.lock().unwrap().push(progress);
            }
            ControlFlow::Continue(())
        });
        let policy = agent.unwrap().to_safetensors().unwrap();
        let turns = turns.into_inner().unwrap();
        let accuracies = turns.iter().map(|t| (t.accuracy, t.accuracy_with_most));
        (policy, accuracies.collect::<Vec<_>>())
    };
    let (policy, accuracies) = judged(&honest);
    assert!(
        accuracies.iter().all(|(_, most)| *most > 0.15),
        "{accuracies:?}"
    );
    assert!(judged(folder.path()) == (policy, accuracies));
}
