//! The outbox's part of the scenarios: what workers and sweeps do, as text.
//!
//! A task is named `grant ORDER`, `lookup PAYMENT`, `EFFECT ORDER` (a copy that is kept) or `EFFECT ORDER OCCASION`.

use paidonce_ledger::testing::{account, id};
use paidonce_ledger::{
    Body, Claim, Command, EffectName, EffectRule, GrantFailed, Happening, Key, OrderId, Outcome, Prepare,
    Renew, Reply, Retries, Settle, Subject, Task, TaskKey, Unit, Work,
};

use super::scenario::{Player, a_payment};
use crate::{Bodies, Due, Page, Stale, TaskFilter};

/// Rows that a scenario shows at most.
const SHOWN: usize = 100;

impl Player {
    pub(super) fn outbox(&mut self, line: &str, options: &[(&str, &str)]) -> Vec<String> {
        let words: Vec<_> = line.split(' ').filter(|word| !word.contains('=')).collect();
        let option = |name: &str| options.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
        let version = || option("v").and_then(|v| v.parse().ok()).expect("a version: v=1");
        let lease_ms = 1_000 * option("lease").and_then(|s| s.parse::<i64>().ok()).unwrap_or(30);
        match words[..] {
            ["effect", name, ..] => self.effect(name, options),
            ["claim", ref task @ ..] => {
                let owner = id(option("by").unwrap_or("worker-1"));
                self.work(&Command::Claim(Claim { task: self.a_task(task), owner, lease_ms }))
            }
            ["renew", ref task @ ..] => {
                self.work(&Command::Renew(Renew { task: self.a_task(task), version: version(), lease_ms }))
            }
            ["prepare", ref task @ ..] => {
                let revision = option("r").and_then(|r| r.parse().ok()).expect("a revision: r=1");
                let body = Body::new(option("body").unwrap_or("hello").as_bytes().to_vec());
                let prepare = Prepare { task: self.a_task(task), version: version(), revision, body };
                self.work(&Command::Prepare(prepare))
            }
            ["settle", ref task @ .., outcome] => {
                let outcome = match outcome {
                    "done" => Outcome::Done,
                    "retry" => Outcome::Retry(
                        option("after").map(|s| self.now.plus_ms(1_000 * s.parse::<i64>().expect("seconds"))),
                    ),
                    "uncertain" => Outcome::Uncertain,
                    "refused" => Outcome::Refused,
                    "not_configured" => Outcome::NotConfigured,
                    other => panic!("no outcome {other:?}"),
                };
                let (task, version) = (self.a_task(task), version());
                let detail = option("said").unwrap_or("500").into();
                self.work(&Command::Settle(Settle { task, version, outcome, took_ms: 7, detail }))
            }
            ["grant-fails", ref task @ ..] => {
                let (task, version) = (self.a_task(task), version());
                let detail = option("said").unwrap_or("no such table").into();
                self.work(&Command::GrantFailed(GrantFailed { task, version, detail }))
            }
            ["sweep"] => self.sweep(),
            ["tasks"] => self.tasks(),
            ["due", "lookups"] => self.due(&Due::Lookups(account())),
            ["due", "grants"] => self.due(&Due::Grants),
            ["due", "syncs", effect] => self.due(&Due::Syncs(id(effect))),
            ["due", _, effect] => self.due(&Due::Sends(id(effect))),
            ["attempts", ref task @ ..] => {
                let tries = self.store.attempts(&self.a_task(task)).expect("readable");
                let line = |(version, tried): (u64, paidonce_ledger::Attempt)| {
                    format!("v{version} {} by {}: {}", tried.outcome, tried.owner, tried.detail)
                };
                or_none(tries.into_iter().map(line).collect())
            }
            _ => panic!("the suite does not know {line:?}"),
        }
    }

    /// `effect NAME sync` or `effect NAME on=order_paid,..`, with `window=SECONDS ask=1 unconfigured=1 max=N`.
    fn effect(&mut self, name: &str, options: &[(&str, &str)]) -> Vec<String> {
        let mut rule = EffectRule {
            sync: true,
            retries: Retries { attempts_max: 3, first_ms: 1_000, longest_ms: 4_000 },
            ..EffectRule::default()
        };
        for (option, value) in options {
            match *option {
                "on" => {
                    rule.sync = false;
                    rule.on = value.split(',').map(|w| Happening::parse(w).expect("a happening")).collect();
                }
                "window" => rule.key_window_ms = Some(1_000 * value.parse::<i64>().expect("seconds")),
                "ask" => rule.can_ask = true,
                "unconfigured" => rule.unconfigured = true,
                "max" => rule.retries.attempts_max = value.parse().expect("a number"),
                "forget" => {
                    self.policy.effects.remove(&id::<EffectName>(name));
                    return vec![];
                }
                _ => panic!("no option {option:?} of an effect"),
            }
        }
        self.policy.effects.insert(id(name), rule);
        vec![]
    }

    /// The task that words name: the only one of that effect where there is one.
    pub(super) fn a_task(&self, words: &[&str]) -> TaskKey {
        match words {
            ["grant", order] => TaskKey::grant(id(order), Unit::Order),
            ["lookup", payment] => {
                TaskKey { subject: Subject::Payment(a_payment(payment)), work: Work::Lookup }
            }
            [effect, order, rest @ ..] => {
                let filter = TaskFilter {
                    order: Some(id::<OrderId>(order)),
                    effect: Some(id(effect)),
                    ..TaskFilter::default()
                };
                let rows = self.store.tasks(&filter, &Page::first(SHOWN)).expect("readable").rows;
                let said = |key: &TaskKey| key.occasion().map(ToString::to_string).unwrap_or_default();
                let mut found = rows.into_iter().map(|(key, _)| key);
                let found = found.find(|key| rest.first().is_none_or(|occasion| said(key) == *occasion));
                found.unwrap_or_else(|| panic!("no task {words:?}"))
            }
            _ => panic!("no task {words:?}"),
        }
    }

    fn work(&self, command: &Command) -> Vec<String> {
        let replies = self.store.commit(std::slice::from_ref(command), self.now, &self.policy);
        let replies = replies.expect("the store works");
        replies.iter().map(|reply| self.told(reply)).collect()
    }

    fn told(&self, reply: &Reply) -> String {
        match reply {
            Reply::Claimed(claimed) => {
                let sent =
                    claimed.request.as_ref().map(|r| String::from_utf8_lossy(r.body.bytes()).into_owned());
                let number =
                    if claimed.number > 0 { format!(", lookup {}", claimed.number) } else { String::new() };
                format!(
                    "claimed v{}, try {}, revision {}{}{}{number}",
                    claimed.version,
                    claimed.attempt,
                    claimed.revision,
                    sent.map(|body| format!(", sent before: {body}")).unwrap_or_default(),
                    if claimed.ask { ", ask first" } else { "" },
                )
            }
            Reply::NotClaimed(state) => format!("not claimed: {}", state.as_str()),
            Reply::Renewed(until) => format!("renewed for {} s", (until.0 - self.now.0) / 1_000),
            Reply::Prepared(request) => {
                format!(
                    "send revision {}: {}",
                    request.revision,
                    String::from_utf8_lossy(request.body.bytes())
                )
            }
            Reply::Settled(state) => format!("settled: {}", state.as_str()),
            Reply::Refused(refusal) => format!("refused: {refusal}"),
            other => format!("{other:?}").to_lowercase(),
        }
    }

    /// What a sweeper does: it finds, and has each swept.
    fn sweep(&self) -> Vec<String> {
        let patience = self.policy.unbound_after_ms;
        let unbound = patience.map(|ms| (paidonce_ledger::Timestamp(i64::MIN), self.now.plus_ms(-ms)));
        let configured = self.policy.configured();
        let stale = Stale { expired_by: self.now, unbound, configured, limit: SHOWN };
        let mut keys = self.store.stale(&stale).expect("readable");
        if let Some(retention_ms) = self.policy.body_retention_ms {
            let (after, by) = (paidonce_ledger::Timestamp(i64::MIN), self.now.plus_ms(-retention_ms));
            let wanted = Bodies { after, by, walk: SHOWN, limit: SHOWN };
            keys.extend(self.store.old_bodies(&wanted).expect("readable").events.into_iter().map(Key::Event));
        }
        let sweeps: Vec<_> = keys.iter().cloned().map(Command::Sweep).collect();
        self.store.commit(&sweeps, self.now, &self.policy).expect("the store works");
        let name = |key: &Key| match key {
            Key::Order(id) => format!("swept order {id}"),
            Key::Payment(payment) => format!("swept payment {}", payment.id),
            Key::Event(event) => format!("swept event {}", event.id),
            other => format!("swept {other:?}"),
        };
        or_none(keys.iter().map(name).collect())
    }

    fn due(&self, what: &Due) -> Vec<String> {
        let due = self.store.due(what, self.now, SHOWN).expect("readable");
        let mut due: Vec<_> = due.iter().map(ToString::to_string).collect();
        due.sort();
        or_none(due)
    }

    fn tasks(&self) -> Vec<String> {
        let rows = self.store.tasks(&TaskFilter::default(), &Page::first(SHOWN)).expect("readable").rows;
        let line = |(key, task): (TaskKey, Task)| {
            let wait = (task.due_at.0 - self.now.0 + 999).div_euclid(1_000);
            let wait = if task.state.active() && wait > 0 { format!(", in {wait} s") } else { String::new() };
            format!("{key}: {}, {} tries{wait}", task.state.as_str(), task.attempts)
        };
        let mut lines: Vec<_> = rows.into_iter().map(line).collect();
        lines.sort();
        or_none(lines)
    }
}

fn or_none(lines: Vec<String>) -> Vec<String> {
    if lines.is_empty() { vec!["none".to_owned()] } else { lines }
}
