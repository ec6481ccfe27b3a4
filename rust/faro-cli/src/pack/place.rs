//! Where a key is: the partition that `pack` put its rows in.

use std::path::Path;

use faro::key::{self, KeyValue};
use faro::{Framing, Reader};
use serde::Serialize;
use serde_json::Value as Json;

use super::args::By;
use super::bounds::{Bounds, GivenKey};
use super::columns;
use super::json_key::type_of;
use super::key_type::KeyType;
use super::partitioner::{OwnedKey, Partitioner};
use super::stored_key::by_of;
use super::value::OwnedValue;
use crate::failure::{Failure, Outcome};
use crate::rows::property;

/// The partition of a key, and how it was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Placed {
    pub partition: u32,
    pub columns: Vec<PlacedColumn>,
    #[serde(flatten)]
    pub method: Placing,
}

/// A column of the key.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct PlacedColumn {
    pub name: String,
    pub r#type: String,
    /// Whether the type is what the value looks like: neither the output nor the caller named one.
    pub by_look: bool,
    pub value: Json,
}

/// How a key becomes a partition.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "method", rename_all = "lowercase")]
pub(crate) enum Placing {
    Hash {
        /// XXH64 of the key, in hexadecimal.
        hash: String,
        /// The hash is taken modulo these.
        partitions: u32,
    },
    Range {
        bounds: usize,
        /// The bound at or before the key; none in the first partition.
        from: Option<String>,
        /// The bound after the key; none in the last partition.
        to: Option<String>,
    },
}

/// What is known of the key: the text from the caller, the columns if the caller named them, and the partitions of the
/// whole shuffle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    pub key: &'a str,
    pub by: &'a [By],
    pub partitions: u32,
}

impl Place<'_> {
    /// Finds the partition of the key by the properties of an output. `name` is the output's, for errors.
    pub(crate) fn find(&self, reader: &Reader, name: &Path) -> Outcome<Placed> {
        let recorded = by_of(reader)?;
        let (Some(recorded), Some(method)) = (recorded, property(reader, "faro.pack.method")) else {
            return Err(Failure::usage(format!(
                "{}: it does not say how keys became partitions: `faro pack` did not write it",
                name.display()
            )));
        };
        let by = self.columns(recorded)?;
        let mut types = types(reader, &by)?;
        let given = GivenKey::parse(self.key, by.len()).map_err(wrong_key)?;
        if method == "hash" {
            let values = given.values(&types).map_err(wrong_key)?;
            let mut encoded = Vec::new();
            values.iter().for_each(|value| value.borrow().encode(&mut encoded));
            let hash = key::hash(&encoded);
            return Ok(Placed {
                partition: key::partition_of(hash, 0, self.partitions.max(1)),
                columns: described(&by, &types, &values),
                method: Placing::Hash {
                    hash: format!("{hash:016x}"),
                    partitions: self.partitions,
                },
            });
        }
        let damaged = |what: String| Failure::input(name, None, format!("the property faro.pack.bounds: {what}"));
        let text = property(reader, "faro.pack.bounds").unwrap_or("[]");
        let bounds = Bounds::of_property(text, by.len()).map_err(damaged)?;
        let (keys, of_bounds) = bounds.typed(&types).map_err(|failure| damaged(failure.to_string()))?;
        for (kind, bound) in types.iter_mut().zip(&of_bounds) {
            // Without bounds, every type will do.
            *kind = kind.or(Some(*bound).filter(|bound| *bound != KeyType::Null));
        }
        let values = given.values(&types).map_err(wrong_key)?;
        let borrowed: Vec<KeyValue<'_>> = values.iter().map(OwnedValue::borrow).collect();
        let partitioner = Partitioner::Range {
            bounds: keys,
            types: of_bounds,
        };
        let partition = partitioner.partition(&borrowed, &mut Vec::new());
        let columns = described(&by, &types, &values);
        let before = |number: u32| number.checked_sub(1).and_then(|bound| bounds.shown(bound as usize));
        let method = Placing::Range {
            bounds: bounds.partitions() as usize - 1,
            from: before(partition),
            to: bounds.shown(partition as usize),
        };
        Ok(Placed {
            partition,
            columns,
            method,
        })
    }

    /// The columns, with the types that the caller named.
    fn columns(&self, recorded: Vec<By>) -> Outcome<Vec<By>> {
        if self.by.is_empty() {
            return Ok(recorded);
        }
        let names = |by: &[By]| by.iter().map(|by| by.name.clone()).collect::<Vec<_>>();
        if names(self.by) != names(&recorded) {
            let columns = names(&recorded).join(", ");
            return Err(Failure::usage(format!("--by: the columns of the key are: {columns}")));
        }
        Ok(self.by.to_vec())
    }
}

fn wrong_key(what: String) -> Failure {
    Failure::usage(format!("--key: {what}"))
}

/// The types of the columns; none for JSON values whose type was not named.
fn types(reader: &Reader, by: &[By]) -> Outcome<Vec<Option<KeyType>>> {
    if reader.header().framing == Framing::Arrow {
        let schema = reader.arrow_schema()?;
        let positions = columns::find(&schema, by).map_err(Failure::usage)?;
        let kind = |position: usize| KeyType::of_arrow(schema.field(position).data_type());
        return Ok(positions.into_iter().map(kind).collect());
    }
    let is_json = property(reader, "faro.pack.format") == Some("jsonl");
    let usual = (!is_json).then_some(KeyType::Text);
    Ok(by.iter().map(|by| by.kind.or(usual)).collect())
}

fn described(by: &[By], types: &[Option<KeyType>], values: &OwnedKey) -> Vec<PlacedColumn> {
    let columns = by.iter().zip(types).zip(values);
    columns
        .map(|((by, kind), value)| {
            let look = kind.or_else(|| type_of(&value.borrow()));
            let shown = look.unwrap_or(KeyType::Null);
            PlacedColumn {
                name: by.name.clone(),
                r#type: shown.to_string(),
                by_look: kind.is_none(),
                value: shown.show(value),
            }
        })
        .collect()
}
