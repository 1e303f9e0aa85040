//! Our tables for papers: Markdown as LaTeX, with booktabs.

/// The tables of a Markdown text, each a `table` with the words that stand before it as its caption; those behind the last one are
/// comments. Needs `\usepackage{booktabs}`.
///
/// ```
/// use aerofed_experiment::latex::of_markdown;
/// let text = of_markdown("Costs of 90 %.\n\n| method | time (s) |\n|---|---|\n| hfl_2 | 12 ± 1 |\n");
/// assert!(text.contains("\\caption{Costs of 90 \\%.}") && text.contains("hfl\\_2 & 12 $\\pm$ 1 \\\\"));
/// ```
#[must_use]
pub fn of_markdown(text: &str) -> String {
    let mut latex = String::from("% \\usepackage{booktabs}\n");
    let mut words: Vec<&str> = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if !line.starts_with('|') {
            words.push(line.trim_start_matches('#').trim());
            continue;
        }
        let mut rows = vec![cells(line)];
        while let Some(row) = lines.next_if(|next| next.starts_with('|')) {
            rows.push(cells(row));
        }
        latex += &table(&words.join(" "), &rows);
        words.clear();
    }
    for line in words.iter().filter(|line| !line.is_empty()) {
        latex += &format!("% {line}\n");
    }
    latex
}

/// The cells of a row, whose bars may be escaped.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut characters = line.trim().trim_start_matches('|').chars().peekable();
    while let Some(c) = characters.next() {
        match (c, cells.last_mut()) {
            ('\\', Some(cell)) if characters.peek() == Some(&'|') => {
                cell.push('|');
                characters.next();
            }
            ('|', _) => cells.push(String::new()),
            (c, Some(cell)) => cell.push(c),
            (_, None) => {}
        }
    }
    // What stands behind the last bar is no cell.
    cells.pop();
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}

fn table(caption: &str, rows: &[Vec<String>]) -> String {
    let is_rule = |row: &&Vec<String>| {
        let dashes = |cell: &String| !cell.is_empty() && cell.chars().all(|c| "-:".contains(c));
        row.iter().all(dashes)
    };
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let line = |row: &Vec<String>| {
        let mut cells: Vec<String> = row.iter().map(|cell| escaped(cell)).collect();
        cells.resize(columns, String::new());
        format!("    {} \\\\\n", cells.join(" & "))
    };
    let mut rows = rows.iter().filter(|row| !is_rule(row));
    let header = rows.next().map(line).unwrap_or_default();
    let body: String = rows.map(line).collect();
    // Names on the left, numbers on the right.
    let alignment = format!("l{}", "r".repeat(columns.saturating_sub(1)));
    let caption = match escaped(caption.trim()) {
        caption if caption.is_empty() => String::new(),
        caption => format!("  \\caption{{{caption}}}\n"),
    };
    format!(
        "\\begin{{table}}\n  \\centering\n{caption}  \\begin{{tabular}}{{{alignment}}}\n    \\toprule\n{header}    \\midrule\n{body}    \
         \\bottomrule\n  \\end{{tabular}}\n\\end{{table}}\n"
    )
}

/// A text in which no character means something to LaTeX, without Markdown's emphasis.
fn escaped(text: &str) -> String {
    let mut latex = String::new();
    for c in text.replace("**", "").replace('`', "").chars() {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => latex.extend(['\\', c]),
            '\\' => latex += "\\textbackslash{}",
            '~' => latex += "\\textasciitilde{}",
            '^' => latex += "\\textasciicircum{}",
            '<' => latex += "$<$",
            '>' => latex += "$>$",
            '|' => latex += "$|$",
            '±' => latex += "$\\pm$",
            '†' => latex += "$\\dagger$",
            '≥' => latex += "$\\geq$",
            '≤' => latex += "$\\leq$",
            '×' => latex += "$\\times$",
            '−' => latex += "$-$",
            '–' => latex += "--",
            '·' => latex += "$\\cdot$",
            '→' => latex += "$\\to$",
            other => latex.push(other),
        }
    }
    latex
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markdown;

    #[test]
    fn a_table_keeps_its_cells_and_words() {
        let rows = vec![
            vec!["a|b".to_owned(), "1 ± 2 %".into(), "{x}_1".into()],
            vec!["c\\d".into(), "-".into(), "†".into()],
        ];
        let text = format!(
            "# Title\n\nWords of `it`.\n\n{}\nAfter & all.\n",
            markdown::table(&["method", "time", "n"], &rows)
        );
        let latex = of_markdown(&text);
        for line in [
            "% \\usepackage{booktabs}",
            "  \\caption{Title  Words of it.}",
            "  \\begin{tabular}{lrr}",
            "    method & time & n \\\\",
            "    a$|$b & 1 $\\pm$ 2 \\% & \\{x\\}\\_1 \\\\",
            "    c\\textbackslash{}d & - & $\\dagger$ \\\\",
            "% After & all.",
        ] {
            assert!(latex.lines().any(|l| l == line), "{line}: {latex}");
        }
        assert_eq!(
            latex.matches("\\begin").count(),
            latex.matches("\\end").count()
        );
    }

    #[test]
    fn several_tables_have_captions_of_their_own() {
        let one = markdown::table(&["x"], &[vec!["1".into()]]);
        let latex = of_markdown(&format!("First.\n\n{one}\nSecond.\n\n{one}{one}"));
        assert_eq!(latex.matches("\\caption").count(), 2);
        assert_eq!(
            latex.matches("\\toprule").count(),
            2,
            "tables without words between are one"
        );
        assert!(of_markdown("").ends_with("booktabs}\n"));
    }
}
