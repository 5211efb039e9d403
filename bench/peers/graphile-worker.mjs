// Drains no-op jobs with graphile-worker at its fastest: a local queue, and completions in batches. Its own measurements
// use these settings (worker.graphile.org/docs/performance).

import { Logger, makeWorkerUtils, run } from "graphile-worker";
import pg from "pg";
import { pairs, report } from "./arguments.mjs";

const { db, jobs } = pairs();
const silent = new Logger(() => () => {});
const pool = new pg.Pool({ connectionString: db, max: 26 });
pool.on("error", () => {});
pool.on("connect", (client) => client.on("error", () => {}));

const utils = await makeWorkerUtils({ pgPool: pool, logger: silent });
await utils.migrate();
for (let first = 0; first < jobs; first += 5000) {
  const many = Array.from({ length: Math.min(5000, jobs - first) }, (_, at) => ({
    identifier: "nothing",
    payload: { n: first + at },
  }));
  await utils.addJobs(many);
}
await pool.query("VACUUM ANALYZE");
await pool.query("CHECKPOINT");

const left = async () =>
  Number((await pool.query("SELECT count(*) AS n FROM graphile_worker._private_jobs")).rows[0].n);
const done = [];
let drained;
const all = new Promise((resolve) => (drained = resolve));
const began = performance.now();
const runner = await run({
  pgPool: pool,
  logger: silent,
  noHandleSignals: true,
  preset: {
    worker: {
      concurrentJobs: 24,
      localQueue: { size: 500 },
      completeJobBatchDelay: 0,
      failJobBatchDelay: 0,
    },
  },
  taskList: {
    nothing: ({ n }) => {
      done.push(n);
      if (done.length === jobs) drained();
    },
  },
});
await all;
// Done is what is written down as done.
while ((await left()) > 0) await new Promise((resolve) => setTimeout(resolve, 1));
const seconds = (performance.now() - began) / 1000;
const remaining = await left();
await runner.stop();
await utils.release();
await pool.end();
report(jobs, done, remaining, seconds);
