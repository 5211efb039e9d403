//! What a person does on an open store.

use paidonce_ledger::{
    CancelOrder, CancelTask, Command, OrderId, ResolveCase, RetryTask, ReviveOrder, SetEntitlement, TaskKey,
    Unit,
};

use super::super::{Answer, Operate, Transport, unknown_case, unknown_task};
use super::{Direct, id};
use crate::http::dto::{
    CaseShown, OrderShown, OutsideRequest, ReprocessRequest, Reprocessed, ResolveRequest,
};
use crate::output::Failure;
use crate::reprocess::{Fault, Wanted, reprocess};

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::UnknownEvent => Self::new(fault.to_string(), "`paidonce events list` shows what there is"),
            Fault::Store(error) => error.into(),
            Fault::Submit(error) => error.into(),
        }
    }
}

fn order_id(order: &str) -> Answer<OrderId> {
    id(OrderId::new(order), "the order's id")
}

fn unit_of(unit: &str) -> Answer<Unit> {
    Unit::parse(unit).ok_or_else(|| Failure::usage(format!("{unit:?} is no unit"), "write order, or line:1"))
}

impl Direct {
    fn task_key(&self, handle: &str) -> Answer<TaskKey> {
        self.store.task(handle)?.map(|(key, _)| key).ok_or_else(|| unknown_task(handle))
    }
}

impl Operate for Direct {
    fn cancel(&self, order: &str, reason: &str) -> Answer<OrderShown> {
        let (stamp, key) = (self.stamp(Some(reason)), order_id(order)?);
        self.submit(Command::CancelOrder(CancelOrder { stamp, order: key, unpaid: false }))?;
        self.order(order)
    }

    fn revive(&self, order: &str, reason: &str) -> Answer<OrderShown> {
        let (stamp, key) = (self.stamp(Some(reason)), order_id(order)?);
        self.submit(Command::ReviveOrder(ReviveOrder { stamp, order: key }))?;
        self.order(order)
    }

    fn outside(&self, order: &str, moved: &OutsideRequest) -> Answer<OrderShown> {
        let (stamp, accounts) = (self.stamp(Some(&moved.reason)), self.config.accounts()?);
        self.submit(Command::MarkOutside(moved.to_command(order_id(order)?, &accounts, stamp)?))?;
        self.order(order)
    }

    fn resolve(&self, handle: &str, decided: &ResolveRequest) -> Answer<CaseShown> {
        let (stamp, decision) = (self.stamp(Some(&decided.reason)), decided.to_decision()?);
        let (case, _) = self.store.case(handle)?.ok_or_else(|| unknown_case(handle))?;
        self.submit(Command::ResolveCase(ResolveCase { stamp, case, decision }))?;
        self.case(handle)
    }

    fn retry(&self, handle: &str, reason: &str) -> Answer<()> {
        let (stamp, task) = (self.stamp(Some(reason)), self.task_key(handle)?);
        self.submit(Command::RetryTask(RetryTask { stamp, task })).map(|_| ())
    }

    fn stop(&self, handle: &str, reason: &str) -> Answer<()> {
        let (stamp, task) = (self.stamp(Some(reason)), self.task_key(handle)?);
        self.submit(Command::CancelTask(CancelTask { stamp, task })).map(|_| ())
    }

    fn set_entitlement(&self, order: &str, unit: &str, granted: bool, reason: &str) -> Answer<()> {
        let (stamp, order, unit) = (self.stamp(Some(reason)), order_id(order)?, unit_of(unit)?);
        self.submit(Command::SetEntitlement(SetEntitlement { stamp, order, unit, granted })).map(|_| ())
    }

    fn reprocess(&self, request: &ReprocessRequest) -> Answer<Reprocessed> {
        let readers = self.config.readers()?;
        let wanted = Wanted::of(request, &readers.accounts())?;
        let (runtime, engine) = self.writer()?;
        Ok(runtime.block_on(reprocess(engine, &readers, &wanted, &self.by))?)
    }
}
