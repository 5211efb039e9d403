//! Serves the shop.

use example_axum_sqlx::Shop;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let shop = Shop::open(&std::env::var("DATABASE_URL")?, &std::env::var("STRIPE_WEBHOOK_SECRET")?).await?;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:3000").await?;
    axum::serve(listener, shop.router()).await?;
    Ok(())
}
