//! Reads a partition with tokio: `tokio_partition NAME PARTITION`.

use faro::storage::AsyncStoredOutput;
use faro::{AsyncReader, Files};

/// The number of blocks, and of the bytes in them.
pub(crate) async fn read(name: &str, partition: u32) -> faro::Result<(u64, u64)> {
    let output = AsyncStoredOutput::open_local(&Files::locate(name)?).await?;
    let reader = AsyncReader::open(output, Default::default()).await?;
    let mut blocks = reader.partition(partition)?;
    let (mut count, mut bytes) = (0, 0);
    while let Some(block) = blocks.next().await {
        count += 1;
        bytes += block?.payload.len() as u64;
    }
    Ok((count, bytes))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, partition] = &arguments[..] else {
        return Err("usage: tokio_partition NAME PARTITION".into());
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let (count, bytes) = runtime.block_on(read(name, partition.parse()?))?;
    println!("partition {partition}: {count} blocks with {bytes} bytes");
    Ok(())
}
