//! `docs/guides/add-a-provider.md`, as a newcomer follows it: its files are written, its commands are run.

use super::Place;

const GUIDE: &str = include_str!("../../../../../docs/guides/add-a-provider.md");

/// The files that the guide says to save: name and text.
fn files() -> Vec<(&'static str, &'static str)> {
    let marked = GUIDE.split("<!-- file: ").skip(1);
    marked
        .map(|rest| {
            let (name, rest) = rest.split_once(" -->").unwrap();
            let (_, rest) = rest.split_once('\n').unwrap().1.split_once('\n').unwrap();
            (name, rest.split_once("```").unwrap().0)
        })
        .collect()
}

/// The commands that the guide says to run.
fn commands() -> Vec<Vec<&'static str>> {
    let blocks = GUIDE.split("```sh\n").skip(1).map(|rest| rest.split_once("```").unwrap().0);
    blocks.flat_map(str::lines).map(|line| line.split(' ').collect()).collect()
}

#[test]
fn the_guide_leads_to_a_passing_contract() {
    let (place, files, commands) = (Place::empty(), files(), commands());
    assert_eq!(
        files.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
        ["acme.toml", "vectors.json", "captured.json"]
    );
    assert_eq!(commands.len(), 3);
    files.iter().for_each(|(name, text)| place.write(name, text));
    let mut told = String::new();
    for command in commands {
        let ran = place.run(command.strip_prefix(&["paidonce"]).unwrap());
        assert_eq!(ran.code, 0, "{command:?}: {}{}", ran.out, ran.err);
        told.push_str(&ran.out);
    }
    for expected in
        ["3 of 3 vectors as expected", "timestamp_too_old", "hint", "1001", "captured", "19.90 EUR"]
    {
        assert!(told.contains(expected), "{expected}: {told}");
    }
    // What it says can be looked at.
    for name in ["stripe", "nowpayments", "paypal", "stbl-pay"] {
        assert_eq!(place.run(&["contract", "show", name]).code, 0);
    }
}
