-- Runs with each grant, in its transaction: once for each line of the order, because it names :sku.
INSERT INTO licences (entitlement, sku, customer) VALUES (:entitlement, :sku, :customer);
