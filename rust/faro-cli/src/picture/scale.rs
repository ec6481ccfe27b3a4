//! Colours, ticks and texts of the picture.

/// From few bytes to many: light yellow, green, blue, dark violet. The ramp also works in grey and for colour-blind
/// people.
const RAMP: [(f64, [f64; 3]); 5] = [
    (0.0, [237.0, 243.0, 204.0]),
    (0.25, [151.0, 212.0, 160.0]),
    (0.5, [55.0, 152.0, 160.0]),
    (0.75, [49.0, 86.0, 146.0]),
    (1.0, [46.0, 20.0, 92.0]),
];

/// The shade of a size between 0 and the largest, by its square root, so that small sizes still differ.
pub(super) fn shade(bytes: u64, darkest: u64) -> f64 {
    (bytes as f64 / darkest.max(1) as f64).sqrt()
}

/// The colour of a shade from 0 to 1.
pub(super) fn colour(shade: f64) -> String {
    let above = RAMP
        .iter()
        .position(|(place, _)| *place >= shade)
        .unwrap_or(RAMP.len() - 1)
        .max(1);
    let ((low, from), (high, to)) = (RAMP[above - 1], RAMP[above]);
    let t = ((shade - low) / (high - low)).clamp(0.0, 1.0);
    let mix = |i: usize| (from[i] + (to[i] - from[i]) * t).round() as u8;
    format!("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2))
}

/// At most `most` positions out of `n`, at even distances of a round step.
pub(super) fn ticks(n: usize, most: usize) -> impl Iterator<Item = usize> {
    let least = n.div_ceil(most.max(1)).max(1);
    let steps = (0..).flat_map(|power| [1, 2, 5].map(|digit| digit * 10usize.pow(power)));
    let step = steps.take(30).find(|step| *step >= least).unwrap_or(least);
    (0..n).step_by(step)
}

/// A share in percent.
pub(super) fn percent(share: f64) -> String {
    if share < 0.0995 {
        format!("{:.1}%", share * 100.0)
    } else {
        format!("{:.0}%", share * 100.0)
    }
}

/// Text for XML, without the control characters that XML forbids (and SEC-4 does).
pub(super) fn quote(text: &str) -> String {
    crate::escape::escape(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
