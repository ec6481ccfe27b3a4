//! The page: markup, style and script in one file, with a content security policy that allows nothing else.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::model::Report;
use crate::failure::{Failure, Outcome};

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/viewer.css");
const SCRIPT: &str = include_str!("page/viewer.js");

/// The whole page.
pub(super) fn html(report: &Report) -> Outcome<String> {
    let json = serde_json::to_string(report).map_err(|error| Failure::usage(error.to_string()))?;
    // One pass from left to right, so that no text of an output is taken for a placeholder.
    let mut page = String::with_capacity(PAGE.len() + STYLE.len() + SCRIPT.len() + json.len());
    let mut rest = PAGE;
    while let Some((at, place)) = first_place(rest) {
        page.push_str(&rest[..at]);
        match place {
            "STYLE_HASH" => page.push_str(&hash(STYLE)),
            "SCRIPT_HASH" => page.push_str(&hash(SCRIPT)),
            "STYLE" => page.push_str(STYLE),
            "SCRIPT" => page.push_str(SCRIPT),
            "TITLE" => page.push_str(&markup(&report.title)),
            _ => page.push_str(&script_data(&json)),
        }
        rest = &rest[at + place.len()..];
    }
    page.push_str(rest);
    Ok(page)
}

/// The places in the page's markup. A longer one is before its beginning.
const PLACES: [&str; 6] = ["STYLE_HASH", "SCRIPT_HASH", "STYLE", "SCRIPT", "TITLE", "REPORT"];

fn first_place(text: &str) -> Option<(usize, &'static str)> {
    let found = PLACES
        .iter()
        .filter_map(|place| text.find(place).map(|at| (at, *place)));
    found.min_by_key(|(at, place)| (*at, std::cmp::Reverse(place.len())))
}

/// Text as markup.
pub(super) fn markup(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in crate::escape::escape(text).chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            c => safe.push(c),
        }
    }
    safe
}

/// JSON inside a script element: no text of it can end the element.
fn script_data(json: &str) -> String {
    json.replace('<', "\\u003c")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

/// The hash of a source that the policy allows.
fn hash(source: &str) -> String {
    STANDARD.encode(Sha256::digest(source.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::model::Subject;

    #[test]
    fn text_of_an_output_is_no_markup_and_no_placeholder() {
        let name = "</script><b>SCRIPT TITLE & \"x\"";
        let report = Report {
            version: 1,
            title: format!("Faro: {name}"),
            made: "REPORT".to_owned(),
            subjects: vec![Subject {
                name: name.to_owned(),
                ..Subject::default()
            }],
        };
        let page = html(&report).unwrap();
        assert_eq!(page.matches("</script>").count(), 2, "only those of the page");
        assert!(!page.contains("<b>"));
        assert!(page.contains("<title>Faro: &lt;/script&gt;&lt;b&gt;SCRIPT TITLE &amp; &quot;x&quot;</title>"));
        let data = page
            .split("id=\"report\">")
            .nth(1)
            .unwrap()
            .split("</script>")
            .next()
            .unwrap();
        let read: serde_json::Value = serde_json::from_str(data).unwrap();
        assert_eq!(read["subjects"][0]["name"], name);
        assert_eq!(read["made"], "REPORT");
    }
}
