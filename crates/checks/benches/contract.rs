//! What a contract costs: verifying and reading one Stripe event beside the least that anybody has to do.
//!
//! `cargo bench -p paidonce-checks --bench contract`. Both sides are in one process and take turns, a batch each, so
//! that a noisy neighbour meets both; the figure is the median of the rounds' ratios. The bare side takes the MAC of
//! the same bytes, compares it and parses the body with serde_json, and knows nothing of what it parsed. The bar is
//! 1.5; above it the command ends with 1.
#![allow(clippy::print_stdout, clippy::float_arithmetic)]

use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use hmac::{Hmac, KeyInit, Mac};
use paidonce_contracts::{Contract, Delivery, Secret, Verifier};
use sha2::Sha256;

const SECRET: &str = "whsec_of_this_benchmark";
const NOW_UNIX_S: i64 = 1_800_000_000;
const BODY_BYTES: usize = 2_048;
const BATCH: u32 = 200;
const ROUNDS: usize = 301;
const BAR: f64 = 1.5;

type Failure = Box<dyn std::error::Error>;

/// An event as Stripe sends it: the sample of a charge, with the members that a real one has around it, to 2 KB.
fn body() -> String {
    let event = |filler: &str| {
        format!(
            r#"{{"id":"evt_1NG8Du2eZvKYlo2CUI79vXWy","object":"event","api_version":"2024-06-20","created":1800000000,"livemode":false,"pending_webhooks":1,"request":{{"id":"req_1","idempotency_key":null}},"type":"payment_intent.succeeded","data":{{"object":{{"id":"pi_3MtwBwLkdIwHu7ix28a3tqPa","object":"payment_intent","amount":2000,"amount_capturable":0,"amount_details":{{"tip":{{}}}},"amount_received":2000,"application":null,"automatic_payment_methods":{{"enabled":true}},"canceled_at":null,"cancellation_reason":null,"capture_method":"automatic","client_secret":"pi_3MtwBwLkdIwHu7ix28a3tqPa_secret_YrKJUKribcBjcG8HVhfZluoGH","confirmation_method":"automatic","created":1680800504,"currency":"usd","customer":"cus_NffrFeUfNV2Hib","description":"{filler}","invoice":null,"last_payment_error":null,"latest_charge":"ch_3MtwBwLkdIwHu7ix2","metadata":{{"order_id":"1001","campaign":"spring"}},"next_action":null,"payment_method":"pm_1","payment_method_options":{{"card":{{"installments":null,"mandate_options":null,"network":null,"request_three_d_secure":"automatic"}},"link":{{"persistent_token":null}}}},"payment_method_types":["card","link"],"processing":null,"receipt_email":null,"review":null,"setup_future_usage":null,"shipping":{{"address":{{"city":"Berlin","country":"DE","line1":"Street 1","line2":null,"postal_code":"10115","state":null}},"carrier":null,"name":"A Buyer","phone":null,"tracking_number":null}},"source":null,"statement_descriptor":null,"status":"succeeded","transfer_data":null,"transfer_group":null}}}}}}"#
        )
    };
    let short = BODY_BYTES.saturating_sub(event("").len());
    event(&"a book ".repeat(short / 7 + 1)[..short])
}

/// How long a batch takes.
fn batch(mut once: impl FnMut()) -> Duration {
    let start = Instant::now();
    for _ in 0..BATCH {
        once();
    }
    start.elapsed()
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

fn main() -> Result<ExitCode, Failure> {
    let body = body();
    let contract = Contract::builtin("stripe", None)?;
    let secret = Secret::new(SECRET);
    let verifier = Verifier::new(&contract, std::slice::from_ref(&secret))?;
    let signed = contract.sign(&secret, "", body.as_bytes(), NOW_UNIX_S)?;
    let headers: Vec<(&str, &[u8])> =
        signed.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
    let (_, mac) = signed[0].1.split_once("v1=").ok_or("no v1")?;
    let mac = hex::decode(mac)?;
    let key = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes())?;

    let ours = || match verifier.verify(black_box(&headers), black_box(body.as_bytes()), NOW_UNIX_S) {
        Ok(verified) => assert!(matches!(black_box(verified.read()), Delivery::Events(_))),
        Err(refused) => panic!("{refused}"),
    };
    let bare = || {
        let body = black_box(body.as_bytes());
        let tried = key.clone().chain_update(b"1800000000.").chain_update(body);
        assert!(tried.verify_slice(&mac).is_ok());
        let value: Result<serde_json::Value, _> = serde_json::from_slice(body);
        assert!(black_box(value).is_ok());
    };
    let (mut ratios, mut ours_us, mut bare_us) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        // Who is first changes, so that neither always finds the cache as the other left it.
        let (one, other) = if round % 2 == 0 {
            let one = batch(ours);
            (one, batch(bare))
        } else {
            let other = batch(bare);
            (batch(ours), other)
        };
        let each = |taken: Duration| taken.as_secs_f64() * 1e6 / f64::from(BATCH);
        ratios.push(one.as_secs_f64() / other.as_secs_f64());
        ours_us.push(each(one));
        bare_us.push(each(other));
    }
    let ratio = median(ratios);
    println!("{} bytes, {ROUNDS} rounds of {BATCH} each, interleaved; medians", body.len());
    println!("verify and read   {:7.2} us", median(ours_us));
    println!("bare HMAC + parse {:7.2} us", median(bare_us));
    println!("ratio             {ratio:7.2}    (bar {BAR})");
    Ok(if ratio <= BAR { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
