//! Parts of a method that a scenario replaces, and methods of one's own in a registry.

use std::sync::Arc;

use crate::common::{run, tiny};
use aerofed::decide::allocation::Equal;
use aerofed::method::parts::{AllocationPart, Parts};
use aerofed::method::{Build, Entry, Registry};
use aerofed::record::EventKind;
use aerofed::{Error, Method, Scenario};

fn of(settings: &[&str]) -> Result<Method, Error> {
    Method::of(&Scenario::parse("", settings)?.check()?)
}

fn told(settings: &[&str]) -> String {
    of(settings).err().unwrap().to_string()
}

#[test]
fn a_method_is_named_by_what_replaces_its_parts() {
    for (settings, name) in [
        (&["method=cehfed"][..], "cehfed"),
        (
            &["method=cehfed", "allocation.kind=equal"],
            "cehfed[allocation=equal]",
        ),
        (
            &["method=cehfed", "redeploy.method=none"],
            "cehfed[redeploy=none]",
        ),
        (
            &[
                "method=cehfed",
                "redeploy.method=none",
                "association.kind=random",
                "allocation.kind=equal",
            ],
            "cehfed[allocation=equal,association=random,redeploy=none]",
        ),
        // Its own parts by name.
        (
            &[
                "method=cehfed",
                "association.kind=quota",
                "allocation.kind=p1",
                "redeploy.method=two_stage",
            ],
            "cehfed",
        ),
        (
            &[
                "method=hfl",
                "allocation.kind=equal",
                "allocation.local_iterations=9",
            ],
            "hfl",
        ),
        (
            &[
                "method=hfedat",
                "redeploy.method=none",
                "association.kind=oort",
            ],
            "hfedat[association=oort]",
        ),
        (&["method=oort", "association.kind=oort"], "oort"),
    ] {
        assert_eq!(of(settings).unwrap().name, name);
    }
}

/// A method that is made of another's parts is that method.
#[test]
fn the_same_parts_make_the_same_run() {
    let records = |settings: &[&str]| format!("{:?}", run(&tiny(settings), 2).records);
    let rhfed = [
        "method=hfl",
        "association.kind=random",
        "allocation.kind=p1",
    ];
    assert_eq!(records(&rhfed), records(&["method=rhfed"]));
    let hfed = [
        "method=cehfed",
        "allocation.kind=equal",
        "redeploy.method=none",
    ];
    assert_eq!(records(&hfed), records(&["method=hfed"]));
    let oort = [
        "method=rhfed",
        "association.kind=oort",
        "allocation.kind=equal",
    ];
    assert_eq!(records(&oort), records(&["method=oort"]));
    assert_ne!(
        records(&["method=cehfed", "allocation.kind=equal"]),
        records(&["method=cehfed"])
    );
}

#[test]
fn h_is_the_methods_own_unless_it_is_set() {
    let steps = |settings: &[&str]| {
        let records = run(&tiny(settings), 2).records;
        let mut trained = records[0].uavs.iter().filter(|uav| !uav.devices.is_empty());
        trained.next().unwrap().local_iterations
    };
    assert_eq!(steps(&["method=hfl"]), 5);
    assert_eq!(steps(&["method=hfl", "allocation.kind=equal"]), 5);
    for name in ["hierfavg", "cfed", "hfedat"] {
        assert_eq!(steps(&[&format!("method={name}")]), 6);
    }
    assert_eq!(steps(&["method=cehfed", "allocation.kind=equal"]), 6);
    let set = "allocation.local_iterations=3";
    assert_eq!(steps(&["method=cehfed", "allocation.kind=equal", set]), 3);
    assert_eq!(steps(&["method=hierfavg", set]), 3);
}

#[test]
fn nobody_moves_when_told_to_stay() {
    let loss = "faults=[{kind=\"loss\", uav=3, round=2}]";
    let moves = |settings: &[&str]| {
        let records = run(
            &tiny(
                &[
                    settings,
                    &["devices.count=150", "data.data_volume=600", loss],
                ]
                .concat(),
            ),
            2,
        )
        .records;
        let mut events = records.iter().flat_map(|record| &record.events);
        events.any(|event| matches!(event.kind, EventKind::UavMoved { .. }))
    };
    assert!(moves(&["method=cehfed"]));
    assert!(!moves(&["method=cehfed", "redeploy.method=none"]));
    assert!(moves(&["method=oort", "redeploy.method=marginal_gains"]));
}

#[test]
fn a_fleet_that_never_waits_can_neither_compare_models_nor_move() {
    for kind in ["td3", "quota", "difference", "fixed_threshold"] {
        let told = told(&["method=hfedat", &format!("association.kind={kind}")]);
        assert!(
            told.contains(&format!(
                "`association.kind` is {kind:?}, allowed: auto, all"
            )),
            "{told}"
        );
    }
    for search in ["two_stage", "joint_greedy", "marginal_gains"] {
        let told = told(&["method=hfedat", &format!("redeploy.method={search}")]);
        assert!(
            told.contains(&format!(
                "`redeploy.method` is {search:?}, allowed: auto, none"
            )),
            "{told}"
        );
    }
    for kind in ["all", "random", "distance", "oort"] {
        let outcome = run(
            &tiny(&[
                "method=hfedat",
                &format!("association.kind={kind}"),
                "allocation.kind=p1",
            ]),
            2,
        );
        assert!(
            outcome
                .records
                .iter()
                .all(|record| record.updates_computed > 0),
            "{kind}"
        );
    }
}

#[test]
fn a_refusal_says_what_is_done_instead() {
    assert_eq!(
        told(&["method=cehfed", "selection.threshold=0.5"]),
        "`selection.threshold` is 0.5, but method `cehfed` does not read it: its devices are the fittest, a share of as many as a cell \
         has time for (selection.share); leave it at 0.4"
    );
    let unset = told(&["method=rhfed", "allocation.local_iterations=40"]);
    assert!(unset.ends_with("leave it unset"), "{unset}");
    // With another part, the same field is read, or no longer.
    assert!(
        of(&[
            "method=cehfed",
            "association.kind=random",
            "selection.share=0.05"
        ])
        .is_ok()
    );
    assert!(
        told(&[
            "method=cehfed",
            "association.kind=random",
            "td3.discount=0.5"
        ])
        .contains("drawn at random")
    );
    // Who merges by cost weighs.
    assert!(told(&["method=hfl", "weights.time=2"]).contains("weighs energy against time"));
    assert!(of(&["method=hfl", "weights.time=2", "aggregator=cost"]).is_ok());
    let unknown = told(&["method=telepathy"]);
    assert!(
        unknown.starts_with("`method` is \"telepathy\", allowed: cehfed, "),
        "{unknown}"
    );
}

#[test]
fn methods_of_ones_own_are_registered_beside_the_others() {
    let mut registry = Registry::builtin();
    let longer = Parts {
        allocation: AllocationPart::Equal {
            local_iterations: 12,
        },
        ..Parts::RIVAL
    };
    registry
        .add(Entry::new("longer", "H = 12", longer))
        .unwrap();
    let build: Build = Arc::new(|scenario| {
        Ok(Method {
            name: "mine".into(),
            allocation: Box::new(Equal {
                local_iterations: (20.0 * scenario.selection.share) as usize,
            }),
            ..Registry::builtin().find("hfl")?.build(scenario)?
        })
    });
    registry
        .add(Entry::custom(
            "mine",
            "all devices, H by share",
            &["selection.share"],
            build.clone(),
        ))
        .unwrap();
    let method = |settings: &[&str]| {
        let scenario = Scenario::parse("", settings).unwrap().check().unwrap();
        registry.method(&scenario)
    };
    assert_eq!(method(&["method=longer"]).unwrap().name, "longer");
    assert_eq!(
        method(&["method=mine", "selection.share=0.5"])
            .unwrap()
            .name,
        "mine"
    );
    let other = method(&[
        "method=mine",
        "redeploy.method=none",
        "allocation.kind=p1",
        "allocation.h_max=9",
    ]);
    assert_eq!(other.unwrap().name, "mine[allocation=p1,redeploy=none]");
    for settings in [
        ["method=mine", "selection.threshold=0.5"],
        ["method=mine", "allocation.h_max=9"],
    ] {
        let told = method(&settings).err().unwrap().to_string();
        assert!(told.contains("does not read it"), "{told}");
    }
    // The name is in lists, in folders and before the brackets of what is replaced.
    for name in [
        "mine", "cehfed", "", "all", "a b", "a,b", "a:b", "a=b", "a[b]", "a/b", "..",
    ] {
        let again = Entry::custom(name, "", &[], build.clone());
        let told = registry.add(again).unwrap_err().to_string();
        assert!(told.contains(&format!("`method` is {name:?}")), "{told}");
    }
    assert_eq!(
        registry.entries().len(),
        Registry::default().entries().len() + 2
    );
}
