//! Empirical distributions, and those that come with Pathweave.

use crate::TrafficError;

/// A cumulative distribution given by points, linear between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Cdf {
    /// Sizes in bytes and the probability of being at most as large; both never fall, and the last
    /// probability is 1.
    points: Vec<(f64, f64)>,
}

/// The distributions that come with Pathweave: name, what it is, and its points as text for
/// [`Cdf::parse`], with their source in a comment.
pub const CDFS: &[(&str, &str, &str)] = &[
    (
        "web-search",
        "query and background flows of a web search cluster; mean 1.7 MB, most bytes in flows above 1 MB",
        include_str!("../cdfs/web-search.csv"),
    ),
    (
        "data-mining",
        "flows of a data mining cluster; half are a single packet, mean 7.5 MB",
        include_str!("../cdfs/data-mining.csv"),
    ),
    (
        "hadoop",
        "flows of Hadoop servers at Facebook; 60 % below 1 KB, mean 120 KB",
        include_str!("../cdfs/hadoop.csv"),
    ),
    (
        "cache-follower",
        "flows of cache followers at Facebook; 46 % up to 10.5 KB, mean 0.94 MB",
        include_str!("../cdfs/cache-follower.csv"),
    ),
    (
        "memcached-etc",
        "values in Facebook's general-purpose Memcached pool; half up to 40 B, mean 200 B, at most 1 MB",
        include_str!("../cdfs/memcached-etc.csv"),
    ),
];

impl Cdf {
    /// The distribution of this name among [`CDFS`].
    pub fn named(name: &str) -> Option<Cdf> {
        let (_, _, text) = CDFS.iter().find(|(known, _, _)| *known == name)?;
        Some(Cdf::parse(text).expect("the distributions that come along are valid"))
    }

    /// Reads lines `bytes,cumulative`, with a comma or white space between the two. If the last probability is 100, all are in
    /// percent, as in the files of HPCC and its simulations with ns-3. Empty lines, what follows a `#`, and one line of headings
    /// are passed over. The first point's probability is that of its very size, so that a first line `1460,0.5` makes half of the
    /// flows 1460 bytes long; two lines with the same size do so further up.
    ///
    /// # Errors
    /// When a line cannot be read, a value falls, or the last probability is neither 1 nor 100; the text names the line.
    pub fn parse(text: &str) -> Result<Cdf, TrafficError> {
        let lines = read_lines(text)?;
        let Some(end) = lines.last() else {
            return Err(TrafficError(
                "the distribution has no points; lines \"bytes,cumulative\" are expected"
                    .to_owned(),
            ));
        };
        let whole = if end.probability > 1.0 { 100.0 } else { 1.0 };
        let mut points: Vec<(f64, f64)> = Vec::with_capacity(lines.len());
        for line in &lines {
            // Above 2^53 not every whole number of bytes has a double.
            if !(0.0..=9e15).contains(&line.size) {
                return line.refuse("the size must be at least 0 and at most 9e15 bytes");
            }
            if !(0.0..=whole).contains(&line.probability) {
                return line.refuse(
                    "the cumulative probability must be between 0 and 1, or between 0 and 100 in percent",
                );
            }
            let probability = line.probability / whole;
            if let Some(&(last_size, last_probability)) = points.last() {
                if line.size < last_size {
                    return line.refuse("the size is below that of the line before");
                }
                if probability < last_probability {
                    return line
                        .refuse("the cumulative probability is below that of the line before");
                }
            }
            points.push((line.size, probability));
        }
        if end.probability != whole {
            return Err(TrafficError(format!(
                "the distribution ends at the cumulative probability {}; the last must be 1, or 100 in percent",
                end.probability
            )));
        }
        if end.size < 1.0 {
            return Err(TrafficError(format!(
                "the largest size of the distribution is {} B; at least 1 B is expected",
                end.size
            )));
        }
        Ok(Cdf { points })
    }

    /// The points: size in bytes and cumulative probability.
    pub fn points(&self) -> &[(f64, f64)] {
        &self.points
    }

    /// The same with fewer points, where there are more than [`Cdf::MOST_POINTS`].
    ///
    /// No size's probability of being exceeded changes by more than a ten-thousandth of itself, so
    /// neither does the mean. Each part of the distribution that a line from a point of it stays
    /// that close to becomes this line; the points that are left are points of the original.
    #[must_use]
    pub fn thinned(self) -> Cdf {
        if self.points.len() <= Cdf::MOST_POINTS {
            return self;
        }
        let (first, rest) = self
            .points
            .split_first()
            .expect("a distribution has points");
        let mut kept = vec![*first];
        // The line from the last point that is kept has a slope within these, for all points since.
        let (mut anchor, mut least, mut most) = (*first, f64::NEG_INFINITY, f64::INFINITY);
        let mut last = *first;
        for &(size, probability) in rest {
            let mut slope = (probability - anchor.1) / (size - anchor.0);
            if !(least <= slope && slope <= most) {
                if last != anchor {
                    kept.push(last);
                }
                (anchor, least, most) = (last, f64::NEG_INFINITY, f64::INFINITY);
                slope = (probability - anchor.1) / (size - anchor.0);
            }
            last = (size, probability);
            if size == anchor.0 {
                // A jump: no line stays close to it.
                if last != anchor {
                    kept.push(last);
                }
                anchor = last;
                continue;
            }
            let room = Cdf::TOLERANCE * (1.0 - probability) / (size - anchor.0);
            least = least.max(slope - room);
            most = most.min(slope + room);
        }
        if last != anchor {
            kept.push(last);
        }
        Cdf { points: kept }
    }

    /// Points from which on a distribution is thinned when it is read from a file.
    pub const MOST_POINTS: usize = 20_000;

    /// Largest change of a probability of being exceeded by thinning, as a share of it.
    const TOLERANCE: f64 = 1e-4;

    /// The mean in bytes.
    pub fn mean(&self) -> f64 {
        let (first_size, first_probability) = self.points[0];
        let rest = self.points.windows(2).map(|pair| {
            let ((below, from), (above, to)) = (pair[0], pair[1]);
            (to - from) * (below + above) / 2.0
        });
        first_size * first_probability + rest.sum::<f64>()
    }

    /// The size in bytes that a share `probability` of the flows does not exceed; for a probability
    /// below 1.
    pub fn quantile(&self, probability: f64) -> f64 {
        let above = self.points.partition_point(|&(_, p)| p <= probability);
        let (size, p) = self.points[above.min(self.points.len() - 1)];
        if above == 0 || above == self.points.len() {
            return size;
        }
        let (size_below, p_below) = self.points[above - 1];
        size_below + (size - size_below) * (probability - p_below) / (p - p_below)
    }
}

/// A line of a distribution.
struct Line<'a> {
    number: usize,
    text: &'a str,
    size: f64,
    probability: f64,
}

impl Line<'_> {
    fn refuse<T>(&self, problem: &str) -> Result<T, TrafficError> {
        refuse(self.number, self.text, problem)
    }
}

fn refuse<T>(number: usize, text: &str, problem: &str) -> Result<T, TrafficError> {
    Err(TrafficError(format!(
        "line {number} of the distribution, \"{text}\": {problem}"
    )))
}

/// The lines that hold points.
fn read_lines(text: &str) -> Result<Vec<Line<'_>>, TrafficError> {
    // Spreadsheets put a byte order mark in front.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines: Vec<Line<'_>> = Vec::new();
    let mut headings = false;
    for (number, text) in (1..).zip(text.lines()) {
        let text = text.split('#').next().unwrap_or("").trim();
        if text.is_empty() {
            continue;
        }
        let mut values = text
            .split(|c: char| c == ',' || c.is_whitespace())
            .filter(|value| !value.is_empty());
        let (Some(size), Some(probability), None) = (values.next(), values.next(), values.next())
        else {
            return refuse(
                number,
                text,
                "two values with a comma or a space between them are expected: bytes,cumulative",
            );
        };
        match (size.parse(), probability.parse()) {
            (Ok(size), Ok(probability)) => lines.push(Line {
                number,
                text,
                size,
                probability,
            }),
            (Err(_), Err(_)) if lines.is_empty() && !headings => headings = true,
            (Err(_), _) => return refuse(number, text, "the size in bytes is not a number"),
            (_, Err(_)) => {
                return refuse(number, text, "the cumulative probability is not a number");
            }
        }
    }
    Ok(lines)
}
