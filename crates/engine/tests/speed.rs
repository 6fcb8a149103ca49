mod plans;
use pathweave_engine::{Progress, run};
use pathweave_traffic::Size;
use pathweave_units::Time;
fn go(c: &str, n: u32, k: u32) {
    let ms: u64 = std::env::var("MS").map(|s| s.parse().unwrap()).unwrap_or(10);
    let mut g = plans::group(c, &[], plans::permutation(), Size::Unlimited);
    g.subflows = n;
    let plan = plans::plan(plans::fat_tree(k), plans::queue(100, Some(15)), vec![g], Some(Time::from_millis(ms)));
    let t = std::time::Instant::now();
    let out = run(&plan, &Progress::default()).unwrap();
    println!("HOPS {} {:.3}s share {:.4}", out.counters.packet_hops, t.elapsed().as_secs_f64(), out.goodput_share);
}
#[test] fn a() { go("dctcp", 1, 8) }
#[test] fn b() { go("lia", 4, 8) }
#[test] fn c() { go("xmp", 4, 8) }
#[test] fn d() { go("xmp", 4, 16) }
