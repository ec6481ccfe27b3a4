//! Which instructions the compiler knows.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(has_avx512)");
    let is_x86_64 = std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "x86_64");
    if is_x86_64 && rustversion::cfg!(since(1.89)) {
        println!("cargo::rustc-cfg=has_avx512");
    }
}
