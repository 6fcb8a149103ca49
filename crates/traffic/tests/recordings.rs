//! Lists of flows and GOAL schedules: what they say, and what is wrong with them.

use pathweave_traffic::recordings::{flow_list, goal};
use pathweave_traffic::tasks::Action;
use pathweave_units::{Bytes, Time};
use proptest::prelude::*;

fn host(text: &str) -> Result<u32, String> {
    let number = text.strip_prefix('h').unwrap_or(text).parse();
    number.map_err(|_| format!("no node is called \"{text}\""))
}

#[test]
fn a_list_may_have_its_columns_in_any_order_and_times_with_units() {
    let text = "# recorded\n\"bytes\",id,source,after,destination,start\n\
        64 KB,a,h0,,h1,0.000000000001\n\n1000,b,h1,a,h2,20 us # late\n7,c,2,\"b;a\",0,1e-3\n";
    let rows = flow_list::parse(text, host).unwrap();
    let seen: Vec<_> = rows
        .iter()
        .map(|row| {
            (
                row.line,
                row.start.as_picos(),
                row.source,
                row.destination,
                row.bytes.get(),
                row.after.clone(),
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            (3, 1, 0, 1, 64_000, vec![]),
            (5, 20_000_000, 1, 2, 1000, vec![0]),
            (6, 1_000_000_000, 2, 0, 7, vec![1, 0]),
        ]
    );
    let graph = flow_list::graph(&rows).unwrap();
    assert_eq!(graph.sends(), 3);
    assert_eq!(graph.earliest(2), Time::from_millis(1));
    assert_eq!(graph.after_end(0), [1, 2]);
}

#[test]
fn a_list_that_is_written_again_reads_the_same() {
    let text = "start,source,destination,bytes,after\n0.1,0,1,5,\n0.2,1,0,6,0\n";
    let names = ["h0", "h1"];
    let rows = flow_list::parse(text, host).unwrap();
    let written = flow_list::written(&rows, |host| names[host as usize]);
    let mut again = flow_list::parse(&written, host).unwrap();
    assert_eq!(
        flow_list::written(&again, |host| names[host as usize]),
        written
    );
    for (again, row) in again.iter_mut().zip(&rows) {
        again.line = row.line;
    }
    assert_eq!(again, rows);
}

#[test]
fn a_byte_order_mark_is_passed_over() {
    let text = "start,source,destination,bytes\n0.1,0,1,5\n";
    let marked = format!("\u{feff}{text}");
    assert_eq!(
        flow_list::parse(&marked, host).unwrap(),
        flow_list::parse(text, host).unwrap()
    );
}

#[test]
fn mistakes_in_a_list_are_named_with_line_and_column() {
    let cases = [
        ("", "there are no flows"),
        (
            "start,source,destination,bytes\n",
            "there are no flows below",
        ),
        (
            "start,source,destination\n",
            "line 1: there is no column \"bytes\"",
        ),
        (
            "start,source,destination,bytes,colour\n",
            "line 1: no column is called \"colour\"",
        ),
        (
            "start;source;destination;bytes\n",
            "line 1: semicolons stand between the names of the columns; write commas: start,source,destination,bytes",
        ),
        (
            "start\tsource\tdestination\tbytes\n",
            "line 1: tabs stand between",
        ),
        (
            "start,start,destination,bytes\n",
            "two columns are called \"start\"",
        ),
        (
            "start,source,destination,bytes\n0,0,1\n",
            "line 2: there are 3 values for 4 columns",
        ),
        (
            "start,source,destination,bytes\n0,0,1,1,1\n",
            "line 2: there are 5 values for 4 columns",
        ),
        (
            "start,source,destination,bytes\n-1,0,1,1\n",
            "line 2: column \"start\": a flow cannot start at -1 s",
        ),
        (
            "start,source,destination,bytes\nsoon,0,1,1\n",
            "line 2: column \"start\"",
        ),
        (
            "start,source,destination,bytes\n1e30,0,1,1\n",
            "line 2: column \"start\": 1e30 is too long",
        ),
        (
            "start,source,destination,bytes\n0,0,x,1\n",
            "line 2: column \"destination\": no node is called \"x\"",
        ),
        (
            "start,source,destination,bytes\n0,1,1,1\n",
            "column \"destination\": the flow goes from \"1\" to itself",
        ),
        (
            "start,source,destination,bytes\n0,0,1,0\n",
            "column \"bytes\": a flow of 0 B",
        ),
        (
            "start,source,destination,bytes\n0,0,1,1.5\n",
            "column \"bytes\"",
        ),
        (
            "start,source,destination,bytes,id\n0,0,1,1,a\n0,0,1,1,a\n",
            "line 3: column \"id\": a row before",
        ),
        (
            "start,source,destination,bytes,after\n0,0,1,1,7\n",
            "line 2: column \"after\": no row has the id \"7\"",
        ),
    ];
    for (text, expected) in cases {
        let error = flow_list::parse(text, host).unwrap_err().to_string();
        assert!(error.contains(expected), "{text:?}: {error}");
    }
    let circle = "start,source,destination,bytes,id,after\n0,0,1,1,a,c\n0,0,1,1,b,\n0,0,1,1,c,a\n";
    let error = flow_list::graph(&flow_list::parse(circle, host).unwrap()).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("line 2: column \"after\": the flow waits"),
        "{error}"
    );
}

#[test]
fn a_schedule_is_read_as_its_format_says() {
    let text = "num_ranks 3\n\
        /* two\nlines */ rank 0 {\nl1: send 100b to 1 tag 2 cpu 0 nic 0 // first\nl2: calc 50 cpu 1\nl2 irequires l1\nsend 0 b to 2\n}\n\
        rank 1 {\nx: recv 100b from 0 tag 2\ny: calc 10\ny requires x }\nrank 2 { recv 0b from 0 }\n";
    let goal = goal::parse(text).unwrap();
    assert_eq!((goal.ranks, goal.largest), (3, Bytes::new(100)));
    let time = |nanos| Some(Time::from_nanos(nanos));
    assert_eq!(
        goal.graph.actions(),
        [
            Action::Send {
                from: 0,
                to: 1,
                bytes: Bytes::new(100)
            },
            Action::Compute {
                processor: 0,
                time: time(50)
            },
            Action::Send {
                from: 0,
                to: 2,
                bytes: Bytes::new(1)
            },
            Action::Join,
            Action::Compute {
                processor: 1,
                time: time(10)
            },
            Action::Join,
        ]
    );
    assert_eq!(goal.graph.after_start(0), [1]);
    assert_eq!(goal.graph.after_end(0), [3]);
    assert_eq!(goal.graph.after_end(3), [4]);
    assert_eq!(goal.graph.after_end(2), [5]);
}

/// Messages of one channel meet in order, those of different tags whatever their order.
#[test]
fn sends_and_receives_meet_by_tag_and_order() {
    let text = "num_ranks 2\nrank 1 {\nrecv 2b from 0 tag 9\nrecv 1b from 0\nrecv 3b from 0\n}\n\
        rank 0 {\nsend 1b to 1\nsend 3b to 1\nsend 2b to 1 tag 9\n}\n";
    let graph = goal::parse(text).unwrap().graph;
    assert_eq!(
        [3, 4, 5].map(|send| graph.after_end(send).to_vec()),
        [vec![1], vec![2], vec![0]]
    );
}

#[test]
fn mistakes_in_a_schedule_are_named_with_their_line() {
    let two = |rank_0: &str, rank_1: &str| {
        format!("num_ranks 2\nrank 0 {{\n{rank_0}\n}}\nrank 1 {{\n{rank_1}\n}}\n")
    };
    let cases = [
        (String::new(), "num_ranks is missing"),
        ("num_ranks 0\n".to_owned(), "line 1: num_ranks is 0"),
        (
            "num_ranks 2\nnum_ranks 2\n".to_owned(),
            "line 2: num_ranks is given twice",
        ),
        (
            "rank 0 {\n}\n".to_owned(),
            "line 1: num_ranks must come before",
        ),
        (
            "num_ranks 2\nrank 2 {\n}\n".to_owned(),
            "line 2: there is no rank 2",
        ),
        (
            "num_ranks 2\nrank 0 {\n}\nrank 0 {\n}\n".to_owned(),
            "line 4: rank 0 has two blocks",
        ),
        (
            "num_ranks 2\nrank 0 {\ncalc 1\n".to_owned(),
            "line 3: the block of rank 0 is open",
        ),
        ("num_ranks 1\n}\n".to_owned(), "line 2: a block ends"),
        (
            "num_ranks 1\ncalc 1\n".to_owned(),
            "line 2: \"calc\" cannot stand here",
        ),
        ("num_ranks 1\nrank 0 {\n}\n".to_owned(), "no task"),
        ("num_ranks 1 /* open\n".to_owned(), "a comment is open"),
        (
            two("send 5b to 1", ""),
            "line 3: the send from rank 0 to rank 1 with tag 0 meets no receive",
        ),
        (
            two("calc 1", "recv 5b from 0 tag 3"),
            "line 6: the receive of rank 1 from rank 0 with tag 3 meets no send",
        ),
        (
            two("send 5b to 1", "recv 6b from 0"),
            "line 6: the receive of 6 B meets the send of 5 B in line 3",
        ),
        (
            two("send 5b to 1", "recv 5b from -1"),
            "line 6: a receive from any source",
        ),
        (
            two("send 5b to 1", "recv 5b from 0 tag -1"),
            "line 6: any tag",
        ),
        (
            two("send 5 to 1", ""),
            "line 3: \"to\" cannot stand here; expected b",
        ),
        (two("send 5b from 1", ""), "expected to"),
        (
            two("a: calc 1\na: calc 2", ""),
            "line 4: two tasks of rank 0 have the label \"a\"",
        ),
        (
            two("a: calc 1\nb requires a", ""),
            "line 4: no task of rank 0 before has the label \"b\"",
        ),
        (
            two("a: calc 99999999999999999999", ""),
            "line 3: \"99999999999999999999\" cannot stand here",
        ),
        (
            two("a: calc 1\nb: calc 1\na requires b\nb irequires a", ""),
            "line 3: the task waits",
        ),
        (
            two(
                "a: recv 1b from 1\nb: send 1b to 1\nb requires a",
                "a: recv 1b from 0\nb: send 1b to 0\nb requires a",
            ),
            "the schedule cannot end",
        ),
    ];
    for (text, expected) in cases {
        let error = goal::parse(&text).unwrap_err().to_string();
        assert!(error.contains(expected), "{text:?}: {error}");
    }
}

/// The pieces of which random schedules and lists are made, so that they come near sound ones.
const PIECES: &[&str] = &[
    "num_ranks",
    "rank",
    "{",
    "}",
    "send",
    "recv",
    "calc",
    "requires",
    "irequires",
    "to",
    "from",
    "tag",
    "cpu",
    "nic",
    "a",
    "b",
    "l1",
    ":",
    "0",
    "1",
    "2",
    "-1",
    "5b",
    "18446744073709551615",
    "//",
    "/*",
    "*/",
    "\n",
    "\n",
    " ",
    ",",
    "start",
    "source",
    "destination",
    "bytes",
    "id",
    "after",
    "start,source,destination,bytes\n",
    "1e300",
    "\"",
    "#",
    "20 us",
    "é",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn nothing_that_is_read_panics(pieces in prop::collection::vec(0..PIECES.len(), 0..60), spaced: bool) {
        let pieces: Vec<&str> = pieces.into_iter().map(|piece| PIECES[piece]).collect();
        let text = pieces.join(if spaced { " " } else { "" });
        let _ = goal::parse(&text);
        let _ = goal::parse(&format!("num_ranks 2\nrank 0 {{\n{text}\n}}\n"));
        if let Ok(rows) = flow_list::parse(&text, host) {
            let _ = flow_list::graph(&rows);
        }
    }

    #[test]
    fn no_text_at_all_panics(text in "\\PC*") {
        let _ = goal::parse(&text);
        let _ = flow_list::parse(&text, host);
    }
}

/// A million rows are read in seconds.
#[test]
fn a_large_list_is_read_at_once() {
    use std::fmt::Write;
    let mut text = "start,source,destination,bytes\n".to_owned();
    for row in 0..100_000u32 {
        let _ = writeln!(
            text,
            "{:.6},h{},h{},{}",
            f64::from(row) * 1e-6,
            row % 128,
            (row + 1) % 128,
            1000 + row
        );
    }
    let rows = flow_list::parse(&text, host).unwrap();
    assert_eq!(rows.len(), 100_000);
    assert_eq!(rows[99_999].start, Time::from_nanos(99_999_000));
    assert_eq!(flow_list::graph(&rows).unwrap().sends(), 100_000);
}

/// Lists as HPCC and its simulations with ns-3 have them.
#[test]
fn lists_with_a_number_of_flows_in_front_are_read() {
    let counted =
        "3\n0 1 3 100 1000000 2.0\n\nh1 2 3 100 7 2.00000015  \n2\t0 3 101 64000 2.5 # late\n";
    let named =
        "start,source,destination,bytes\n2.0,0,1,1000000\n2.00000015,1,2,7\n2.5,2,0,64000\n";
    let content = |text: &str| {
        let rows = flow_list::parse(text, host).unwrap();
        let names = ["h0", "h1", "h2"];
        flow_list::written(&rows, |host| names[host as usize])
    };
    assert_eq!(content(counted), content(named));
    let refused = [
        (
            "2\n0 1 3 100 5 2.0\n",
            1,
            "2 flows are announced, and 1 follow",
        ),
        ("0\n", 1, "0 flows are announced, and 0 follow"),
        (
            "1\n0 1 3 100 5 2.0\n1 0 3 100 5 2.0\n",
            3,
            "more flows than the 1",
        ),
        ("1\n0 1 3 100 5\n", 2, "there are 5 values"),
        ("1\n0,1,3,100,5,2.0\n", 2, "there are 1 values"),
        ("1\n0 1 x 100 5 2.0\n", 2, "\"x\": no priority group"),
        ("1\n0 1 3 -1 5 2.0\n", 2, "\"-1\": no port"),
        ("1\n0 0 3 100 5 2.0\n", 2, "to itself"),
        ("1\n0 q 3 100 5 2.0\n", 2, "no node is called"),
        ("1\n0 1 3 100 0 2.0\n", 2, "nothing to send"),
        ("1\n0 1 3 100 5 soon\n", 2, "\"soon\""),
        ("1 2\n0 1 3 100 5 2.0\n", 1, "is no number of flows"),
        (
            "999999999999\n0 1 3 100 5 2.0\n",
            1,
            "is no number of flows",
        ),
    ];
    for (text, line, said) in refused {
        let error = flow_list::parse(text, host).expect_err(text);
        assert_eq!(error.line, line, "{text}: {}", error.problem);
        assert!(error.problem.contains(said), "{text}: {}", error.problem);
    }
}

#[test]
fn many_comments_in_a_line_take_no_longer_each_than_few() {
    let comments = "/* */ ".repeat(200_000);
    let text = format!(
        "num_ranks 2\n{comments}\nrank 0 {{\nsend 1b to 1\n}}\nrank 1 {{\nrecv 1b from 0\n}}\n"
    );
    let began = std::time::Instant::now();
    assert_eq!(goal::parse(&text).unwrap().graph.sends(), 1);
    let took = began.elapsed();
    assert!(took < std::time::Duration::from_secs(10), "{took:?}");
}

#[test]
fn many_sends_between_two_ranks_take_no_longer_each_than_few() {
    const MANY: usize = 200_000;
    let (sends, receives) = (
        "send 1b to 1\n".repeat(MANY),
        "recv 1b from 0\n".repeat(MANY),
    );
    let text = format!("num_ranks 2\nrank 0 {{\n{sends}}}\nrank 1 {{\n{receives}}}\n");
    let began = std::time::Instant::now();
    assert_eq!(goal::parse(&text).unwrap().graph.sends() as usize, MANY);
    let took = began.elapsed();
    assert!(took < std::time::Duration::from_secs(20), "{took:?}");
}
