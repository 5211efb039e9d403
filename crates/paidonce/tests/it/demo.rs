//! `demo --once`: every scenario of the table, against the built binary, on real sockets.

use std::process::Command;

use serde_json::Value;

#[test]
fn demo_once_is_as_expected() {
    let ran =
        Command::new(env!("CARGO_BIN_EXE_paidonce")).args(["--json", "demo", "--once"]).output().unwrap();
    let report: Value = serde_json::from_slice(&ran.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&ran.stderr)));
    let rows = report["scenarios"].as_array().unwrap();
    let differing: Vec<_> = rows.iter().filter(|row| row["ok"] != true).collect();
    assert!(differing.is_empty(), "{differing:#?}");
    assert!(rows.len() >= 30, "{} scenarios", rows.len());
    assert_eq!(report["audit"]["violations"].as_array().unwrap().len(), 0, "{report:#}");
    assert_eq!(ran.status.code(), Some(0));
}
