//! Providers that are asked about their payments, as their contracts say it. What the answer decides is the ledger's.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::Full;
use hyper::Request as HttpRequest;
use paidonce_contracts::{Answer, Asked, Contract, LookupRefused, Request, Secret, Snapshot};
use paidonce_engine::{Asking, Lookup, Question, Told};
use paidonce_ledger::{Account, Mode, PaymentId};

use crate::effect::http::outcome::not_before;
use crate::effect::outbound::{Connector, Failed, Reading, Said, Target, call};

/// What is read of an answer, at most, in bytes.
const ANSWER_MAX: usize = 1024 * 1024;

/// A token is used no longer than until this before its end.
const TOKEN_MARGIN: Duration = Duration::from_secs(60);

/// One account at a provider.
pub struct Provider {
    contract: Contract,
    mode: Mode,
    key: Secret,
    connector: Arc<Connector>,
    /// A token that stands for the key, and until when.
    token: Mutex<Option<(Secret, Instant)>>,
}

/// Why the provider said nothing that counts.
enum Silence {
    /// There was no answer.
    Failed(Failed),
    /// There was one, and it is no account of the payment.
    Refused(LookupRefused, Option<String>),
}

impl Provider {
    /// The account whose key this is.
    #[must_use]
    pub fn new(contract: Contract, account: &Account, key: Secret, connector: Arc<Connector>) -> Self {
        Self { contract, mode: account.mode, key, connector, token: Mutex::default() }
    }

    async fn look_up(&self, question: &Question) -> Result<Option<Snapshot>, Silence> {
        let refused = |why| Silence::Refused(why, None);
        let lookup =
            self.contract.lookup().ok_or_else(|| refused(LookupRefused::NoAddress("there is none")))?;
        let key = self.present_key(question.deadline).await?;
        let asked = Asked {
            payment: &question.payment.id,
            reference: question.references.first().map(|reference| reference.as_str()),
            event: question.event.as_ref().map(|event| event.as_str()),
        };
        let request = lookup.request(&asked, self.mode, &key).map_err(refused)?;
        let said = self.exchange(&request, question.deadline).await?;
        match lookup.read(&question.payment.id, self.mode, said.status, &said.body) {
            Ok(Answer::Found(snapshot)) => Ok(Some(snapshot)),
            Ok(Answer::NotFound) => Ok(None),
            Err(why) => {
                if matches!(why, LookupRefused::Unauthorized(_)) {
                    // Perhaps the token was taken back before its time.
                    *self.token.lock().unwrap_or_else(PoisonError::into_inner) = None;
                }
                Err(Silence::Refused(why, said.retry_after))
            }
        }
    }

    /// The key, or the token that stands for it.
    async fn present_key(&self, deadline: Instant) -> Result<Secret, Silence> {
        let refused = |why| Silence::Refused(why, None);
        let lookup =
            self.contract.lookup().ok_or_else(|| refused(LookupRefused::NoAddress("there is none")))?;
        let Some(request) = lookup.token_request(self.mode, &self.key).map_err(refused)? else {
            return Ok(self.key.clone());
        };
        let known = self.token.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((token, until)) = known
            && until > Instant::now()
        {
            return Ok(token);
        }
        let said = self.exchange(&request, deadline).await?;
        let token = lookup.read_token(said.status, &said.body);
        let token = token.map_err(|why| Silence::Refused(why, said.retry_after))?;
        let until = Instant::now() + Duration::from_secs(token.expires_in_s).saturating_sub(TOKEN_MARGIN);
        *self.token.lock().unwrap_or_else(PoisonError::into_inner) = Some((token.key.clone(), until));
        Ok(token.key)
    }

    async fn exchange(&self, request: &Request, deadline: Instant) -> Result<Said, Silence> {
        let unsent = |why: String| Silence::Failed(Failed::Unsent(why));
        let target = Target::parse(&request.url, false).map_err(unsent)?;
        let mut built = HttpRequest::builder().method(request.method).uri(target.path());
        built = built.header("host", target.authority());
        built = built.header("user-agent", concat!("paidonce/", env!("CARGO_PKG_VERSION")));
        for (name, value) in &request.headers {
            built = built.header(name.as_str(), value.as_str());
        }
        let built = built.body(Full::new(Bytes::from_static(request.body.as_bytes())));
        // The error could quote a header, which holds the key.
        let built = built.map_err(|_| unsent("the request has a header that is none".to_owned()))?;
        let reading = Reading { deadline, body_max: ANSWER_MAX, patience: None };
        let said = call(&self.connector, &target, built, reading).await.map_err(Silence::Failed)?;
        if said.whole {
            Ok(said)
        } else {
            Err(Silence::Failed(Failed::Lost("the answer broke off, or was too long".to_owned())))
        }
    }
}

impl Lookup for Provider {
    fn ask(&self, question: Question) -> Asking<'_> {
        Box::pin(async move { told(&question.payment.id, self.look_up(&question).await) })
    }
}

fn told(payment: &PaymentId, answer: Result<Option<Snapshot>, Silence>) -> Told {
    let now = paidonce_engine::Clock::now(&crate::clock::SystemClock);
    match answer {
        Ok(Some(Snapshot { complete, provider_revision, facts, .. })) => {
            Told::Account { complete, provider_revision, facts }
        }
        Ok(None) => Told::Nothing {
            not_before: None,
            detail: format!("the provider knows no payment {payment}"),
            answered: true,
        },
        Err(Silence::Failed(Failed::Unsent(why) | Failed::Blocked(why) | Failed::Lost(why))) => {
            Told::Nothing { not_before: None, detail: why, answered: false }
        }
        Err(Silence::Refused(why, retry_after)) => Told::Nothing {
            not_before: retry_after.and_then(|text| not_before(&text, now)),
            answered: !why.retryable(),
            detail: why.to_string(),
        },
    }
}
