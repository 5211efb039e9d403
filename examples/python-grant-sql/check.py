"""Runs the example for real and says what is not as it should be.

    python3 check.py PAIDONCE           the program's path

Two orders. The first one's notification comes eight times at once: one licence. The second one's statement fails: nothing
of its grant is there and a person sees a case; it is mended and retried: granted.
"""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

HERE = Path(__file__).parent
PROGRAM = Path(sys.argv[1]).resolve()
# Long enough for a slow machine; nothing waits for longer than it must.
PATIENCE_S = 60


class Shop:
    """A folder with the example in it, its server and its application."""

    def __init__(self, folder):
        self.folder = Path(folder)
        for name in ["grant.sql", "app.py"]:
            shutil.copy(HERE / name, self.folder)
        configuration = (HERE / "paidonce.toml").read_text()
        (self.folder / "paidonce.toml").write_text(configuration.replace(":8080", ":0"))
        self.environment = {**os.environ, "STRIPE_WEBHOOK_SECRET": "whsec_example", "USER": "check"}
        self.running = []

    def paidonce(self, *arguments):
        command = [PROGRAM, *arguments]
        return subprocess.run(command, cwd=self.folder, env=self.environment, capture_output=True, text=True)

    def must(self, *arguments):
        ran = self.paidonce(*arguments)
        assert ran.returncode == 0, f"{arguments}: {ran.stderr}"
        return ran.stdout

    def start(self, *command):
        """Starts a process and answers the first line that it prints."""
        process = subprocess.Popen(
            command, cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, text=True
        )
        self.running.append(process)
        return process.stdout.readline()

    def sql(self, statement):
        connection = sqlite3.connect(self.folder / "shop.db", timeout=PATIENCE_S)
        with connection:
            rows = connection.execute(statement).fetchall()
        connection.close()
        return rows

    def order(self, order, customer, payment):
        line = ["--line", "sku=ebook,quantity=1", "--total", "19.90 EUR", "--reference", f"stripe={payment}"]
        self.must("orders", "add", "--id", order, "--customer", customer, *line)

    def pay(self, public, event, payment, *more):
        intent = {"id": payment, "object": "payment_intent", "amount": 1990, "amount_received": 1990,
                  "currency": "eur", "status": "succeeded", "latest_charge": f"ch_{payment}", "metadata": {}}
        body = {"id": event, "object": "event", "livemode": False, "type": "payment_intent.succeeded",
                "data": {"object": intent}}
        (self.folder / "paid.json").write_text(json.dumps(body))
        self.must("send", "paid.json", "--source", "stripe", "--url", f"http://{public}/in/stripe", *more)

    def until(self, what, so):
        end = time.monotonic() + PATIENCE_S
        while not so():
            assert time.monotonic() < end, f"it did not come to this: {what}"
            time.sleep(0.05)

    def stop(self):
        for process in self.running:
            process.kill()
            process.wait()


def status(url):
    try:
        return urllib.request.urlopen(url).status
    except urllib.error.HTTPError as error:
        return error.code


def story(shop):
    shop.must("orders", "list")
    refused = shop.paidonce("config", "check")
    assert "grant.sql, line 2" in refused.stderr and "licences" in refused.stderr, refused.stderr
    port = shop.start(sys.executable, "app.py", "shop.db", "0").strip()
    shop.must("config", "check")
    public = json.loads(shop.start(PROGRAM, "--json", "serve"))["public"]

    def downloads(customer):
        return status(f"http://127.0.0.1:{port}/downloads/{customer}/ebook")

    shop.order("1001", "alice", "pi_1")
    assert downloads("alice") == 402
    shop.pay(public, "evt_1", "pi_1", "--concurrent", "8")
    shop.pay(public, "evt_2", "pi_1")
    shop.until("alice may download", lambda: downloads("alice") == 200)
    assert shop.sql("SELECT entitlement, customer FROM licences") == [("1001/order", "alice")]

    # A row that is there already: the statement fails.
    shop.sql("INSERT INTO licences VALUES ('1002/order', 'ebook', 'somebody else')")
    shop.order("1002", "bob", "pi_2")
    shop.pay(public, "evt_3", "pi_2")
    shop.until("a person sees it", lambda: "task_failed" in shop.must("cases", "list"))
    assert downloads("bob") == 402
    assert shop.sql("SELECT count(*) FROM entitlement") == [(1,)]
    shop.sql("DELETE FROM licences WHERE customer = 'somebody else'")
    shop.must("tasks", "retry", "1002", "--reason", "the stray row is gone")
    shop.until("bob may download", lambda: downloads("bob") == 200)
    assert shop.sql("SELECT count(*) FROM licences") == [(2,)]
    shop.must("audit")


def main():
    with tempfile.TemporaryDirectory() as folder:
        shop = Shop(folder)
        try:
            story(shop)
        finally:
            shop.stop()
    print("python-grant-sql: as it should be")


if __name__ == "__main__":
    main()
