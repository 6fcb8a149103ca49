//! What is wrong with a scenario: where, what, and what would be accepted.

use crate::tree::Place;
use miette::{
    Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError,
    MietteSpanContents, Severity, SourceCode, SourceSpan, SpanContents,
};
use std::fmt;

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub place: Place,
    pub message: String,
    pub help: Option<String>,
    /// The variant in which it shows, when it does not in all.
    pub variant: Option<String>,
}

impl Problem {
    pub fn new(place: Place, message: impl Into<String>) -> Problem {
        Problem {
            place,
            message: short(printable(message.into())),
            help: None,
            variant: None,
        }
    }

    /// From a text in which the remedy follows a semicolon, as those of the other crates do.
    pub fn with_remedy(place: Place, text: &str) -> Problem {
        match text.split_once("; ") {
            Some((message, help)) => Problem::new(place, message).help(help),
            None => Problem::new(place, text),
        }
    }

    pub fn help(mut self, help: impl Into<String>) -> Problem {
        self.help = Some(short(printable(help.into())));
        self
    }
}

/// A text with its control characters written out: names from a file are quoted in messages, and a
/// terminal would obey them.
fn printable(text: String) -> String {
    if !text.contains(|c: char| c.is_control() && c != '\n') {
        return text;
    }
    let mut safe = String::new();
    for c in text.chars() {
        if c.is_control() && c != '\n' {
            safe.extend(c.escape_default());
        } else {
            safe.push(c);
        }
    }
    safe
}

/// Characters of a message, about: values are quoted in messages, and a value may be as long as a file.
const LONGEST: usize = 2048;

/// The beginning of a text that is too long, with a note of how much is missing.
fn short(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(LONGEST) {
        let missing = text[end..].chars().count();
        text.truncate(end);
        text.push_str(&format!(" ... ({missing} more characters)"));
    }
    text
}

/// A text that a scenario was read from.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub name: String,
    pub text: String,
}

impl Source {
    /// The same with question marks for control characters, one for each byte: places stay as they are.
    fn printable(self) -> Source {
        let harmless = |c: char| !c.is_control() || matches!(c, '\n' | '\t' | '\r');
        let name = printable(self.name);
        if self.text.chars().all(harmless) {
            return Source { name, ..self };
        }
        let mut text = String::with_capacity(self.text.len());
        for c in self.text.chars() {
            if harmless(c) {
                text.push(c);
            } else {
                text.extend(std::iter::repeat_n('?', c.len_utf8()));
            }
        }
        Source { name, text }
    }
}

/// Everything that is wrong with a scenario, in the order of the file.
#[derive(Clone, Debug)]
pub struct Diagnostics {
    sources: Vec<Source>,
    problems: Vec<Problem>,
}

/// Mistakes that are shown; the rest is counted.
const SHOWN: usize = 20;

impl Diagnostics {
    pub(crate) fn new(sources: Vec<Source>, mut problems: Vec<Problem>) -> Diagnostics {
        problems.sort_by_key(|problem| problem.place);
        let sources = sources.into_iter().map(Source::printable).collect();
        Diagnostics { sources, problems }
    }

    /// Number of mistakes.
    #[allow(clippy::len_without_is_empty)] // there is always one
    pub fn len(&self) -> usize {
        self.problems.len()
    }

    /// The mistakes one by one: name of the text, line and column (from 1, in characters), message,
    /// and what would be accepted.
    pub fn iter(&self) -> impl Iterator<Item = Mistake<'_>> {
        // Problems are in the order of the text, so each is looked for from the one before on.
        let (mut text, mut from, mut line, mut column) = (None, 0, 1, 1);
        self.problems.iter().map(move |problem| {
            let source = &self.sources[problem.place.source.0];
            if text != Some(problem.place.source) {
                (text, from, line, column) = (Some(problem.place.source), 0, 1, 1);
            }
            let between = source.text.get(from..problem.place.start).unwrap_or("");
            from += between.len();
            match between.rsplit_once('\n') {
                Some((lines, begun)) => {
                    line += lines.matches('\n').count() + 1;
                    column = begun.chars().count() + 1;
                }
                None => column += between.chars().count(),
            }
            Mistake {
                file: &source.name,
                line,
                column,
                message: &problem.message,
                help: problem.help.as_deref(),
            }
        })
    }

    /// The mistakes as a text for a person, lines at most about `width` columns wide, with escape
    /// sequences for colours or without.
    pub fn render(&self, width: usize, colour: bool) -> String {
        let theme = if colour {
            GraphicalTheme::unicode()
        } else {
            GraphicalTheme::unicode_nocolor()
        };
        let handler = GraphicalReportHandler::new_themed(theme)
            .with_width(width.max(40))
            .with_links(false)
            .with_context_lines(1);
        let mut text = String::new();
        for problem in self.problems.iter().take(SHOWN) {
            let report = Report::new(problem, &self.sources[problem.place.source.0]);
            if handler.render_report(&mut text, &report).is_err() {
                text.push_str(&problem.message);
            }
            text.push('\n');
        }
        if self.problems.len() > SHOWN {
            text.push_str(&format!("... and {} more\n", self.problems.len() - SHOWN));
        }
        text
    }
}

/// One mistake, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mistake<'a> {
    /// The file, or `--set`, `--only`, `--size`.
    pub file: &'a str,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: &'a str,
    /// What would be accepted.
    pub help: Option<&'a str>,
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(80, false))
    }
}

impl std::error::Error for Diagnostics {}

/// Bytes of a place that are marked.
const MOST_MARKED: usize = 400;
/// Bytes of a long line that are shown on either side of them.
const BESIDE: usize = 200;
/// Bytes of the lines around a mistake that are shown.
const MOST_AROUND: usize = 1000;

/// A text whose lines are shown around mistakes; of long lines only the mistake's surroundings are.
#[derive(Debug)]
struct Excerpts<'a>(&'a Source);

impl SourceCode for Excerpts<'_> {
    fn read_span<'b>(
        &'b self,
        span: &SourceSpan,
        lines_before: usize,
        lines_after: usize,
    ) -> Result<Box<dyn SpanContents<'b> + 'b>, MietteError> {
        let Source { name, text } = self.0;
        let whole = text.read_span(span, lines_before, lines_after)?;
        let (mut data, mut shown) = (whole.data(), *whole.span());
        let (mut line, mut column) = (whole.line(), whole.column());
        if data.len() > MOST_AROUND && lines_before + lines_after > 0 {
            let before = &text.as_bytes()[shown.offset()..span.offset()];
            line += before.iter().filter(|&&byte| byte == b'\n').count();
            column = 0;
            let bounded = |at: usize| (at..text.len()).find(|&at| text.is_char_boundary(at));
            let line_begins = text[..span.offset()].rfind('\n').map_or(0, |end| end + 1);
            let from = span.offset().saturating_sub(BESIDE).max(line_begins);
            let from = bounded(from).unwrap_or(from);
            let until = span.offset() + span.len() + BESIDE;
            let until = bounded(until).unwrap_or(text.len());
            let line_ends = text[span.offset()..].find('\n');
            let until = line_ends.map_or(until, |length| until.min(span.offset() + length));
            data = &text.as_bytes()[from..until];
            shown = SourceSpan::from((from, until - from));
        }
        let named = MietteSpanContents::new_named(
            name.clone(),
            data,
            shown,
            line,
            column,
            whole.line_count(),
        );
        Ok(Box::new(named))
    }
}

/// A mistake in the shape that miette draws.
#[derive(Debug)]
struct Report<'a> {
    problem: &'a Problem,
    source: Excerpts<'a>,
    span: SourceSpan,
    help: Option<String>,
}

impl<'a> Report<'a> {
    fn new(problem: &'a Problem, source: &'a Source) -> Report<'a> {
        // The drawing expects the range inside the text and on whole characters.
        let mut start = problem.place.start.min(source.text.len());
        while !source.text.is_char_boundary(start) {
            start -= 1;
        }
        let mut end = problem.place.end.clamp(start, source.text.len());
        // Of a value over several lines the first line says enough.
        if let Some(first) = source.text[start..].find('\n') {
            end = end.min(start + first);
        }
        end = end.min(start + MOST_MARKED);
        while !source.text.is_char_boundary(end) {
            end += 1;
        }
        let help = match (&problem.help, &problem.variant) {
            (help, None) => help.clone(),
            (None, Some(variant)) => Some(format!("in variant {variant}")),
            (Some(help), Some(variant)) => Some(format!("{help}\nin variant {variant}")),
        };
        Report {
            problem,
            source: Excerpts(source),
            span: SourceSpan::from((start, end - start)),
            help,
        }
    }
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem.message)
    }
}

impl std::error::Error for Report<'_> {}

impl Diagnostic for Report<'_> {
    fn severity(&self) -> Option<Severity> {
        Some(Severity::Error)
    }

    fn help<'b>(&'b self) -> Option<Box<dyn fmt::Display + 'b>> {
        self.help
            .as_ref()
            .map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        (!self.source.0.text.is_empty()).then_some(&self.source as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let label = LabeledSpan::new_primary_with_span(None, self.span);
        Some(Box::new(std::iter::once(label)))
    }
}
