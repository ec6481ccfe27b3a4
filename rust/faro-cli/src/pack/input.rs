//! An input of any format, ready to be read.

use indicatif::ProgressBar;

use super::args::PackArgs;
use super::arrow_input::ArrowInput;
use super::json_key::Missing;
use super::key_type::KeyType;
use super::source::{Format, Source};
use super::text_input::TextInput;
use crate::failure::Outcome;

/// Records or batches, with their keys.
pub(super) enum Input {
    Text(TextInput),
    Arrow(ArrowInput),
}

impl Input {
    /// Reads the header or the schema, and finds the key's columns there.
    pub(super) fn open(source: Source, args: &PackArgs, progress: &ProgressBar) -> Outcome<Input> {
        Ok(if source.format.is_text() {
            Input::Text(TextInput::open(source, args, progress)?)
        } else {
            Input::Arrow(ArrowInput::open(source, args, progress)?)
        })
    }

    /// The input's format.
    pub(super) fn format(&self) -> Format {
        match self {
            Input::Text(input) => input.format,
            Input::Arrow(input) => input.format,
        }
    }

    /// The types of the key's values; none for a JSON value of unknown type.
    pub(super) fn types(&self) -> Vec<Option<KeyType>> {
        match self {
            Input::Text(input) => input.key.types(),
            Input::Arrow(input) => input.types(),
        }
    }

    /// Requires these types of JSON values for which the caller named none.
    pub(super) fn expect(&mut self, types: &[KeyType]) {
        if let Input::Text(input) = self {
            input.expect(types);
        }
    }

    /// Passes the keys of all rows to `then`, one after another.
    pub(super) fn keys(&mut self, mut then: impl FnMut(&[faro::key::KeyValue<'_>])) -> Outcome {
        match self {
            Input::Text(input) => {
                while input.next(&mut then)?.is_some() {
                    crate::signals::check()?;
                }
            }
            Input::Arrow(input) => {
                while input.next(&mut then)?.is_some() {
                    crate::signals::check()?;
                }
            }
        }
        Ok(())
    }

    /// The values of the key that some records lack, after all were read.
    ///
    /// # Errors
    ///
    /// A value that no record has, with the names that exist: most likely a name was mistyped.
    pub(super) fn missing(&self) -> Outcome<Vec<Missing>> {
        match self {
            Input::Text(input) => input.missing(),
            Input::Arrow(_) => Ok(Vec::new()),
        }
    }
}
