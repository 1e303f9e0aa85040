//! Just enough HTML: everything that is text is escaped here.

use std::fmt::Write as _;

use crate::palette;
use crate::svg::escape;

/// What a table's cell holds.
pub(super) enum Cell {
    Text(String),
    /// Text that may take several lines, to the left.
    Words(String),
    /// A name behind a dot of its colour.
    Dotted(&'static str, String),
    /// A word in a frame, of a class of the style sheet.
    Badge(&'static str, String),
}

impl Cell {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    fn html(&self) -> String {
        match self {
            Self::Text(text) => format!("<td>{}</td>", escape(text)),
            Self::Words(text) => format!("<td class=\"words\">{}</td>", escape(text)),
            // Names with settings may be broken behind a colon.
            Self::Dotted(colour, text) => format!(
                "<td><i class=\"dot\" style=\"background:var(--{})\"></i>{}</td>",
                palette::name(colour),
                escape(text).replace(':', ":<wbr>")
            ),
            Self::Badge(class, text) => {
                format!(
                    "<td class=\"words\"><span class=\"verdict {class}\">{}</span></td>",
                    escape(text)
                )
            }
        }
    }
}

/// A table that scrolls sideways when the page is too narrow; a heading that starts with `<` is for
/// words, to the left.
pub(super) fn table(head: &[&str], rows: &[Vec<Cell>]) -> String {
    let mut html = String::from("<div class=\"scroll\"><table><thead><tr>");
    for heading in head {
        // Writing to a string cannot fail.
        _ = match heading.strip_prefix('<') {
            Some(words) => write!(html, "<th class=\"words\">{}</th>", escape(words)),
            None => write!(html, "<th>{}</th>", escape(heading)),
        };
    }
    html += "</tr></thead><tbody>\n";
    for row in rows {
        let cells: String = row.iter().map(Cell::html).collect();
        _ = writeln!(html, "<tr>{cells}</tr>");
    }
    html + "</tbody></table></div>"
}

/// A frame around HTML.
pub(super) fn card(body: &str) -> String {
    format!("<div class=\"card\">{body}</div>\n")
}

pub(super) fn heading(text: &str) -> String {
    format!("<h3>{}</h3>", escape(text))
}

pub(super) fn note(text: &str) -> String {
    format!("<p class=\"note\">{}</p>", escape(text))
}

/// HTML that opens on demand.
pub(super) fn details(summary: &str, body: &str) -> String {
    format!(
        "<details><summary>{}</summary><div class=\"tall\">{body}</div></details>",
        escape(summary)
    )
}

/// The place of a chart, by its number in the data.
pub(super) fn chart(index: usize) -> String {
    format!("<div class=\"card chart\" data-chart=\"{index}\"></div>\n")
}

/// A number with its name above and a remark below.
pub(super) fn tile(name: &str, value: &str, more: &str) -> String {
    let [name, value, more] = [name, value, more].map(escape);
    format!(
        "<div class=\"tile\"><div class=\"name\">{name}</div><div class=\"value\">{value}</div>\
         <div class=\"more\">{more}</div></div>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_text_is_markup() {
        let bad = "<script>'\"&";
        let cells = vec![
            Cell::text(bad),
            Cell::Words(bad.into()),
            Cell::Dotted(palette::BLUE, bad.into()),
            Cell::Badge("open", bad.into()),
        ];
        let all = [
            table(&["a", "<b"], &[cells]),
            heading(bad),
            note(bad),
            details(bad, ""),
            tile(bad, bad, bad),
        ];
        for html in all {
            assert!(!html.contains("<script"), "{html}");
            assert!(html.contains("&lt;script&gt;&#39;&quot;&amp;"), "{html}");
        }
        assert!(table(&["<b"], &[]).contains("<th class=\"words\">b</th>"));
    }
}
