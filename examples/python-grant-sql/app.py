"""A shop's download page. It reads its own table and knows nothing of payments.

    python3 app.py DATABASE PORT        port 0 takes a free one and prints it
"""

import sqlite3
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LICENCES = """CREATE TABLE IF NOT EXISTS licences (
    entitlement TEXT NOT NULL,
    sku TEXT NOT NULL,
    customer TEXT NOT NULL,
    PRIMARY KEY (entitlement, sku))"""


def page(database):
    """The handler of `/downloads/CUSTOMER/SKU`: 200 with a licence, 402 without."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self):
            parts = self.path.split("/")
            if len(parts) != 4 or parts[1] != "downloads":
                return self.answer(404, "no such page")
            # A connection a request: the server has a thread for each.
            connection = sqlite3.connect(database)
            sql = "SELECT count(*) FROM licences WHERE customer = ? AND sku = ?"
            (licences,) = connection.execute(sql, parts[2:]).fetchone()
            connection.close()
            return self.answer(200 if licences else 402, f"{licences} licence(s)")

        def answer(self, status, text):
            body = text.encode()
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            """Customers' names are in the paths: nothing is logged."""

    return Page


def main():
    database, port = sys.argv[1], int(sys.argv[2])
    with sqlite3.connect(database) as connection:
        connection.execute(LICENCES)
    server = ThreadingHTTPServer(("127.0.0.1", port), page(database))
    print(server.server_port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
