//! The regions that were committed last: a reader that takes over a finished output need not read them.

use crate::message::Region;
use std::collections::VecDeque;

/// The most memory for these regions, in bytes, by the sizes of their messages.
const MOST: usize = 1 << 20;

/// The contents of the last region messages, as many as fit into 1 MiB.
#[derive(Debug, Default)]
pub(super) struct RecentRegions {
    regions: VecDeque<(Region, usize)>,
    bytes: usize,
}

impl RecentRegions {
    /// Adds the next region; `size` is the size of its message. A region that is too large displaces all, itself too.
    pub(super) fn push(&mut self, region: Region, size: usize) {
        let size = size + size_of::<Region>();
        self.bytes += size;
        self.regions.push_back((region, size));
        while self.bytes > MOST
            && let Some((_, size)) = self.regions.pop_front()
        {
            self.bytes -= size;
        }
    }

    /// Takes the regions out, in ascending order.
    pub(super) fn take(&mut self) -> Vec<Region> {
        self.bytes = 0;
        self.regions.drain(..).map(|(region, _)| region).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(sizes: &[usize]) -> Vec<u32> {
        let mut recent = RecentRegions::default();
        for (sequence, size) in (0..).zip(sizes) {
            let region = Region {
                sequence,
                ..Region::default()
            };
            recent.push(region, *size);
        }
        recent.take().iter().map(|region| region.sequence).collect()
    }

    #[test]
    fn the_last_regions_stay_while_they_fit() {
        let half = MOST / 2 - size_of::<Region>();
        assert_eq!(kept(&[100, 200, 300]), [0, 1, 2]);
        assert_eq!(kept(&[half, half]), [0, 1]);
        assert_eq!(kept(&[half, half, 100]), [1, 2]);
        assert_eq!(kept(&[100, 100, MOST]), [] as [u32; 0]);
        assert_eq!(kept(&[MOST, 100]), [1]);
    }
}
