// `--name value` pairs, and what a drained queue is reported as.

/** The pairs of the command line. */
export function pairs() {
  const words = process.argv.slice(2);
  const found = {};
  for (let at = 0; at + 1 < words.length; at += 2) found[words[at].replace(/^--/, "")] = words[at + 1];
  return { db: found.db, jobs: Number(found.jobs ?? 20000) };
}

/** One line of JSON, as every side writes it; fails if a job was lost or done twice. */
export function report(jobs, done, left, seconds) {
  const distinct = new Set(done).size;
  if (done.length !== jobs || distinct !== jobs || left !== 0) {
    console.error(`${jobs} jobs: ${done.length} were done, ${distinct} of them different, ${left} are left`);
    process.exit(1);
  }
  console.log(JSON.stringify({ jobs, seconds }));
}
