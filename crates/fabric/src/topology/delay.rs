//! Propagation delays, fixed or drawn from a range.

use crate::FabricError;
use pathweave_random::Stream;
use pathweave_units::Time;

/// The one-way propagation delay of a cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delay {
    /// The same for every cable.
    Fixed(Time),
    /// Drawn for each cable, both directions alike; every picosecond of the range is equally likely.
    Uniform {
        /// Shortest delay.
        min: Time,
        /// Longest delay.
        max: Time,
    },
}

impl From<Time> for Delay {
    fn from(delay: Time) -> Delay {
        Delay::Fixed(delay)
    }
}

impl Delay {
    /// Longest delay that is accepted: an hour, beyond which it can only be a slip.
    const LONGEST: Time = Time::from_secs(3_600);

    /// The delay of the next cable.
    pub fn draw(&self, stream: &mut Stream) -> Time {
        match *self {
            Delay::Fixed(delay) => delay,
            Delay::Uniform { min, max } => {
                Time::from_picos(stream.between(min.as_picos(), max.as_picos()))
            }
        }
    }

    /// Refuses an empty range.
    pub(super) fn check(&self, option: &str) -> Result<(), FabricError> {
        let longest = match *self {
            Delay::Fixed(delay) => delay,
            Delay::Uniform { min, max } if min > max => {
                return Err(FabricError(format!(
                    "{option} runs from {min} to {max}; the first must not be above the second"
                )));
            }
            Delay::Uniform { max, .. } => max,
        };
        if longest > Delay::LONGEST {
            return Err(FabricError(format!(
                "{option} is {longest}; at most {} is accepted",
                Delay::LONGEST
            )));
        }
        Ok(())
    }
}
