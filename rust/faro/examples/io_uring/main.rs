//! Reads a partition through a ring of the Linux kernel: `io_uring NAME PARTITION`.

#[cfg(target_os = "linux")]
mod ring;

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, partition] = &arguments[..] else {
        return Err("usage: io_uring NAME PARTITION".into());
    };
    if let Some((blocks, bytes)) = ring::read(name, partition.parse()?)? {
        println!("partition {partition}: {blocks} blocks with {bytes} bytes");
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("io_uring is a part of Linux");
}
