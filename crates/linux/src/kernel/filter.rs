//! Which subflows are shown: `--filter port=5201`.

use super::kernel_names::{entry, kernel_name};
use super::rows::Row;
use std::net::IpAddr;
use std::str::FromStr;

/// What a subflow must have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Filter {
    /// The kernel's name of its controller.
    Controller(String),
    /// One of its addresses has this prefix, with its length in bits.
    Address(IpAddr, u32),
    /// One of its ports.
    Port(u16),
    /// The token of its MPTCP connection.
    Token(u32),
}

impl FromStr for Filter {
    type Err = String;

    fn from_str(text: &str) -> Result<Filter, String> {
        let (kind, value) = text
            .split_once('=')
            .ok_or("it must be controller=NAME, address=ADDRESS, port=NUMBER or token=TOKEN")?;
        match kind {
            "controller" => entry(value)
                .map(|entry| Filter::Controller(kernel_name(entry.name)))
                .map_err(|failure| failure.to_string()),
            "address" => address(value),
            "port" => match value.parse() {
                Ok(port @ 1..) => Ok(Filter::Port(port)),
                _ => Err(format!("port must be between 1 and 65535, got {value}")),
            },
            "token" => u32::from_str_radix(value.trim_start_matches("0x"), 16)
                .map(Filter::Token)
                .map_err(|_| {
                    format!("token must be hexadecimal as `watch` shows it, for example 69f729a0, got {value}")
                }),
            other => Err(format!(
                "\"{other}\" is nothing to filter by; controller, address, port and token are"
            )),
        }
    }
}

fn address(text: &str) -> Result<Filter, String> {
    let (address, length) = text
        .split_once('/')
        .map_or((text, None), |(a, l)| (a, Some(l)));
    let address: IpAddr = address.parse().map_err(|_| {
        format!("address must be an IP address such as 10.0.0.1 or 10.0.0.0/8, got {text}")
    })?;
    let longest = if address.is_ipv4() { 32 } else { 128 };
    let length = match length.map(str::parse::<u32>) {
        None => longest,
        Some(Ok(length)) if length <= longest => length,
        Some(_) => {
            return Err(format!(
                "the length of the prefix must be between 0 and {longest}, got {text}"
            ));
        }
    };
    Ok(Filter::Address(address, length))
}

impl Filter {
    fn holds(&self, controller: &str, token: Option<u32>, row: &Row) -> bool {
        let ends = [row.local, row.remote];
        match self {
            Filter::Controller(name) => name == controller,
            Filter::Address(prefix, length) => ends
                .iter()
                .any(|end| begins_with(end.ip(), *prefix, *length)),
            Filter::Port(port) => ends.iter().any(|end| end.port() == *port),
            Filter::Token(wanted) => token == Some(*wanted),
        }
    }
}

fn begins_with(address: IpAddr, prefix: IpAddr, length: u32) -> bool {
    let same = |differ: u128, bits: u32| length == 0 || differ >> (bits - length) == 0;
    match (address, prefix) {
        (IpAddr::V4(a), IpAddr::V4(b)) => same(u128::from(a.to_bits() ^ b.to_bits()), 32),
        (IpAddr::V6(a), IpAddr::V6(b)) => same(a.to_bits() ^ b.to_bits(), 128),
        _ => false,
    }
}

/// Whether one filter of each kind that is there holds.
pub fn admit(filters: &[Filter], controller: &str, token: Option<u32>, row: &Row) -> bool {
    filters.iter().all(|filter| {
        let kind = std::mem::discriminant(filter);
        filters
            .iter()
            .filter(|other| std::mem::discriminant(*other) == kind)
            .any(|other| other.holds(controller, token, row))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use pathweave_units::{Bytes, Time};

    fn row() -> Row {
        Row {
            number: 0,
            local: "10.0.1.1:47886".parse().unwrap(),
            remote: "[2001:db8::1]:5201".parse().unwrap(),
            namespace: 1,
            window: 10.0,
            ssthresh: f64::INFINITY,
            smoothed_rtt: Time::from_nanos(0),
            segment: Bytes::new(1448),
            packets: 0,
            marks: 0,
            losses: 0,
            timeouts: 0,
            cuts: 0,
            failed: false,
            suppressed: false,
        }
    }

    #[test]
    fn kinds_must_all_hold_and_those_of_one_kind_are_alternatives() {
        for (texts, admitted) in [
            (&[][..], true),
            (&["controller=xmp"], true),
            (&["controller=pw_xmp", "port=5201"], true),
            (&["controller=lia"], false),
            (&["controller=lia", "controller=xmp"], true),
            (&["port=5202"], false),
            (&["port=5202", "port=47886"], true),
            (&["port=5201", "token=1"], false),
            (&["token=0x69f729a0"], true),
            (&["address=10.0.1.1"], true),
            (&["address=10.0.1.2"], false),
            (&["address=10.0.1.2/30"], true),
            (&["address=0.0.0.0/0"], true),
            (&["address=2001:db8::/32"], true),
            (&["address=2001:db9::/32"], false),
            (&["address=::/0", "controller=lia"], false),
        ] {
            let filters: Vec<Filter> = texts.iter().map(|text| text.parse().unwrap()).collect();
            let seen = admit(&filters, "pw_xmp", Some(0x69f7_29a0), &row());
            assert_eq!(seen, admitted, "{texts:?}");
        }
    }

    #[test]
    fn what_is_no_filter_is_refused_with_what_would_be_right() {
        for (text, said) in [
            (
                "5201",
                "it must be controller=NAME, address=ADDRESS, port=NUMBER or token=TOKEN",
            ),
            (
                "prot=5201",
                "\"prot\" is nothing to filter by; controller, address, port and token are",
            ),
            ("port=70000", "port must be between 1 and 65535, got 70000"),
            ("port=0", "port must be between 1 and 65535, got 0"),
            ("token=xyz", "got xyz"),
            (
                "address=host",
                "address must be an IP address such as 10.0.0.1 or 10.0.0.0/8, got host",
            ),
            ("address=10.0.0.0/33", "between 0 and 32, got 10.0.0.0/33"),
            (
                "controller=bbr",
                "there is no controller \"bbr\" for the kernel",
            ),
        ] {
            let message = text.parse::<Filter>().unwrap_err();
            assert!(message.contains(said), "{text}: {message}");
        }
    }
}
