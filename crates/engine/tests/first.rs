mod plans;
use pathweave_engine::{Progress, run, run_with_departure_ports};
use pathweave_traffic::Size;
use pathweave_units::Time;

#[test]
fn dumb() {
    for c in ["reno", "dctcp"] {
        let plan = plans::plan(
            plans::dumbbell(2, Time::from_micros(100)),
            plans::queue(100, (c == "dctcp").then_some(20)),
            vec![{
                let mut g = plans::group(c, &[], plans::pairs(&[Time::ZERO, Time::ZERO]), Size::Unlimited);
                g.listed = vec![Default::default(), Default::default()];
                g
            }],
            Some(Time::from_millis(500)),
        );
        let out = run(&plan, &Progress::default()).unwrap();
        println!("{c} {:?} {:?}", out.counters, out.table("flows").unwrap().numbers("goodput_bps"));
        println!("{:?}", out.table("links").unwrap().numbers("queue_mean"));
        let out2 = run_with_departure_ports(&plan, &Progress::default()).unwrap();
        assert_eq!(out.hash, out2.hash);
    }
}

#[test]
fn fat() {
    for (c, n, k) in [("dctcp", 1, Some(15)), ("lia", 4, Some(15)), ("xmp", 4, Some(15))] {
        let mut g = plans::group(c, &[], plans::permutation(), Size::Unlimited);
        g.subflows = n;
        let plan = plans::plan(plans::fat_tree(8), plans::queue(100, k), vec![g], Some(Time::from_millis(20)));
        let t = std::time::Instant::now();
        let out = run(&plan, &Progress::default()).unwrap();
        let dt = t.elapsed().as_secs_f64();
        println!("{c} {:?} share {} {:.2} M/s", out.counters, out.goodput_share, out.counters.packet_hops as f64 / dt / 1e6);
        let out2 = run_with_departure_ports(&plan, &Progress::default()).unwrap();
        assert_eq!(out.hash, out2.hash);
    }
}
