//! A spill gives memory back to the system, not only to the budget. The test is alone, since it looks at the process.

#![cfg(target_os = "linux")]

mod budget;
mod common;

use budget::Limited;
use common::{Place, options};
use faro::{Layout, Writer};

/// The resident memory of the process, in bytes.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

#[test]
fn resident_memory_falls_after_a_spill() {
    const MIB: u64 = 1 << 20;
    let place = Place::new();
    let written = options(Layout::Paired, 16);
    let budget = Limited::new(written.working_memory() + 16 * MIB);
    let mut writer = Writer::create(place.name(), written.memory_budget(budget.clone())).unwrap();
    let (mut spills, mut before) = (0, (0, 0));
    for number in 0..400_000u32 {
        writer.write(number % 16, &[7; 200]).unwrap();
        let now = (writer.memory_used(), resident());
        if now.0 < before.0 {
            assert!(before.0 - now.0 >= 15 * MIB, "{before:?} {now:?}");
            assert!(before.1 >= now.1 + 12 * MIB, "{before:?} {now:?}");
            spills += 1;
        }
        before = now;
    }
    assert!(spills >= 4, "{spills}");
    assert!(writer.finish().unwrap().regions as u64 >= spills);
    assert_eq!(budget.held(), 0);
}
