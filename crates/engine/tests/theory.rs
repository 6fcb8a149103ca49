mod plans;
use pathweave_engine::Output;
use pathweave_fabric::LinkId;
use pathweave_scenario::{Plan, Sampling};
use pathweave_traffic::Size;
use pathweave_units::Time;

fn single(controller: &str, parameters: &[(&str, f64)], delay: Time, limit: u32, k: Option<u32>) -> Plan {
    let group = plans::group(controller, parameters, plans::single(), Size::Unlimited);
    plans::plan(plans::dumbbell(1, delay), plans::queue(limit, k), vec![group], None)
}
fn bottleneck(o: &Output, col: &str) -> f64 { plans::table(o, "links").numbers(col)[0] }

#[test]
fn probe_reno() {
    for rec in [pathweave_transport::Recovery::Sack, pathweave_transport::Recovery::NewReno] {
    for (d, limit) in [(100u64, 100u32), (100, 40), (500, 42), (500, 20)] {
        for every in [1, 2] {
        let mut p = single("reno", &[], Time::from_micros(d), limit, None);
        p.groups[0].transport.recovery = rec;
        p.groups[0].transport.ack.every = every;
        p.groups[0].transport.minimum_rto = Time::from_millis(10);
        p.stop.at = Some(Time::from_millis(1000));
        p.measure.from = Time::from_millis(200);
        p.record.windows = Some(Sampling::OnChange);
        let o = plans::run(&p);
        let t = plans::table(&o, "windows");
        let (time, w) = (t.numbers("time_s"), t.numbers("window_packets"));
        let cuts: Vec<usize> = (1..w.len()).filter(|&i| w[i] < 0.7 * w[i-1] && time[i] > 0.2).collect();
        let (a, b) = (cuts[0], *cuts.last().unwrap());
        let mut area = 0.0;
        for i in a..b { area += w[i] * (time[i+1]-time[i]); }
        let mean = area / (time[b]-time[a]);
        let top: Vec<f64> = cuts.iter().map(|&i| w[i-1]).collect();
        println!("{rec:?} d{d} lim{limit} ev{every} cuts {} top {:.2}..{:.2} mean {:.3} ratio {:.4} period {:.6} util {:.5} to {:?} drops {}", cuts.len(), top.iter().cloned().fold(f64::MAX, f64::min), top.iter().cloned().fold(0.0, f64::max), mean, mean/plans::mean(&top), (time[b]-time[a])/(cuts.len()-1) as f64, bottleneck(&o, "utilisation"), plans::counted(&o,"timeouts"), plans::table(&o,"links").integers("drops")[0]);
        }
    }}
}

#[test]
fn probe_bos() {
    let bdp: f64 = (2.0*(200.0 + 0.2) + 2.4 + 12.0 + 0.5) / 12.0;
    for beta in [2.0f64, 4.0] {
        for every in [1, 2] {
        let star = bdp/(beta-1.0);
        for f in [0.3f64, 0.4,0.5,0.6,0.7,0.8,0.9,1.0] {
            let k = if f == 1.0 { star.ceil() as u32 + 1 } else { (f*star).round() as u32 };
            let mut p = single("bos", &[("beta", beta)], Time::from_micros(200), 500, Some(k));
            p.groups[0].transport.ack.every = every;
            p.stop.at = Some(Time::from_millis(500));
            p.measure.from = Time::from_millis(100);
            let o = plans::run(&p);
            println!("beta {beta} every {every} bdp {bdp:.1} f {f} k {k} util {:.5} q {:.2}", bottleneck(&o, "utilisation"), bottleneck(&o, "queue_mean"));
        }}
    }
}

#[test]
fn probe_dctcp() {
    for (d, k) in [(100u64, 20u32), (100, 40), (200, 40), (200, 65)] {
        for n in [1usize, 2] {
            for every in [1, 2] {
            let group = { let mut g = plans::group("dctcp", &[], plans::pairs(&vec![Time::ZERO; n]), Size::Unlimited); g.transport.ack.every = every; g };
            let mut p = plans::plan(plans::dumbbell(n as u32, Time::from_micros(d)), plans::queue(500, Some(k)), vec![group], Some(Time::from_millis(400)));
            p.record.queues = Some(Time::from_micros(5));
            p.record.queue_links = vec![LinkId(0)];
            p.measure.from = Time::from_millis(200);
            let o = plans::run(&p);
            let t = plans::table(&o, "queues");
            let q: Vec<(f64, u64)> = t.numbers("time_s").iter().copied().zip(t.integers("packets").iter().copied()).filter(|(t, _)| *t > 0.2).collect();
            // peaks per period: window 
            let max = q.iter().map(|x| x.1).max().unwrap();
            let min = q.iter().map(|x| x.1).min().unwrap();
            let bdp = (2.0*(d as f64 + 0.2) + 2.4 + 12.0 + 0.5) / 12.0;
            let pred = 0.5 * (2.0 * n as f64 * (bdp + k as f64)).sqrt();
            println!("d{d} k{k} n{n} ev{every} min {min} max {max} amp {} pred {pred:.2} mean {:.2} util {:.5} goodputs {:?}", max-min, bottleneck(&o, "queue_mean"), bottleneck(&o,"utilisation"), plans::of_flows(&o, "goodput_bps"));
            }
        }
    }
}

#[test]
fn probe_shares() {
    for (c, params, limit, k) in [("reno", vec![], 40, None), ("dctcp", vec![], 500, Some(20)), ("bos", vec![("beta",4.0)], 500, Some(20)), ("bos", vec![("beta",2.0)], 500, Some(20))] {
        for seed in 1..=4 {
            let mut g = plans::group(c, &params, plans::pairs(&[Time::ZERO, Time::from_millis(50)]), Size::Unlimited);
            g.transport.minimum_rto = Time::from_millis(10);
            let mut p = plans::plan(plans::dumbbell(2, Time::from_micros(100)), plans::queue(limit, k), vec![g], Some(Time::from_millis(1500)));
            p.seed = seed;
            p.measure.from = Time::from_millis(300);
            let o = plans::run(&p);
            let g = plans::of_flows(&o, "goodput_bps");
            println!("{c} seed {seed} {:?} ratio {:.4} timeouts {:?}", g, g[0]/g[1], plans::counted(&o, "timeouts"));
        }
    }
}

#[test]
fn probe_multipath() {
    for (multi, one, k, limit, d) in [("xmp","bos",Some(20),500,100u64), ("xmp","bos",Some(20),500,300),("xmp","bos",Some(40),500,300), ("lia","reno",None,100,100),("lia","reno",None,200,300)] {
        for n in [2u32, 4] {
            let mut ratios = vec![];
            for seed in 1..=4 {
                let mk = |c: &str, i: u32, n: u32| { let mut g = plans::group(c, &[], plans::flows(&[(i, 2+i, Time::ZERO)]), Size::Unlimited); g.name = format!("{i}"); g.subflows = n; g.transport.minimum_rto = Time::from_millis(10); g };
                let mut p = plans::plan(plans::dumbbell(2, Time::from_micros(d)), plans::queue(limit, k), vec![mk(multi, 0, n), mk(one, 1, 1)], Some(Time::from_millis(1500)));
                p.seed = seed;
                p.measure.from = Time::from_millis(300);
                let o = plans::run(&p);
                let g = plans::of_flows(&o, "goodput_bps");
                let subs = plans::counted(&o, "subflows");
                let r = if subs[0] == u64::from(n) { g[0]/g[1] } else { g[1]/g[0] };
                ratios.push(r);
                if seed == 1 { println!("   {:?} to {:?}", plans::table(&o,"subflows").numbers("goodput_bps"), plans::counted(&o,"timeouts")); }
            }
            println!("{multi}x{n} vs {one} k {k:?} limit {limit} d {d}: {:?} mean {:.4}", ratios, plans::mean(&ratios));
        }
    }
}


#[test]
fn probe_lia() {
    for (red, limit, d) in [(None, 100u32, 100u64), (None, 200, 300), (None, 60, 300), (Some((5.0, 200.0, 0.05)), 200, 300), (Some((5.0, 200.0, 0.05)), 200, 100), (Some((0.0, 400.0, 0.04)), 400, 300), (Some((0.0, 400.0, 0.02)), 400, 300)] {
        for n in [1u32, 2, 4] {
            let mut ratios = vec![]; let mut losses = vec![];
            for seed in 1..=4 {
                let mk = |c: &str, i: u32, n: u32| { let mut g = plans::group(c, &[], plans::flows(&[(i, 2+i, Time::ZERO)]), Size::Unlimited); g.name = format!("{i}"); g.subflows = n; g.transport.minimum_rto = Time::from_millis(10); g };
                let mut q = plans::queue(limit, None);
                if let Some((from, to, probability)) = red { q.marking = pathweave_network::Marking::Linear { from, to, probability }; q.drop_ecn_blind = true; }
                let mut p = plans::plan(plans::dumbbell(2, Time::from_micros(d)), q, vec![mk("lia", 0, n), mk("reno", 1, 1)], Some(Time::from_millis(2000)));
                p.seed = seed;
                p.measure.from = Time::from_millis(200);
                let o = plans::run(&p);
                let g = plans::of_flows(&o, "goodput_bps");
                let subs = plans::table(&o, "flows").column("controller");
                let l0 = matches!(subs, Some(pathweave_engine::Column::Labels{names, codes}) if names[codes[0] as usize] == "lia");
                let (a, b) = if l0 { (0, 1) } else { (1, 0) };
                ratios.push(g[a]/g[b]);
                let rt = plans::counted(&o, "retransmits"); let by = plans::counted(&o, "delivered_bytes");
                losses.push((rt[a] as f64/by[a] as f64)/(rt[b] as f64/by[b] as f64));
                if seed == 1 { println!("   {:?} to {:?} rt {rt:?} q {:.1} util {:.4}", plans::table(&o,"subflows").numbers("goodput_bps"), plans::counted(&o,"timeouts"), bottleneck(&o, "queue_mean"), bottleneck(&o, "utilisation")); }
            }
            println!("red {red:?} liax{n} limit {limit} d {d}: {:.3?} mean {:.4} lossratios {:.3?}", ratios, plans::mean(&ratios), losses);
        }
    }
}
