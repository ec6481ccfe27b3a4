//! The picture as SVG.

use std::fmt::Write as _;

use super::grid::Grid;
use super::scale::{colour, percent, quote, ticks};
use crate::units::{count, plural, size};

/// A share of the files' bytes, for the bar at the bottom.
pub(crate) struct Part {
    pub name: &'static str,
    pub bytes: u64,
}

const WIDTH: f64 = 1100.0;
const LEFT: f64 = 70.0;
const MAP_WIDTH: f64 = 760.0;
const SHARED_LEFT: f64 = LEFT + MAP_WIDTH + 8.0;
const SHARED_WIDTH: f64 = 26.0;
const BARS_LEFT: f64 = SHARED_LEFT + SHARED_WIDTH + 14.0;
const BARS_WIDTH: f64 = 130.0;
const TOP_BARS: f64 = 96.0;
const TOP_BARS_HEIGHT: f64 = 80.0;
const MAP_TOP: f64 = TOP_BARS + TOP_BARS_HEIGHT + 10.0;

const STYLE: &str = "\
text{font-family:'DejaVu Sans',Verdana,Helvetica,sans-serif;font-size:12px;fill:#333}\
.title{font-size:20px;font-weight:bold;fill:#111}.sub{font-size:13px;fill:#555}.axis{fill:#555}.small{font-size:11px;fill:#666}";

const BAR: &str = "#3798a0";
const BAR_LIGHT: &str = "#b9dfdc";
const SHARED: &str = "#e8833a";
const EMPTY: &str = "#f7f7f5";
const PARTS: [&str; 6] = ["#315692", "#e8833a", "#97d4a0", "#c9b458", "#8b6fb3", "#c44e52"];

/// Draws the picture of the output `name`; `parts` are the shares of its files' bytes, if they are shown.
pub(crate) fn svg(name: &str, grid: &Grid, parts: &[Part]) -> String {
    let row_height = (420.0 / grid.rows.len().max(1) as f64).clamp(3.0, 24.0);
    let map_height = row_height * grid.rows.len().max(1) as f64;
    let legend_top = MAP_TOP + map_height + 62.0;
    let height = legend_top + if parts.is_empty() { 52.0 } else { 136.0 };
    let mut drawing = Drawing {
        text: String::new(),
        grid,
        row_height,
        map_height,
    };
    drawing.title(name);
    drawing.partition_bars();
    drawing.map();
    drawing.axes();
    drawing.region_bars();
    drawing.legend(legend_top);
    if !parts.is_empty() {
        drawing.parts(legend_top + 62.0, parts);
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height:.0}\" width=\"{WIDTH}\" \
         height=\"{height:.0}\">\n<style>{STYLE}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{}</svg>\n",
        drawing.text
    )
}

struct Drawing<'a> {
    text: String,
    grid: &'a Grid,
    row_height: f64,
    map_height: f64,
}

impl Drawing<'_> {
    fn rect(&mut self, x: f64, y: f64, width: f64, height: f64, fill: &str, hint: &str) {
        // Writing to a String cannot fail, here and below.
        let _ = write!(
            self.text,
            "<rect x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" height=\"{height:.2}\" fill=\"{fill}\""
        );
        if hint.is_empty() {
            self.text.push_str("/>\n");
        } else {
            let _ = writeln!(self.text, "><title>{}</title></rect>", quote(hint));
        }
    }

    fn label(&mut self, x: f64, y: f64, anchor: &str, class: &str, text: &str) {
        let text = quote(text);
        let _ = writeln!(
            self.text,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" class=\"{class}\">{text}</text>"
        );
    }

    fn line(&mut self, x1: f64, y1: f64, x2: f64, y2: f64, dash: &str) {
        let _ = writeln!(
            self.text,
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"#888\" stroke-width=\"1\" \
             stroke-dasharray=\"{dash}\"/>"
        );
    }

    fn title(&mut self, name: &str) {
        let grid = self.grid;
        self.label(LEFT, 34.0, "start", "title", name);
        let stored = size(grid.own + grid.shared);
        let (regions, partitions) = (
            plural(grid.regions as u64, grid.names.word),
            plural(grid.partitions.into(), "partition"),
        );
        let mut text = format!("{stored} of blocks in {regions} for {partitions}");
        if grid.own > 0 {
            let (partition, bytes) = grid.heaviest;
            let times = bytes as f64 / grid.mean();
            let _ = write!(
                text,
                ". Largest: partition {partition} with {}, {times:.1} times the mean",
                size(bytes)
            );
        }
        if grid.empty_partitions > 0 {
            let _ = write!(text, "; {} own nothing", count(grid.empty_partitions.into()));
        }
        self.label(LEFT, 56.0, "start", "sub", &text);
    }

    fn column_width(&self) -> f64 {
        MAP_WIDTH / self.grid.columns.len().max(1) as f64
    }

    /// The gap between cells; 0 when they are narrow.
    fn gap(extent: f64) -> f64 {
        if extent >= 6.0 { 1.0 } else { 0.0 }
    }

    fn partition_bars(&mut self) {
        let (grid, width) = (self.grid, self.column_width());
        let largest = grid.columns.iter().map(|column| column.largest).max().unwrap_or(0);
        let base = TOP_BARS + TOP_BARS_HEIGHT;
        let text = match grid.in_column() {
            1 => format!("stored bytes of each partition, all {}s", grid.names.word),
            n => format!(
                "stored bytes of {n} partitions at a time, all {}s: the largest (light), the mean (dark)",
                grid.names.word
            ),
        };
        self.label(LEFT, TOP_BARS - 10.0, "start", "small", &text);
        self.label(LEFT - 8.0, TOP_BARS + 9.0, "end", "small", &size(largest));
        if largest == 0 {
            return;
        }
        let scale = TOP_BARS_HEIGHT / largest as f64;
        for (i, column) in grid.columns.iter().enumerate() {
            let x = LEFT + i as f64 * width;
            let hint = format!("{}: {}", self.partitions_text(i), size(column.largest));
            for (bytes, colour) in [(column.largest, BAR_LIGHT), (column.mean, BAR)] {
                let height = bytes as f64 * scale;
                if bytes > 0 && (colour == BAR || column.mean < bytes) {
                    self.rect(x, base - height, width - Self::gap(width), height, colour, &hint);
                }
            }
        }
        let mean = base - grid.mean() * scale;
        self.line(LEFT, mean, LEFT + MAP_WIDTH, mean, "4 3");
        self.label(
            SHARED_LEFT,
            mean + 4.0,
            "start",
            "small",
            &format!("mean {}", size(grid.mean() as u64)),
        );
    }

    fn map(&mut self) {
        let (grid, width, height) = (self.grid, self.column_width(), self.row_height);
        let darkest = grid.darkest();
        let hints = grid.rows.len() * grid.columns.len() <= 20_000;
        self.rect(LEFT, MAP_TOP, MAP_WIDTH, self.map_height, EMPTY, "");
        for (r, row) in grid.rows.iter().enumerate() {
            let y = MAP_TOP + r as f64 * height;
            for (c, &bytes) in row.cells.iter().enumerate().filter(|(_, bytes)| **bytes > 0) {
                let hint = if hints {
                    format!("{}, {}: {}", grid.row_text(r), self.partitions_text(c), size(bytes))
                } else {
                    String::new()
                };
                let fill = colour(grid.shade(bytes, darkest));
                self.rect(
                    LEFT + c as f64 * width,
                    y,
                    width - Self::gap(width),
                    height - Self::gap(height),
                    &fill,
                    &hint,
                );
            }
            self.member_marks(r, y + height - Self::gap(height));
        }
        self.shared_cells();
    }

    /// Draws a line at the bottom of the cells of partitions that read a shared extent of the region.
    fn member_marks(&mut self, r: usize, bottom: f64) {
        let thick = (self.row_height / 6.0).clamp(1.0, 3.0);
        let width = self.column_width();
        let columns = &self.grid.rows[r].member_columns;
        let mut start = 0;
        while start < columns.len() {
            let length = columns[start..]
                .iter()
                .take_while(|member| **member == columns[start])
                .count();
            if columns[start] {
                let x = LEFT + start as f64 * width;
                self.rect(
                    x,
                    bottom - thick,
                    length as f64 * width - Self::gap(width),
                    thick,
                    SHARED,
                    "",
                );
            }
            start += length;
        }
    }

    fn shared_cells(&mut self) {
        let largest = self.grid.rows.iter().map(|row| row.shared).max().unwrap_or(0);
        if largest == 0 {
            return;
        }
        let height = self.row_height;
        self.label(
            SHARED_LEFT + SHARED_WIDTH / 2.0,
            MAP_TOP + self.map_height + 16.0,
            "middle",
            "small",
            "shared",
        );
        for (r, row) in self.grid.rows.iter().enumerate() {
            let y = MAP_TOP + r as f64 * height;
            let hint = format!("{}: {} shared", self.grid.row_text(r), size(row.shared));
            self.rect(SHARED_LEFT, y, SHARED_WIDTH, height - Self::gap(height), EMPTY, "");
            let width = SHARED_WIDTH * row.shared as f64 / largest as f64;
            if row.shared > 0 {
                self.rect(
                    SHARED_LEFT,
                    y,
                    width.max(1.0),
                    height - Self::gap(height),
                    SHARED,
                    &hint,
                );
            }
        }
    }

    fn axes(&mut self) {
        let (grid, width) = (self.grid, self.column_width());
        let bottom = MAP_TOP + self.map_height;
        for column in ticks(grid.columns.len(), 12) {
            let x = LEFT + (column as f64 + 0.5) * width;
            let partition = grid.first_partition + grid.columns[column].partitions.start;
            self.label(x, bottom + 16.0, "middle", "axis", &partition.to_string());
        }
        for row in ticks(grid.rows.len(), (self.map_height / 18.0) as usize) {
            let y = MAP_TOP + (row as f64 + 0.5) * self.row_height + 4.0;
            let number = grid.number(grid.rows[row].regions.start);
            self.label(LEFT - 8.0, y, "end", "axis", &number.to_string());
        }
        self.label(LEFT + MAP_WIDTH / 2.0, bottom + 34.0, "middle", "axis", "partition");
        let middle = MAP_TOP + self.map_height / 2.0;
        let _ = writeln!(
            self.text,
            "<text transform=\"translate(22 {middle:.1}) rotate(-90)\" text-anchor=\"middle\" class=\"axis\">{}</text>",
            grid.names.word
        );
        if grid.rows.is_empty() {
            self.label(
                LEFT + MAP_WIDTH / 2.0,
                middle + 4.0,
                "middle",
                "sub",
                &format!("no {}", grid.names.word),
            );
        }
    }

    fn region_bars(&mut self) {
        let grid = self.grid;
        let largest = grid.rows.iter().map(|row| row.own + row.shared).max().unwrap_or(0);
        if largest == 0 {
            return;
        }
        let (height, scale) = (self.row_height, BARS_WIDTH / largest as f64);
        let right = BARS_LEFT + BARS_WIDTH;
        self.label(
            right,
            MAP_TOP - 8.0,
            "end",
            "small",
            &format!("each {}", grid.names.word),
        );
        self.label(right, MAP_TOP + self.map_height + 16.0, "end", "small", &size(largest));
        for (r, row) in grid.rows.iter().enumerate() {
            let y = MAP_TOP + r as f64 * height;
            let (own, shared) = (row.own as f64 * scale, row.shared as f64 * scale);
            let hint = format!(
                "{}: {} own, {} shared",
                grid.row_text(r),
                size(row.own),
                size(row.shared)
            );
            self.rect(BARS_LEFT, y, own, height - Self::gap(height), BAR, &hint);
            self.rect(BARS_LEFT + own, y, shared, height - Self::gap(height), SHARED, &hint);
        }
    }

    fn legend(&mut self, top: f64) {
        let darkest = self.grid.darkest();
        let (steps, width) = (48, 240.0);
        for step in 0..steps {
            let fill = colour((f64::from(step) + 0.5) / f64::from(steps));
            let x = LEFT + width * f64::from(step) / f64::from(steps);
            self.rect(x, top, width / f64::from(steps) + 0.5, 14.0, &fill, "");
        }
        for place in [0.0, 0.25, 0.5, 1.0] {
            // The bytes that have this shade.
            let share = if self.grid.names.linear { place } else { place * place };
            let bytes = (darkest as f64 * share) as u64;
            let anchor = if place == 0.0 {
                "start"
            } else if place == 1.0 {
                "end"
            } else {
                "middle"
            };
            self.label(LEFT + width * place, top + 29.0, anchor, "small", &size(bytes));
        }
        let mut text = match self.grid.names.linear {
            true => format!(
                "stored bytes of a partition in each {}, on a linear scale",
                self.grid.names.word
            ),
            false => "stored bytes of an extent, the colour by their square root".to_owned(),
        };
        if self.grid.is_shared() {
            let _ = write!(text, ": the largest of each cell, {}", self.grid.sharing());
        }
        self.label(LEFT + width + 16.0, top + 11.0, "start", "axis", &text);
        if self.grid.shared > 0 {
            self.rect(LEFT + width + 16.0, top + 21.0, 14.0, 3.0, SHARED, "");
            let text = format!(
                "partition reads a shared extent of the {}, stored once",
                self.grid.names.word
            );
            self.label(LEFT + width + 36.0, top + 27.0, "start", "axis", &text);
        }
    }

    /// Draws the bar for all bytes of the files.
    fn parts(&mut self, top: f64, parts: &[Part]) {
        let total: u64 = parts.iter().map(|part| part.bytes).sum();
        let width = BARS_LEFT + BARS_WIDTH - LEFT;
        self.label(
            LEFT,
            top - 6.0,
            "start",
            "small",
            &format!("every byte: {}", size(total)),
        );
        let (mut x, mut text_x, mut text_y) = (LEFT, LEFT, top + 37.0);
        for (part, fill) in parts
            .iter()
            .zip(PARTS.iter().cycle())
            .filter(|(part, _)| part.bytes > 0)
        {
            let share = part.bytes as f64 / total as f64;
            self.rect(x, top, width * share, 16.0, fill, part.name);
            x += width * share;
            let text = format!("{} {} ({})", part.name, size(part.bytes), percent(share));
            let needed = 34.0 + 6.6 * text.chars().count() as f64;
            if text_x + needed > WIDTH {
                (text_x, text_y) = (LEFT, text_y + 18.0);
            }
            self.rect(text_x, text_y - 9.0, 10.0, 10.0, fill, "");
            self.label(text_x + 15.0, text_y, "start", "small", &text);
            text_x += needed;
        }
    }

    fn partitions_text(&self, column: usize) -> String {
        let range = &self.grid.columns[column].partitions;
        let first = self.grid.first_partition;
        if range.len() == 1 {
            format!("partition {}", first + range.start)
        } else {
            format!("partitions {} to {}", first + range.start, first + range.end - 1)
        }
    }
}
