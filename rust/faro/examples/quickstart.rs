//! Writes a shuffle output and reads one partition back.

use faro::{Files, Reader, ReaderOptions, Writer, WriterOptions};

fn main() -> faro::Result<()> {
    let mut writer = Writer::create("orders", WriterOptions::new(64))?;
    writer.write(7, b"for partition 7")?;
    writer.broadcast(b"for every partition")?;
    writer.finish()?; // orders.data and orders.index now exist

    let reader = Reader::open(&Files::paired("orders"), ReaderOptions::default())?;
    for record in reader.records(7)? {
        println!("{}", String::from_utf8_lossy(&record?));
    }
    Ok(())
}
