//! Sizes and counts in the form that people use.

/// Reads a size such as `65536`, `64KiB`, `64k` or `1.5 GiB`. Units are powers of 1024, with or without `i` and `B`.
pub(crate) fn parse_size(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let digits = text
        .find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let shift = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        _ => return Err(format!("\"{unit}\" is not a unit: use B, KiB, MiB, GiB or TiB")),
    };
    let number = number.replace('_', "");
    let wrong = || format!("\"{text}\" is not a size: write for example 64MiB");
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(1 << shift).ok_or_else(wrong);
    }
    let fraction: f64 = number.parse().map_err(|_| wrong())?;
    let bytes = fraction * (1u64 << shift) as f64;
    if bytes < 9e18 { Ok(bytes as u64) } else { Err(wrong()) }
}

/// A size with three significant digits: `823 B`, `64.0 KiB`.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let digits = if value < 9.995 {
        2
    } else if value < 99.95 {
        1
    } else {
        0
    };
    format!("{value:.digits$} {}", UNITS[unit])
}

/// A count with separated thousands: `1,234,567`.
pub(crate) fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// "1 region", "2 regions".
pub(crate) fn plural(n: u64, word: &str) -> String {
    let s = if n == 1 { "" } else { "s" };
    format!("{} {word}{s}", count(n))
}

/// A ratio of two sizes, such as `3.42`; none when one is 0.
pub(crate) fn ratio(plain: u64, stored: u64) -> Option<f64> {
    (stored > 0 && plain > 0).then(|| plain as f64 / stored as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_sizes() {
        assert_eq!(parse_size("65536"), Ok(65536));
        assert_eq!(parse_size("64KiB"), Ok(65536));
        assert_eq!(parse_size("64 k"), Ok(65536));
        assert_eq!(parse_size("1.5m"), Ok(1_572_864));
        assert!(parse_size("").is_err());
        assert!(parse_size("12 parsecs").is_err());
        assert!(parse_size("99999999999G").is_err());
    }

    #[test]
    fn shows_sizes_and_counts() {
        assert_eq!(size(0), "0 B");
        assert_eq!(size(1023), "1023 B");
        assert_eq!(size(65536), "64.0 KiB");
        assert_eq!(size(1024 * 1000), "0.98 MiB");
        assert_eq!(count(1), "1");
        assert_eq!(count(1234567), "1,234,567");
        assert_eq!(plural(1, "region"), "1 region");
    }
}
