//! Decimal numbers as text, exactly.

/// Reads a number such as `-12.50` or `125e-1`. Returns its unscaled value and the smallest possible scale; none if it
/// is not a number, or does not fit into 128 bits and a scale of 8 bits.
pub(super) fn parse(text: &str) -> Option<(i128, i8)> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (negative, digits) = match mantissa.as_bytes().first()? {
        b'-' => (true, &mantissa[1..]),
        b'+' => (false, &mantissa[1..]),
        _ => (false, mantissa),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let fraction = if fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        fraction.trim_end_matches('0')
    } else {
        return None;
    };
    let mut unscaled = 0i128;
    for byte in whole.bytes().chain(fraction.bytes()) {
        let digit = i128::from(byte.is_ascii_digit().then(|| byte - b'0')?);
        let digit = if negative { -digit } else { digit };
        unscaled = unscaled.checked_mul(10)?.checked_add(digit)?;
    }
    if unscaled == 0 {
        return Some((0, 0));
    }
    let scale = i32::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
    Some((unscaled, i8::try_from(scale).ok()?))
}

/// The same number with another scale; none if that would not be exact.
pub(super) fn rescale(unscaled: i128, scale: i8, to: i8) -> Option<i128> {
    let power = |digits: i32| 10i128.checked_pow(digits.unsigned_abs());
    match i32::from(to) - i32::from(scale) {
        _ if unscaled == 0 => Some(0),
        up @ 0.. => unscaled.checked_mul(power(up)?),
        down => power(down)
            .filter(|power| unscaled % power == 0)
            .map(|power| unscaled / power),
    }
}

/// The number as text, without an exponent.
pub(super) fn show(unscaled: i128, scale: i8) -> String {
    if scale <= 0 && unscaled != 0 {
        return format!("{unscaled}{}", "0".repeat(usize::from(scale.unsigned_abs())));
    }
    let scale = usize::from(scale.max(0).unsigned_abs());
    if scale == 0 {
        return unscaled.to_string();
    }
    let digits = format!("{:0>width$}", unscaled.unsigned_abs(), width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    let sign = if unscaled < 0 { "-" } else { "" };
    format!("{sign}{whole}.{fraction}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_numbers_exactly() {
        assert_eq!(parse("12.50"), Some((125, 1)));
        assert_eq!(parse("-.5"), Some((-5, 1)));
        assert_eq!(parse("+7."), Some((7, 0)));
        assert_eq!(parse("1.5e3"), Some((15, -2)));
        assert_eq!(parse("0e99999"), Some((0, 0)));
        assert_eq!(parse(&i128::MIN.to_string()), Some((i128::MIN, 0)));
        for wrong in [
            "", "-", ".", "1e", "e1", "1.2.3", "1,5", "0x1", "--1", "NaN", "1e200", "1 ", "1.-5", "1_0",
        ] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
        assert_eq!(parse(&format!("{}0", i128::MAX)), None);
    }

    #[test]
    fn changes_scales_without_rounding() {
        assert_eq!(rescale(15, 1, 2), Some(150));
        assert_eq!(rescale(1500, 3, 2), Some(150));
        assert_eq!(rescale(1505, 3, 2), None);
        assert_eq!(rescale(i128::MAX, 0, 1), None);
        assert_eq!(rescale(0, -128, 127), Some(0));
    }

    #[test]
    fn shows_numbers() {
        assert_eq!(show(-5, 2), "-0.05");
        assert_eq!(show(12345, 2), "123.45");
        assert_eq!(show(7, -2), "700");
        assert_eq!(show(0, -2), "0");
        assert_eq!(show(0, 2), "0.00");
    }
}
