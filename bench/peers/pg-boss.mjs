// Drains no-op jobs with pg-boss at its fastest: two loops that fetch a hundred and complete a hundred. (Its own `work`
// waits half a second between fetches.)

import PgBoss from "pg-boss";
import pg from "pg";
import { pairs, report } from "./arguments.mjs";

const LOOPS = 2;
const BATCH = 100;

const { db, jobs } = pairs();
const boss = new PgBoss({ connectionString: db, supervise: false, schedule: false });
boss.on("error", (error) => {
  throw error;
});
await boss.start();
await boss.createQueue("nothing");
for (let first = 0; first < jobs; first += 5000) {
  const many = Array.from({ length: Math.min(5000, jobs - first) }, (_, at) => ({
    name: "nothing",
    data: { n: first + at },
  }));
  await boss.insert(many);
}
const client = new pg.Client({ connectionString: db });
await client.connect();
await client.query("VACUUM ANALYZE");
await client.query("CHECKPOINT");

const done = [];
async function drain() {
  for (;;) {
    const batch = await boss.fetch("nothing", { batchSize: BATCH });
    if (batch.length === 0) return;
    await boss.complete(
      "nothing",
      batch.map((job) => job.id),
    );
    done.push(...batch.map((job) => job.data.n));
  }
}
const began = performance.now();
await Promise.all(Array.from({ length: LOOPS }, drain));
const seconds = (performance.now() - began) / 1000;
const left = await client.query("SELECT count(*) AS n FROM pgboss.job WHERE name = 'nothing' AND state <> 'completed'");
await client.end();
await boss.stop({ graceful: false });
report(jobs, done, Number(left.rows[0].n), seconds);
process.exit(0);
