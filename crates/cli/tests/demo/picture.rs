//! The picture of the README: what the demo prints, as an SVG.

use crate::sandbox;
use midstride_testkit::assert_page;

/// The width in pixels. A page of GitHub shows no more.
const WIDTH: usize = 800;
const FONT_SIZE: usize = 13;
const LINE_HEIGHT: usize = 18;
const MARGIN: usize = 10;
/// The width of a character of a monospace font, in hundredths of the font size.
const ADVANCE: usize = 60;

/// A part of a line, and whether it is bold.
type Part<'t> = (&'t str, bool);

/// The parts of a line with terminal colors. Only bold counts.
fn parts<'t>(line: &'t str, is_bold: &mut bool) -> Vec<Part<'t>> {
    let mut parts = Vec::new();
    for (index, piece) in line.split("\u{1b}[").enumerate() {
        let text = match piece.split_once('m').filter(|_| index > 0) {
            Some((code, text)) => {
                *is_bold = code == "1" || *is_bold && code != "0";
                text
            }
            None => piece,
        };
        if !text.is_empty() {
            parts.push((text, *is_bold));
        }
    }
    parts
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A picture of a terminal with this text. It has its own background, for light and dark pages.
fn svg(title: &str, text: &str) -> String {
    let height = text.lines().count() * LINE_HEIGHT + 2 * MARGIN;
    let title = escape(title);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{title}\">\n\
         <title>{title}</title>\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" rx=\"8\" fill=\"#161b22\"/>\n\
         <g font-family=\"ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace\" \
         font-size=\"{FONT_SIZE}\" fill=\"#d0d7de\">\n"
    );
    let mut is_bold = false;
    for (row, line) in text.lines().enumerate() {
        let baseline = MARGIN + row * LINE_HEIGHT + FONT_SIZE;
        let parts = parts(line, &mut is_bold);
        let columns: usize = parts.iter().map(|(text, _)| text.chars().count()).sum();
        let width = columns * FONT_SIZE * ADVANCE / 100 + 2 * MARGIN;
        assert!(width <= WIDTH, "{width} pixels: {line}");
        let spans = parts.iter().map(|(text, is_bold)| match is_bold {
            true => {
                format!("<tspan font-weight=\"bold\" fill=\"#ffffff\">{}</tspan>", escape(text))
            }
            false => escape(text),
        });
        let spans: String = spans.collect();
        if !spans.is_empty() {
            out.push_str(&format!(
                "<text x=\"{MARGIN}\" y=\"{baseline}\" xml:space=\"preserve\">{spans}</text>\n"
            ));
        }
    }
    out + "</g>\n</svg>\n"
}

#[test]
fn the_picture_of_the_readme_is_what_the_demo_prints() {
    let run = sandbox().run(["demo", "--color", "always"]).exits(0);
    let (shown, check) = run.stdout.split_once("\n\n\u{1b}[1mmidstride check").unwrap();
    assert!(check.contains("D001"), "{run}");
    let title = "A terminal: a session is killed while it edits a file. Without midstride the next \
                 session has an empty context; with midstride it has a briefing.";
    assert_page("docs/demo.svg", &svg(title, &format!("$ midstride demo\n{shown}")));
}
