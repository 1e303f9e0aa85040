//! Whose the samples are, and a device for each user.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;

use aerofed_data::{
    Dataset, Error, ImageFolder, Partition, PartitionKind, PartitionPlan, Users, Values,
    check_folder, idx_folder, image_folder, partition,
};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tempfile::TempDir;

/// Six training images of one pixel, two for testing.
fn idx() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (part, count) in [("train", 6_u8), ("t10k", 2)] {
        let mut images = vec![0, 0, 8, 3, 0, 0, 0, count, 0, 0, 0, 1, 0, 0, 0, 1];
        let mut labels = vec![0, 0, 8, 1, 0, 0, 0, count];
        images.extend(0..count);
        labels.extend((0..count).map(|sample| sample % 2));
        fs::write(dir.path().join(format!("{part}-images-idx3-ubyte")), images).unwrap();
        fs::write(dir.path().join(format!("{part}-labels-idx1-ubyte")), labels).unwrap();
    }
    dir
}

/// Two classes of five images.
fn images() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for class in ["lake", "sand"] {
        fs::create_dir(dir.path().join(class)).unwrap();
        for name in 0..5 {
            let image = image::GrayImage::new(4, 4);
            image
                .save(dir.path().join(class).join(format!("{name}.png")))
                .unwrap();
        }
    }
    dir
}

fn write(dir: &Path, text: &str) {
    fs::write(dir.join("users.csv"), text).unwrap();
}

#[test]
fn users_of_idx_samples_are_listed_in_order() {
    let dir = idx();
    assert_eq!(idx_folder(dir.path(), None).unwrap().train.users, None);
    write(
        dir.path(),
        "\u{feff}user\r\nana\r\n\"bo\"\r\nana\r\ncy\r\nbo\r\nana\r\n\r\n",
    );
    let split = idx_folder(dir.path(), None).unwrap();
    let users = split.train.users.unwrap();
    assert_eq!(users.names, ["ana", "bo", "cy"]);
    assert_eq!(users.of_sample, [0, 1, 0, 2, 1, 0]);
    assert_eq!(split.test.users, None);
    let report = check_folder(dir.path()).unwrap();
    assert_eq!(report.users, Some(3));
    assert!(report.to_string().contains("users.csv): 3"), "{report}");
}

#[test]
fn users_of_images_are_found_by_file() {
    let dir = images();
    let options = ImageFolder {
        image_size: 4,
        ..ImageFolder::default()
    };
    let mut text = "file,user\n".to_owned();
    for class in ["lake", "sand"] {
        for name in 0..5 {
            text += &format!(
                "{class}/{name}.png, {}\n",
                if name < 3 { "ana" } else { "bo" }
            );
        }
    }
    // Files that are not there are nobody's concern: other classes may be left out.
    write(dir.path(), &(text.clone() + "hill/1.png,cy\n"));
    let train = image_folder(dir.path(), &options).unwrap().train;
    let users = train.users.clone().unwrap();
    assert_eq!((users.of_sample.len(), users.names.len()), (8, 2));
    train.check().unwrap();

    write(
        dir.path(),
        &text
            .replace("sand/2.png, ana\n", "")
            .replace("sand/3.png, bo\n", ""),
    );
    let error = image_folder(dir.path(), &options).unwrap_err().to_string();
    assert!(
        error.contains("users.csv: has no line for sand/"),
        "{error}"
    );
}

#[test]
fn a_wrong_list_of_users_is_refused_by_line() {
    let refused = |text: &str| {
        let dir = idx();
        write(dir.path(), text);
        idx_folder(dir.path(), None).unwrap_err().to_string()
    };
    for (text, why) in [
        ("", "line 1: is \"\", expected `user`"),
        ("ana\nbo\n", "line 1: is \"ana\", expected `user`"),
        (
            "user\nana\nbo\n",
            "2 users, but the set has 6 training samples",
        ),
        ("user\na\nb\n\"\"\nd\ne\nf\n", "line 4: an empty field"),
    ] {
        let error = refused(text);
        assert!(
            error.contains("users.csv") && error.contains(why),
            "{error}"
        );
    }
    let dir = images();
    for (text, why) in [
        ("user\nana\n", "expected `file,user`"),
        (
            "file,user\nlake/1.png\n",
            "line 2: \"lake/1.png\" is not `file,user`",
        ),
        (
            "file,user\nlake/1.png,a\nlake/1.png,b\n",
            "line 3: lake/1.png has another user above",
        ),
    ] {
        write(dir.path(), text);
        let error = image_folder(dir.path(), &ImageFolder::default())
            .unwrap_err()
            .to_string();
        assert!(error.contains(why), "{error}");
    }
}

/// Samples of five users: the first has 10, the next 20, and so on; labels in turn.
fn of_users() -> Dataset {
    let of_sample: Vec<u32> = (0..5)
        .flat_map(|user| vec![user; 10 * (user as usize + 1)])
        .collect();
    Dataset {
        name: "made".into(),
        channels: 1,
        height: 1,
        width: 1,
        class_names: vec!["0".into(), "1".into()],
        inputs: Values::Numbers(vec![0.5; of_sample.len()]),
        labels: (0..of_sample.len())
            .map(|sample| (sample % 2) as u8)
            .collect(),
        users: Some(Users {
            names: ["ana", "bo", "cy", "dee", "eve"]
                .map(str::to_owned)
                .to_vec(),
            of_sample,
        }),
    }
}

fn divide(
    set: &Dataset,
    devices: usize,
    data_volume: usize,
    seed: u64,
) -> Result<Partition, Error> {
    let plan = PartitionPlan {
        kind: PartitionKind::User,
        devices,
        data_volume,
        probe_samples: 10,
        uavs: 2,
        personal_samples: 5,
    };
    partition(set, &plan, &mut ChaCha8Rng::seed_from_u64(seed))
}

#[test]
fn a_device_has_samples_of_one_user_and_no_two_the_same() {
    let set = of_users();
    let users = set.users.as_ref().unwrap();
    let mut drawn = BTreeMap::new();
    for seed in 0..40 {
        let parts = divide(&set, 3, 12, seed).unwrap();
        assert_eq!(parts.devices.iter().map(Vec::len).sum::<usize>(), 12);
        let mut owners = HashSet::new();
        for own in &parts.devices {
            let of_device: HashSet<u32> = own
                .iter()
                .map(|&sample| users.of_sample[sample as usize])
                .collect();
            assert_eq!(of_device.len(), 1);
            owners.extend(of_device);
        }
        assert_eq!(owners.len(), 3);
        for owner in owners {
            *drawn.entry(owner).or_insert(0) += 1;
        }
        let all = parts
            .devices
            .iter()
            .chain(&parts.personal)
            .chain([&parts.probe]);
        let all: Vec<u32> = all.flatten().copied().collect();
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
        assert_eq!(parts, divide(&set, 3, 12, seed).unwrap());
    }
    // 24 of 40 draws are expected of each, with a deviation of 3.1.
    assert!(
        drawn.values().all(|&times| (12..=36).contains(&times)),
        "{drawn:?}"
    );
}

#[test]
fn devices_have_as_much_as_their_users_or_all_proportionally_less() {
    let set = of_users();
    let all = divide(&set, 5, 130, 1).unwrap();
    let half = divide(&set, 5, 65, 1).unwrap();
    for (whole, part) in all.devices.iter().zip(&half.devices) {
        let expected = 1.0 + (whole.len() as f64 - 1.0) * 60.0 / 125.0;
        assert!(
            (part.len() as f64 - expected).abs() < 1.0,
            "{} of {}",
            part.len(),
            whole.len()
        );
    }
    let table = all.table(&set);
    for name in ["ana", "bo", "cy", "dee", "eve"] {
        assert!(table.contains(&format!("({name})")), "{table}");
    }
}

#[test]
fn fewer_users_than_devices_or_too_few_samples_are_refused_with_both_numbers() {
    let set = of_users();
    let text = divide(&set, 6, 60, 1).unwrap_err().to_string();
    assert!(
        text.contains("6 devices") && text.contains("5 users"),
        "{text}"
    );
    let text = divide(&set, 2, 120, 1).unwrap_err().to_string();
    assert!(
        text.contains("data_volume = 120") && text.contains("the 2 users"),
        "{text}"
    );
    let none = Dataset { users: None, ..set };
    let text = divide(&none, 2, 20, 1).unwrap_err().to_string();
    assert!(
        text.contains("made") && text.contains("users.csv"),
        "{text}"
    );
}
