//! The catalogue, and the pieces that orders hold. What becomes of an order's pieces follows from where it stands, as its
//! tasks and cases do; an effect on the stock is a step of the state in the order's row, so that none happens twice.

use std::collections::BTreeMap;

use crate::command::{PlaceOrder, SetProduct};
use crate::id::{OrderId, Sku};
use crate::key::Need;
use crate::ledger::Ledger;
use crate::money::Money;
use crate::order::{Order, OrderState};
use crate::product::{OrderStock, Product, StockState};
use crate::reply::{Refusal, Reply};
use crate::standing::{Loss, Standing};

use super::Context;
use super::settle::standing;

/// Sets what a product costs and how many there are; what orders hold of it stays. The same again changes nothing.
pub(super) fn set(ledger: &mut Ledger, command: &SetProduct, context: Context<'_>) -> Result<Reply, Need> {
    let known = ledger.product(&command.sku)?.cloned();
    let (reserved, sold) = known.as_ref().map_or((0, 0), |known| (known.reserved, known.sold));
    let taken = reserved + sold;
    if command.stock.is_some_and(|stock| stock < taken) {
        return Ok(Reply::Refused(Refusal::StockTaken { taken }));
    }
    let (prices, stock) = (command.prices.clone(), command.stock);
    if known.is_none_or(|known| known.prices != prices || known.stock != stock) {
        let product = Product { prices, stock, reserved, sold, set_at: context.now };
        ledger.products.put(command.sku.clone(), product);
    }
    Ok(Reply::Done)
}

/// Checks an order's price against the catalogue and reserves what is limited. An order of which nothing is in the
/// catalogue is the client's own.
pub(super) fn reserve(
    ledger: &mut Ledger,
    command: &PlaceOrder,
) -> Result<Result<Option<OrderStock>, Refusal>, Need> {
    let mut products: BTreeMap<Sku, Product> = BTreeMap::new();
    for line in &command.lines {
        if let Some(product) = ledger.product(&line.sku)? {
            products.insert(line.sku.clone(), product.clone());
        }
    }
    if products.is_empty() {
        return Ok(Ok(None));
    }
    let mut pieces = BTreeMap::new();
    let mut sum: i128 = 0;
    for line in &command.lines {
        let Some(product) = products.get(&line.sku) else {
            return Ok(Err(Refusal::NotForSale { sku: line.sku.clone() }));
        };
        let price = product.price(command.total.unit()).map(Money::amount_minor);
        let with = price.and_then(|price| price.checked_mul(line.quantity.into())?.checked_add(sum));
        let Some(with) = with else { return Ok(Err(Refusal::NoPrice { sku: line.sku.clone() })) };
        sum = with;
        if product.stock.is_some() {
            *pieces.entry(line.sku.clone()).or_insert(0) += u64::from(line.quantity);
        }
    }
    if sum != command.total.amount_minor() {
        let total = Money::new(sum, command.total.unit().clone()).ok().map(|money| money.to_string());
        return Ok(Err(Refusal::PriceDiffers { total: total.unwrap_or_default() }));
    }
    if let Some(refusal) = short(ledger, &pieces)? {
        return Ok(Err(refusal));
    }
    if pieces.is_empty() {
        return Ok(Ok(None));
    }
    step(ledger, &pieces, StockState::Released, StockState::Reserved)?;
    Ok(Ok(Some(OrderStock { pieces, state: StockState::Reserved })))
}

/// The first of these pieces that cannot be had any more. P13
fn short(ledger: &Ledger, pieces: &BTreeMap<Sku, u64>) -> Result<Option<Refusal>, Need> {
    for (sku, wanted) in pieces {
        let free = ledger.product(sku)?.and_then(Product::free);
        if let Some(free) = free.filter(|free| free < wanted) {
            return Ok(Some(Refusal::OutOfStock { sku: sku.clone(), free }));
        }
    }
    Ok(None)
}

/// Why an order that gave its pieces up cannot have them again; `None` if it can, or has them.
pub(super) fn missing(ledger: &Ledger, order: &Order) -> Result<Option<Refusal>, Need> {
    match &order.stock {
        Some(stock) if stock.state == StockState::Released => short(ledger, &stock.pieces),
        _ => Ok(None),
    }
}

/// Moves pieces in the products' figures.
fn step(
    ledger: &mut Ledger,
    pieces: &BTreeMap<Sku, u64>,
    from: StockState,
    to: StockState,
) -> Result<(), Need> {
    for (sku, n) in pieces {
        // No command takes a product away.
        let Some(mut product) = ledger.product(sku)?.cloned() else { continue };
        match from {
            StockState::Reserved => product.reserved = product.reserved.saturating_sub(*n),
            StockState::Sold => product.sold = product.sold.saturating_sub(*n),
            StockState::Released => {}
        }
        match to {
            StockState::Reserved => product.reserved += n,
            StockState::Sold => product.sold += n,
            StockState::Released => {}
        }
        ledger.products.put(sku.clone(), product);
    }
    Ok(())
}

/// What an order's pieces are to be. A function of where it stands, so that the order in which news came does not matter
/// (P5); whether there are any left for one that gave its own up is asked afterwards.
fn wanted(order: &Order, standing: &Standing, granted: bool, context: Context<'_>) -> StockState {
    let open = order.state == OrderState::Open;
    let came = standing.captured_minor > 0 && standing.captured_minor >= order.total.amount_minor();
    let refunded = came && standing.loss() == Some(Loss::Refund);
    match () {
        // A refund brings nothing back by itself: what was sent off does not come back with the money.
        () if refunded && context.policy.refund_restocks => StockState::Released,
        () if granted || standing.revived || standing.sold_out => StockState::Sold,
        () if !open => StockState::Released,
        () if standing.covered || came => StockState::Sold,
        () => StockState::Reserved,
    }
}

/// Brings an order's pieces to where it stands. Answers the order and its standing as they are then.
pub(super) fn settle(
    ledger: &mut Ledger,
    id: &OrderId,
    order: Order,
    stands: Standing,
    context: Context<'_>,
) -> Result<(Order, Standing), Need> {
    let Some(stock) = &order.stock else { return Ok((order, stands)) };
    let granted = ledger.entitlements_of(id).any(|(_, row)| row.revoked_at.is_none());
    let to = wanted(&order, &stands, granted, context);
    if to == stock.state || (to != StockState::Released && missing(ledger, &order)?.is_some()) {
        return Ok((order, stands));
    }
    step(ledger, &stock.pieces, stock.state, to)?;
    let stock = Some(OrderStock { state: to, ..stock.clone() });
    let order = Order { stock, ..order };
    ledger.orders.put(id.clone(), order.clone());
    let stands = standing(ledger, id, &order, context)?;
    Ok((order, stands))
}
