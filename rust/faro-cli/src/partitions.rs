//! Selections of partitions: numbers and ranges.

use std::fmt;
use std::ops::{Range, RangeInclusive};
use std::str::FromStr;

use crate::failure::{Failure, Outcome};

/// A range of partitions, with both ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Selection(RangeInclusive<u32>);

impl Selection {
    /// One partition.
    pub(crate) fn one(partition: u32) -> Selection {
        Selection(partition..=partition)
    }

    pub(crate) fn has(&self, partition: u32) -> bool {
        self.0.contains(&partition)
    }

    /// Whether one of these partitions is selected.
    pub(crate) fn overlaps(&self, partitions: &Range<u32>) -> bool {
        partitions.start <= *self.0.end() && *self.0.start() < partitions.end
    }
}

impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0.start(), self.0.end()) {
            (first, last) if first == last => write!(f, "{first}"),
            (first, last) => write!(f, "{first}-{last}"),
        }
    }
}

impl FromStr for Selection {
    type Err = String;

    fn from_str(text: &str) -> Result<Selection, String> {
        let number = |part: &str| {
            let wrong = |_| format!("\"{part}\" is not a partition number; write 3, 3-5 or 3,5-9");
            part.trim().parse::<u32>().map_err(wrong)
        };
        let (first, last) = match text.split_once("..").or_else(|| text.split_once('-')) {
            Some((first, last)) => (number(first)?, number(last)?),
            None => (number(text)?, number(text)?),
        };
        if first > last {
            return Err(format!("{first} is above {last}"));
        }
        Ok(Selection(first..=last))
    }
}

/// The first end of a selection that is not among these partitions.
pub(crate) fn outside(selections: &[Selection], known: &Range<u32>) -> Option<u32> {
    let ends = selections
        .iter()
        .flat_map(|Selection(range)| [*range.start(), *range.end()]);
    ends.into_iter().find(|end| !known.contains(end))
}

/// That a file does not have a partition.
pub(crate) fn no_partition(partition: u32, of_file: &Range<u32>) -> Failure {
    let (first, last) = (of_file.start, of_file.end.saturating_sub(1));
    Failure::usage(format!(
        "there is no partition {partition}: the file has {first} to {last}"
    ))
}

/// The partitions in the order in which they were selected; all partitions if none was.
pub(crate) fn select(selections: &[Selection], of_file: Range<u32>) -> Outcome<impl Iterator<Item = u32>> {
    if let Some(partition) = outside(selections, &of_file) {
        return Err(no_partition(partition, &of_file));
    }
    let chosen: Vec<RangeInclusive<u32>> = if selections.is_empty() {
        of_file
            .end
            .checked_sub(1)
            .map(|last| of_file.start..=last)
            .into_iter()
            .collect()
    } else {
        selections.iter().map(|Selection(range)| range.clone()).collect()
    };
    Ok(chosen.into_iter().flatten())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_numbers_and_ranges() {
        assert_eq!("5".parse(), Ok(Selection(5..=5)));
        assert_eq!("5..9".parse(), Ok(Selection(5..=9)));
        assert_eq!("5-9".parse(), Ok(Selection(5..=9)));
        assert_eq!(" 7".parse(), Ok(Selection(7..=7)));
        assert!("5-".parse::<Selection>().is_err());
        assert!("9..5".parse::<Selection>().is_err());
        assert!("x".parse::<Selection>().is_err());
        assert!("..5".parse::<Selection>().is_err());
    }

    #[test]
    fn selects_in_order_and_within_the_file() {
        let chosen = |texts: &[&str]| {
            let selections: Vec<Selection> = texts.iter().map(|text| text.parse().unwrap()).collect();
            select(&selections, 4..8)
                .map(|all| all.collect::<Vec<_>>())
                .map_err(|failure| failure.to_string())
        };
        assert_eq!(chosen(&["6", "4..5"]), Ok(vec![6, 4, 5]));
        assert_eq!(chosen(&[]), Ok(vec![4, 5, 6, 7]));
        assert_eq!(
            chosen(&["7..8"]),
            Err("there is no partition 8: the file has 4 to 7".to_owned())
        );
    }
}
