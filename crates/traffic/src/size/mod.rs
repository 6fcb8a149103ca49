//! Flow size distributions.

mod cdf;

pub use cdf::{CDFS, Cdf};

use crate::TrafficError;
use pathweave_random::Stream;
use pathweave_units::Bytes;

/// What becomes of a Pareto size above the maximum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Beyond {
    /// Drawn again: the distribution is the Pareto distribution given that it stays below.
    #[default]
    Redraw,
    /// Cut to the maximum.
    Clip,
}

/// A flow size distribution.
#[derive(Clone, Debug, PartialEq)]
pub enum Size {
    /// All flows alike.
    Fixed(Bytes),
    /// Every whole number of bytes between the two is equally likely.
    Uniform {
        /// Smallest size.
        min: Bytes,
        /// Largest size.
        max: Bytes,
    },
    /// Pareto, P(size > x) = (scale / x)^shape.
    Pareto {
        /// Tail exponent, above 1.
        shape: f64,
        /// Mean of the distribution before `maximum` acts: scale = mean (shape - 1) / shape.
        mean: Bytes,
        /// Largest size.
        maximum: Option<Bytes>,
        /// What becomes of larger ones.
        beyond: Beyond,
    },
    /// Points of a cumulative distribution.
    Empirical(Cdf),
    /// Sends until it is stopped.
    Unlimited,
}

impl Size {
    /// Refuses impossible parameters.
    ///
    /// # Errors
    /// The text names the parameter and says what would be accepted.
    pub fn check(&self) -> Result<(), TrafficError> {
        let refuse = |text: String| Err(TrafficError(text));
        match self {
            Size::Fixed(Bytes::ZERO) => refuse("a size of 0 B has nothing to send".to_owned()),
            Size::Uniform { min, max } if min > max => refuse(format!(
                "size runs from min = {min} to max = {max}; min must not be above max"
            )),
            Size::Uniform {
                min: Bytes::ZERO, ..
            } => refuse("min is 0 B; the smallest flow has 1 B".to_owned()),
            Size::Pareto {
                shape,
                mean,
                maximum,
                ..
            } => {
                if !(shape.is_finite() && *shape > 1.0) {
                    return refuse(format!(
                        "shape is {shape}; it must be above 1: at 1 and below there is no mean"
                    ));
                }
                if *mean == Bytes::ZERO {
                    return refuse("mean is 0 B; it must be above zero".to_owned());
                }
                match maximum {
                    Some(maximum) if (maximum.get() as f64) <= scale(*shape, *mean) => {
                        refuse(format!(
                            "maximum is {maximum}, but the smallest size of this distribution, mean (shape - 1) / shape, is {:.0} B",
                            scale(*shape, *mean)
                        ))
                    }
                    _ => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// The largest size that can be drawn; `None` where there is no bound, and for unlimited flows.
    pub fn largest(&self) -> Option<Bytes> {
        match self {
            Size::Fixed(size) => Some(*size),
            Size::Uniform { max, .. } => Some(*max),
            Size::Pareto { maximum, .. } => *maximum,
            Size::Empirical(cdf) => cdf.points().last().map(|&(bytes, _)| whole(bytes)),
            Size::Unlimited => None,
        }
    }

    /// The mean in bytes, before rounding to whole bytes; `None` for unlimited flows.
    ///
    /// With a = shape, m = scale, M = maximum and r = m / M, the mean of a Pareto distribution is
    /// - a m / (a - 1) without a maximum,
    /// - a m / (a - 1) x (1 - r^(a-1)) / (1 - r^a) when larger sizes are drawn again,
    /// - a m / (a - 1) - m r^(a-1) / (a - 1) when they are cut.
    pub fn mean(&self) -> Option<f64> {
        match self {
            Size::Fixed(size) => Some(size.get() as f64),
            Size::Uniform { min, max } => Some((min.get() as f64 + max.get() as f64) / 2.0),
            Size::Pareto {
                shape,
                mean,
                maximum,
                beyond,
            } => {
                let whole = mean.get() as f64;
                let Some(maximum) = maximum else {
                    return Some(whole);
                };
                let scale = scale(*shape, *mean);
                let ratio = scale / maximum.get() as f64;
                let beyond_mean = libm::pow(ratio, shape - 1.0);
                Some(match beyond {
                    Beyond::Redraw => {
                        whole * (1.0 - beyond_mean) / (1.0 - libm::pow(ratio, *shape))
                    }
                    Beyond::Clip => whole - scale * beyond_mean / (shape - 1.0),
                })
            }
            Size::Empirical(cdf) => Some(cdf.mean()),
            Size::Unlimited => None,
        }
    }

    /// Draws a size, at least one byte; `None` for unlimited flows. All but the fixed and unlimited
    /// use up one number of the stream or, rarely and only the uniform, a few more.
    pub fn draw(&self, stream: &mut Stream) -> Option<Bytes> {
        match self {
            Size::Fixed(size) => Some(*size),
            Size::Uniform { min, max } => Some(Bytes::new(stream.between(min.get(), max.get()))),
            Size::Pareto {
                shape,
                mean,
                maximum,
                beyond,
            } => {
                let scale = scale(*shape, *mean);
                let maximum = maximum.map_or(f64::INFINITY, |maximum| maximum.get() as f64);
                let uniform = stream.uniform();
                // Drawing again until the size fits is the same as drawing the probability from below
                // that of the maximum.
                let probability = match beyond {
                    Beyond::Redraw => uniform * (1.0 - libm::pow(scale / maximum, *shape)),
                    Beyond::Clip => uniform,
                };
                let size = scale * libm::pow(1.0 - probability, -1.0 / shape);
                Some(whole(size.min(maximum)))
            }
            Size::Empirical(cdf) => Some(whole(cdf.quantile(stream.uniform()))),
            Size::Unlimited => None,
        }
    }
}

/// The smallest value of a Pareto distribution with this mean.
fn scale(shape: f64, mean: Bytes) -> f64 {
    mean.get() as f64 * (shape - 1.0) / shape
}

/// The nearest whole number of bytes, at least one.
fn whole(size: f64) -> Bytes {
    Bytes::new(((size + 0.5) as u64).max(1))
}
