//! Tables for people: plain text, as wide as the terminal, and as wide as needed if there is none.

use comfy_table::{ContentArrangement, Table as Grid};

use super::width;

/// Rows under a heading.
pub(crate) struct Table {
    grid: Grid,
    none: &'static str,
}

impl Table {
    /// An empty table; `none` is said if it stays so.
    pub(crate) fn new(heading: &[&str], none: &'static str) -> Self {
        let mut grid = Grid::new();
        grid.load_style(comfy_table::presets::NOTHING);
        if let Some(columns) = width() {
            grid.set_content_arrangement(ContentArrangement::Dynamic).set_width(columns);
        }
        grid.set_header(heading.iter().map(|word| word.to_uppercase()));
        Self { grid, none }
    }

    /// Adds a row.
    pub(crate) fn row<const N: usize>(&mut self, cells: [&str; N]) {
        self.grid.add_row(cells.map(plain));
    }

    /// The table as text.
    pub(crate) fn text(&self) -> String {
        if self.grid.is_empty() {
            return self.none.to_owned();
        }
        // The first column's padding goes; what else leads a line is an empty cell of a wrapped row.
        let bare = |line: String| line.strip_prefix(' ').unwrap_or(&line).trim_end().to_owned();
        self.grid.lines().map(bare).collect::<Vec<_>>().join("\n")
    }
}

/// Text that cannot move the cursor or colour the screen: much of it came from outside.
pub(crate) fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_whatever_they_hold() {
        let mut table = Table::new(&["id", "what"], "nothing");
        assert_eq!(table.text(), "nothing");
        table.row(["1", "käse"]);
        table.row(["1001", "日本"]);
        assert_eq!(table.text(), "ID    WHAT\n1     käse\n1001  日本");
    }

    #[test]
    fn a_row_that_does_not_fit_goes_on_below_its_own_columns() {
        let mut table = Table::new(&["a", "b"], "");
        table.grid.set_content_arrangement(ContentArrangement::Dynamic).set_width(14);
        table.row(["one", "two three four"]);
        assert_eq!(table.text(), "A    B\none  two\n     three\n     four");
    }

    #[test]
    fn control_characters_reach_no_terminal() {
        assert_eq!(plain("a\u{1b}[31mb\n"), "a\u{fffd}[31mb\u{fffd}");
    }
}
