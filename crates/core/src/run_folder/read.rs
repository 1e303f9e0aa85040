//! A run folder read back.

use std::collections::HashMap;
use std::fmt::Display;
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::de::DeserializeOwned;

use super::{DevicesLine, damage};
use crate::Error;
use crate::record::{
    Energy, EnergyItem, Event, EventKind, RoundRecord, Sightings, Summary, Time, TimeItem,
    UavRecord, UavTime,
};
use crate::scenario::Scenario;
use crate::vocabulary::Point;
use crate::world::{DeviceId, Status, UavId};

/// A finished run: what was asked, what happened, what it came to.
#[derive(Clone, Debug, PartialEq)]
pub struct RunLog {
    /// What was run.
    pub scenario: Scenario,
    /// Every round.
    pub records: Vec<RoundRecord>,
    /// The run in one object.
    pub summary: Summary,
}

impl RunLog {
    /// Reads a run folder. A folder without `devices.jsonl` is read as if no device had been seen.
    ///
    /// # Errors
    /// When a file is missing or does not say what such a file says; the message names the line.
    pub fn read(folder: &Path) -> Result<Self, Error> {
        let mut log = Self::read_light(folder)?;
        let records = &mut log.records;
        let mut places = HashMap::new();
        for (place, record) in records.iter().enumerate() {
            places.insert(record.round, place);
        }
        let place_of = |file: &Path, line: usize, round: usize| {
            places.get(&round).copied().ok_or_else(|| Error::Log {
                path: file.into(),
                line,
                reason: format!("tells of round {round}, which rounds.csv does not have"),
            })
        };
        let (path, events) = json_lines::<Event>(folder, "events.jsonl")?;
        for (line, event) in events {
            let place = place_of(&path, line, event.round)?;
            records[place].events.push(event);
        }
        if folder.join("devices.jsonl").exists() {
            let (path, lines) = json_lines::<DevicesLine>(folder, "devices.jsonl")?;
            for (line, DevicesLine { round, seen }) in lines {
                let place = place_of(&path, line, round)?;
                records[place].devices = whole(seen.into_owned(), &path, line)?;
            }
        }
        let table = Table::read(folder, "uavs.csv")?;
        for row in table.rows() {
            let place = place_of(&table.path, row.line, row.get("round")?)?;
            records[place].uavs.push(uav(&row)?);
        }
        tell_returns(records);
        Ok(log)
    }

    /// Reads a run folder without its UAVs, devices and events: all that statistics need.
    ///
    /// # Errors
    /// As [`RunLog::read`].
    pub fn read_light(folder: &Path) -> Result<Self, Error> {
        let scenario = Scenario::load(&folder.join("scenario.toml"), &[] as &[&str])?;
        let summary = Self::read_summary(folder)?;
        let records = Self::read_rounds(folder)?;
        damage::check(folder, &scenario, &records, &summary)?;
        Ok(Self {
            scenario,
            records,
            summary,
        })
    }

    /// Reads only `rounds.csv`: rounds without their UAVs, devices and events.
    ///
    /// # Errors
    /// As [`RunLog::read`].
    pub fn read_rounds(folder: &Path) -> Result<Vec<RoundRecord>, Error> {
        rounds(&Table::read(folder, "rounds.csv")?)
    }

    /// Reads only what a run came to.
    ///
    /// # Errors
    /// When `summary.json` is missing or is none.
    pub fn read_summary(folder: &Path) -> Result<Summary, Error> {
        let (path, text) = text(folder, "summary.json")?;
        serde_json::from_str(&text).map_err(|error| Error::Log {
            path,
            line: error.line(),
            reason: error.to_string(),
        })
    }
}

fn text(folder: &Path, name: &str) -> Result<(PathBuf, String), Error> {
    let path = folder.join(name);
    let bytes = fs::read(&path).map_err(Error::io("read", &path))?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok((path, text)),
        Err(error) => {
            let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            Err(Error::Log {
                path,
                line: 1 + before.iter().filter(|&&byte| byte == b'\n').count(),
                reason: "not UTF-8 text".into(),
            })
        }
    }
}

/// One object a line, with the numbers of the lines.
type Lines<T> = (PathBuf, Vec<(usize, T)>);

fn json_lines<T: DeserializeOwned>(folder: &Path, name: &str) -> Result<Lines<T>, Error> {
    let (path, text) = text(folder, name)?;
    let mut objects = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let object = serde_json::from_str(line).map_err(|error| Error::Log {
            path: path.clone(),
            line: index + 1,
            reason: error.to_string(),
        })?;
        objects.push((index + 1, object));
    }
    Ok((path, objects))
}

/// Sightings whose lists are of one length.
fn whole(seen: Sightings, path: &Path, line: usize) -> Result<Sightings, Error> {
    let lengths = [seen.x_m.len(), seen.y_m.len(), seen.uav.len()];
    if lengths.iter().all(|length| *length == lengths[0]) && seen.every > 0 {
        return Ok(seen);
    }
    Err(Error::Log {
        path: path.into(),
        line,
        reason: format!(
            "`x_m`, `y_m` and `uav` have {lengths:?} entries and `every` is {}, allowed: as many in \
             each, and 1 or more",
            seen.every
        ),
    })
}

/// A CSV file with a header; our files quote nothing.
struct Table {
    path: PathBuf,
    columns: HashMap<String, usize>,
    text: String,
}

struct Row<'a> {
    table: &'a Table,
    line: usize,
    cells: Vec<&'a str>,
}

impl Table {
    fn read(folder: &Path, name: &str) -> Result<Self, Error> {
        let (path, text) = text(folder, name)?;
        let header = text.lines().next().unwrap_or_default().split(',');
        let columns = header
            .enumerate()
            .map(|(place, name)| (name.to_owned(), place))
            .collect();
        Ok(Self {
            path,
            columns,
            text,
        })
    }

    fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        let rows = self.text.lines().enumerate().skip(1);
        rows.map(|(index, line)| Row {
            table: self,
            line: index + 1,
            cells: line.split(',').collect(),
        })
    }
}

impl Row<'_> {
    fn refuse(&self, reason: String) -> Error {
        Error::Log {
            path: self.table.path.clone(),
            line: self.line,
            reason,
        }
    }

    fn cell(&self, column: &str) -> Result<&str, Error> {
        let place = self.table.columns.get(column);
        let cell = place.and_then(|&place| self.cells.get(place));
        cell.copied()
            .ok_or_else(|| self.refuse(format!("has no `{column}`")))
    }

    fn get<T: FromStr>(&self, column: &str) -> Result<T, Error> {
        let cell = self.cell(column)?;
        let unreadable = |_| self.refuse(format!("`{column}` is {cell:?}, allowed: a number"));
        cell.parse().map_err(unreadable)
    }

    /// A number of a range; NaN is in none.
    fn within<T>(&self, column: &str, range: RangeInclusive<T>) -> Result<T, Error>
    where
        T: FromStr + PartialOrd + Display,
    {
        let value = self.get(column)?;
        if range.contains(&value) {
            return Ok(value);
        }
        let (from, to) = range.into_inner();
        let allowed = match from == to {
            true => from.to_string(),
            false => format!("{from} to {to}"),
        };
        Err(self.refuse(format!("`{column}` is {value}, allowed: {allowed}")))
    }

    fn energy(&self) -> Result<Energy, Error> {
        let mut energy = Energy::default();
        for item in EnergyItem::ALL {
            energy.add(item, self.get(item.name())?);
        }
        Ok(energy)
    }

    fn uav_time(&self) -> Result<UavTime, Error> {
        let mut time = UavTime::default();
        for (item, column) in UavTime::columns() {
            time.add(item, self.get(&column)?);
        }
        Ok(time)
    }

    fn time(&self) -> Result<Time, Error> {
        let mut time = Time::default();
        for item in TimeItem::ALL {
            time.add(item, self.get(item.name())?);
        }
        Ok(time)
    }
}

fn rounds(table: &Table) -> Result<Vec<RoundRecord>, Error> {
    let mut records: Vec<RoundRecord> = Vec::new();
    for row in table.rows() {
        let before = records.last();
        let (clock_s, energy_j) = before.map_or((0.0, 0.0), |before| {
            (before.clock_s, before.cumulative_energy_j)
        });
        let round = records.len() + 1;
        let record = RoundRecord {
            round: row.within("round", round..=round)?,
            clock_s: row.within("clock_s", clock_s..=f64::INFINITY)?,
            cumulative_energy_j: row.within("cumulative_energy_j", energy_j..=f64::INFINITY)?,
            time: row.time()?,
            energy: row.energy()?,
            edge_rounds: row.get("edge_rounds")?,
            covered: row.get("covered")?,
            selected: row.get("selected")?,
            updates_computed: row.get("updates_computed")?,
            updates_lost: row.get("updates_lost")?,
            aggregator: match row.cell("aggregator")? {
                "" => None,
                _ => Some(UavId(row.get("aggregator")?)),
            },
            model_change: row.get("model_change")?,
            train_loss: row.get("train_loss")?,
            validation_loss: row.get("validation_loss")?,
            validation_accuracy: row.get("validation_accuracy")?,
            test_loss: row.get("test_loss")?,
            test_accuracy: row.within("test_accuracy", 0.0..=1.0)?,
            uavs: Vec::new(),
            devices: Sightings::default(),
            events: Vec::new(),
        };
        records.push(record);
    }
    Ok(records)
}

fn uav(row: &Row) -> Result<UavRecord, Error> {
    let mut devices = Vec::new();
    for id in row.cell("devices")?.split_ascii_whitespace() {
        let id = id.parse().map_err(|_| {
            row.refuse(format!("`devices` has {id:?}, allowed: numbers of devices"))
        })?;
        devices.push(DeviceId(id));
    }
    let selected: usize = row.within("selected", devices.len()..=usize::MAX)?;
    Ok(UavRecord {
        unlisted: selected - devices.len(),
        uav: UavId(row.get("uav")?),
        status: match row.cell("status")? {
            "active" => Status::Active,
            // The event of its leaving says when it returns.
            "away" => Status::Away {
                returns_at_s: f64::NAN,
            },
            // That of its setting off says when it arrives.
            "flying" => Status::Flying {
                arrives_at_s: f64::NAN,
            },
            "grounded" => Status::Grounded,
            "lost" => Status::Lost,
            other => {
                return Err(row.refuse(format!(
                    "`status` is {other:?}, allowed: active, away, flying, grounded, lost"
                )));
            }
        },
        position_m: Point::new(row.get("x_m")?, row.get("y_m")?),
        covered: row.get("covered")?,
        devices,
        local_iterations: row.get("local_iterations")?,
        edge_time_s: row.get("edge_time_s")?,
        battery_before_j: row.get("battery_before_j")?,
        battery_after_j: row.get("battery_after_j")?,
        recharged_j: row.get("recharged_j")?,
        harvested_j: row.get("harvested_j")?,
        energy: row.energy()?,
        time: row.uav_time()?,
        away_s: row.get("away_s")?,
    })
}

/// Fills in when UAVs that are away return, and when those in flight arrive.
fn tell_returns(records: &mut [RoundRecord]) {
    let mut returns = HashMap::new();
    for record in records {
        for event in &record.events {
            if let EventKind::UavLeft {
                uav,
                returns_at_s: Some(at_s),
            }
            | EventKind::UavMoved {
                uav,
                arrives_at_s: Some(at_s),
                ..
            } = event.kind
            {
                returns.insert(uav, at_s);
            }
        }
        for uav in &mut record.uavs {
            if let (
                Status::Away { returns_at_s: at_s } | Status::Flying { arrives_at_s: at_s },
                Some(&known_s),
            ) = (&mut uav.status, returns.get(&uav.uav))
            {
                *at_s = known_s;
            }
        }
    }
}
