fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let sets: Vec<String> = args[1..]
        .iter()
        .filter(|a| a.starts_with("set:"))
        .map(|a| a[4..].to_owned())
        .collect();
    let only: Vec<String> = args[1..]
        .iter()
        .filter(|a| a.starts_with("only:"))
        .map(|a| a[5..].to_owned())
        .collect();
    let size = args[1..].iter().find_map(|a| a.strip_prefix("size:"));
    let t = std::time::Instant::now();
    match pathweave_scenario::Scenario::load(args[0].as_ref(), size, &sets, &only, None) {
        Ok(s) => {
            eprintln!("{:?}", t.elapsed());
            println!("{} {:?}", s.title(), s.seeds());
            for v in s.variants() {
                println!("{:?} {} {} {}", v.axes, v.label, v.slug, v.hash(1));
                let p = v.plan(1);
                println!("  groups {} links {}", p.groups.len(), p.queues.len());
            }
            println!(
                "{}",
                serde_json::to_string_pretty(&s.variants()[0].resolved).unwrap()
            );
        }
        Err(e) => {
            eprintln!("{:?}", t.elapsed());
            print!("{}", e.render(100, false))
        }
    }
}
