//! The size of each struct and the offset of each field, as in the comments of `schema/faro.fbs`.
//!
//! Byte i of each struct is i, so the value of a field shows its offset. `flatc --conform` does not notice a struct
//! that grew; these tests, which the Java and Python libraries also have, do.

use crate::generated::{BlockHeader, FileHeader, FragmentEnd, RegionEntry, Run, Tail};

fn counting<const N: usize>(from: u8) -> [u8; N] {
    std::array::from_fn(|i| from + i as u8)
}

#[test]
fn file_header() {
    let built = FileHeader::new(
        &counting(0),
        8,
        9,
        10,
        11,
        0x0f0e_0d0c,
        0x1312_1110,
        0x1716_1514,
        0x1f1e_1d1c_1b1a_1918,
        0x2726_2524_2322_2120,
        &counting(40),
        0x3b3a_3938,
        0x3f3e_3d3c,
    );
    assert_eq!(built.0, counting::<64>(0));
    assert_eq!(built.partition_count(), 0x0f0e_0d0c);
    assert_eq!(built.attempt(), 0x2726_2524_2322_2120);
    assert_eq!(built.first_partition(), 0x3b3a_3938);
    assert_eq!(built.file_id().iter().collect::<Vec<_>>(), counting::<16>(40));
}

#[test]
fn block_header() {
    let built = BlockHeader::new(
        0x0302_0100,
        0x0706_0504,
        0x0b0a_0908,
        0x0f0e_0d0c,
        16,
        17,
        0x1312,
        0x1716_1514,
    );
    assert_eq!(built.0, counting::<24>(0));
}

#[test]
fn tail() {
    let built = Tail::new(0x0706_0504_0302_0100, 0x0b0a_0908, 0x0f0e_0d0c, &counting(16));
    assert_eq!(built.0, counting::<24>(0));
}

#[test]
fn run() {
    let built = Run::new(
        0x0706_0504_0302_0100,
        0x0f0e_0d0c_0b0a_0908,
        0x1312_1110,
        0x1716_1514,
        0x1b1a_1918,
        0x1f1e_1d1c,
    );
    assert_eq!(built.0, counting::<32>(0));
}

#[test]
fn fragment_end() {
    let built = FragmentEnd::new(0x0706_0504_0302_0100, 0x0b0a_0908, 0x0f0e_0d0c);
    assert_eq!(built.0, counting::<16>(0));
}

#[test]
fn region_entry() {
    let built = RegionEntry::new(
        0x0706_0504_0302_0100,
        0x0b0a_0908,
        0x0f0e_0d0c,
        0x1716_1514_1312_1110,
        0x1f1e_1d1c_1b1a_1918,
    );
    assert_eq!(built.0, counting::<32>(0));
}
