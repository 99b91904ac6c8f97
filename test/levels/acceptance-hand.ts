import type { OwnText, RecordedText } from "./acceptance-texts.ts";

/** Summaries by hand on which the rules were tuned, written like those of the other half. */
export const handTexts: readonly OwnText[] = [
  {
    text: `Status of the payment migration. 1,204 of 1,311 merchants are on the new gateway. The remaining 107 use recurring payments, which
gatewayV2 does not support yet; support is planned for the 3rd of May. We rolled back once, on 11 April, because refunds were posted
twice for 46 orders. The cause was a missing idempotency key in refundOrder, and it is fixed in payments/refund.go. All double refunds
were corrected by hand. Nobody may start the migration of a merchant between 23:00 and 04:00, when settlement runs. The old gateway
must stay reachable until at least 30 June.`,
    summaries: [
      `1,204 of 1,311 merchants have been migrated; the other 107 need recurring payments, which gatewayV2 doesn't support yet (planned for 3 May).
On 11 April the migration was rolled back because refunds of 46 orders were posted twice: refundOrder lacked an idempotency key, now fixed in payments/refund.go.
No merchant may be migrated between 23:00 and 04:00, and the old gateway must remain reachable until 30 June at least.`,
      `Migration status: 107 merchants left, waiting for recurring payments in gatewayV2. The double refunds (46 orders) were corrected by hand and their cause fixed. Migrations must not start between 23:00 and 04:00. Keep the old gateway reachable until at least June 30.`,
    ],
  },
  {
    text: `Please change how the cache is keyed. At the moment it uses the full URL, so that the same page with different tracking parameters
is stored up to 20 times. Strip utm_source, utm_medium, utm_campaign and fbclid, keep everything else, and sort what is left. Don't
touch the order of repeated parameters like tag=a&tag=b, some endpoints depend on it. The keys live in src/cache/key.ts. Entries that
exist may simply expire, there is no need to migrate them. I would like to see a benchmark: it should not take more than 5
microseconds per URL.`,
    summaries: [
      `Cache keys (src/cache/key.ts) should no longer contain utm_source, utm_medium, utm_campaign and fbclid, because one page is stored up to 20 times today. Other parameters are kept and sorted, but the order of repeated parameters must not be touched.
No migration of existing entries is needed. A benchmark is wanted: at most 5 µs per URL.`,
      `The user asks for cache keys without tracking parameters (utm_*, fbclid); remaining ones are sorted. Do not change the order of repeated parameters such as tag=a&tag=b. Old entries may expire. Limit: 5 microseconds per URL.`,
    ],
  },
  {
    text: `$ cargo build --release
   Compiling render-core v0.9.2 (crates/render-core)
warning: unused variable: \`depth\`
  --> src/scene.rs:88:9
error[E0502]: cannot borrow \`self.nodes\` as mutable because it is also borrowed as immutable
   --> src/graph.rs:141:13
    |
139 |         for node in self.nodes.iter() {
    |                     ----------------- immutable borrow occurs here
141 |             self.nodes.remove(node.id);
    |             ^^^^^^^^^^^^^^^^^^^^^^^^^^ mutable borrow occurs here
error[E0433]: failed to resolve: use of undeclared crate or module \`glam\`
 --> src/math.rs:3:5
error: could not compile \`render-core\` (lib) due to 2 previous errors; 1 warning emitted`,
    summaries: [
      `render-core v0.9.2 did not compile: 2 errors and 1 warning. E0502 at src/graph.rs:141:13 (self.nodes is borrowed as mutable while also borrowed as immutable) and E0433 at src/math.rs:3:5 (undeclared crate or module \`glam\`).`,
      `The release build of render-core failed with two errors:
- src/graph.rs:141:13: cannot borrow self.nodes as mutable because it is also borrowed as immutable (E0502)
- src/math.rs:3:5: use of undeclared crate or module glam (E0433)`,
    ],
  },
  {
    text: `The call with the hospital took 50 minutes. They have 14 wards, of which 5 will take part in the pilot, starting on 2 September. Data
must not leave the hospital network, so we cannot use our cloud; the server stands in their basement. Doctors log in with their badge,
passwords are not wanted. They asked for response times below two seconds. Our last version needed 3.4 seconds for the ward list, so
there is work to do. Dr. Amari is our contact. She said clearly that the system may never be offline during the handover between 06:45
and 07:30. The contract is not signed yet.`,
    summaries: [
      `5 of the hospital's 14 wards take part in the pilot from 2 September on. Data has to stay inside the hospital network, so our cloud cannot be used. The system may never be offline between 06:45 and 07:30 (handover).
Required response time: under 2 seconds; the ward list currently takes 3.4 s. The contract has not been signed.`,
      `Pilot with five wards starts on 2 September; contact is Dr. Amari. Hard requirements: no data may leave the hospital network; never offline during the handover (06:45 to 07:30). Login by badge instead of passwords. Contract not signed yet.`,
    ],
  },
  {
    text: `I rewrote the scheduler so that it no longer polls. Before, it woke up every 100 ms and looked at all 3,000 jobs; now it sleeps until
the next one is due and is woken by a condition variable when something is added. CPU usage while idle went from 9 % to 0.1 %. The
public interface in scheduler.h is the same. Two tests had to be changed because they relied on the polling interval. I left the
priority queue alone. One thing to know: cancelJob() must only be called from the owning thread, as before. I have not tested it on
ARM.`,
    summaries: [
      `The scheduler doesn't poll every 100 ms any more but sleeps until the next job is due; idle CPU usage fell from 9% to 0.1%. scheduler.h stays the same. Two tests relying on the polling interval were adapted.
As before, cancelJob() must only be called from the owning thread. ARM is untested.`,
      `Polling was replaced with a condition variable: idle CPU is 0.1 percent now, it was 9. Unchanged: public interface (scheduler.h) and priority queue. cancelJob() may be called only from the owning thread. Not tested on ARM.`,
    ],
  },
  {
    text: `Rules for the shared cluster. Every job needs a label with its owner; jobs without one are killed after 15 minutes. You may use at
most 8 GPUs at the same time, and at night, from 22:00 to 06:00, up to 24. Do not store results on /scratch, it is wiped every Sunday.
Interactive sessions end after 4 hours. Never run pip install into the base environment; use your own. If a node hangs, write to
cluster-ops and do not reboot it yourself. Large downloads must go through the proxy cache.`,
    summaries: [
      `Jobs must be labelled with their owner, otherwise they are killed after 15 minutes. At most 8 GPUs may be used at once (up to 24 between 22:00 and 06:00).
/scratch is wiped every Sunday, so results must not be stored there. Never pip install into the base environment. Hanging nodes are reported to cluster-ops, not rebooted. Large downloads must use the proxy cache.`,
      `Cluster rules: owner label on each job, max. 8 GPUs (24 at night), no results on /scratch, interactive sessions end after four hours, don't install with pip into the base environment, don't reboot a hanging node yourself, large downloads only through the proxy cache.`,
    ],
  },
  {
    text: `Answer to your question about the search index: no, it is not rebuilt on every deploy. It is rebuilt when the schema version in
search/schema.json changes, or when somebody runs make reindex. A rebuild takes about 25 minutes for 1.8 million documents, and during
that time the old index keeps serving. If it fails, the old one stays. You should not start two rebuilds at once; there is a lock, but
it expires after 10 minutes, which is a known bug (SEARCH-412). Deleted documents disappear only after a rebuild.`,
    summaries: [
      `The search index isn't rebuilt on each deploy, but when the schema version in search/schema.json changes or by make reindex. That takes about 25 minutes (1.8 million documents), while the old index keeps serving; it also stays if the rebuild fails.
Do not start two rebuilds at once: the lock expires after 10 minutes (SEARCH-412). Deleted documents only disappear after a rebuild.`,
      `A rebuild happens on a schema change or with make reindex, not on every deploy, and needs 25 min. Two rebuilds should not be started at the same time because the lock expires after ten minutes (bug SEARCH-412).`,
    ],
  },
  {
    text: `The kitchen renovation: the electrician comes on Monday at 8, the plumber on Wednesday. The oven needs its own line with 16 A. The wall
to the hall must not be drilled above 1.40 m because of the gas pipe. We chose the oak worktop, 38 mm thick, for 1,150 euros; the stone
one would have been 2,300. Delivery takes six weeks. The floor stays. Half of the price is due now, the rest when everything is
installed. Ask the neighbour before switching off the water.`,
    summaries: [
      `Electrician: Monday at 8; plumber: Wednesday. The oven needs an own line (16 A). Because of the gas pipe the wall to the hall must not be drilled above 1.40 m.
The oak worktop (38 mm, 1,150 euros) was chosen over the stone one (2,300 euros), delivery in 6 weeks. Half of the price is due now.`,
      `Oak worktop ordered for 1150 euros, six weeks of delivery, half to be paid now and the rest after installation. Do not drill into the wall to the hall above 1.40m (gas pipe). The neighbour is to be asked before the water is switched off.`,
    ],
  },
  {
    text: `The nightly import stopped at 02:17 because the disk of db-replica-3 was full. The log had grown to 41 GB, since rotation
was switched off in March and nobody switched it on again. I deleted the old logs, enabled rotation in /etc/logrotate.d/import
with a limit of 500 MB, and restarted the job, which finished after 38 minutes. No rows were lost: the import is idempotent and
was simply run again. What is left to do: the alert at 80 percent disk usage never fired, and I could not find out why. Do not
raise the limit above 1 GB, the partition is shared with the backups.`,
    summaries: [
      `The nightly import was interrupted at 02:17: the disk of db-replica-3 had filled up, because log rotation was off since March (41 GB of logs).
Rotation is enabled again (limit 500 MB), the job was restarted and took 38 minutes; no rows were lost.
Open: it is unknown why the alert at 80% disk usage never fired. The limit must not be raised above 1 GB, because the backups share the partition.`,
      `Full disk on db-replica-3 stopped the import. Fixed by deleting old logs and enabling rotation in /etc/logrotate.d/import. Don't raise its limit above 1GB. The disk alert did not fire, reason unknown.`,
    ],
  },
  {
    text: `Could you write a small command line tool that renames photos by the date they were taken? It should read the date from
EXIF, and fall back on the time of the file if there is none. The new name is YYYY-MM-DD_HHMMSS.jpg; if two photos have the same
second, append _2, _3 and so on. Never overwrite an existing file. There must be a --dry-run option that only prints what would
be done. Use Python 3.11 and only the standard library plus Pillow. I have about 12,000 photos on a slow network drive, so please
do not read whole files if the header is enough.`,
    summaries: [
      `The user wants a Python 3.11 command line tool that renames photos to YYYY-MM-DD_HHMMSS.jpg after their EXIF date (or the file time when there is none), adding _2, _3 for photos of the same second.
It must never overwrite an existing file and needs a --dry-run option. Only the standard library and Pillow may be used.
About 12,000 photos are on a slow network drive: do not read whole files if the header suffices.`,
      `- Rename photos by EXIF date, fallback: file time
- Existing files are never overwritten
- --dry-run must only print what would be done
- only standard library plus Pillow, Python 3.11
- don't read whole files when the header is enough (12000 photos, slow network drive)`,
    ],
  },
  {
    text: `npm test

> shop-api@2.4.1 test
> vitest run

 ✓ test/cart.test.ts (18 tests) 412ms
 ✓ test/prices.test.ts (31 tests) 377ms
 ❯ test/orders.test.ts (22 tests | 2 failed) 1893ms
   × orders > refuses an order over the limit of 50 items
     → expected 201 to be 422
   × orders > sends one mail per order
     → expected 2 to be 1
 ✓ test/users.test.ts (9 tests) 120ms

 Test Files  1 failed | 3 passed (4)
      Tests  2 failed | 78 passed (80)
   Duration  4.61s`,
    summaries: [
      `2 of 80 tests failed, both in test/orders.test.ts: "refuses an order over the limit of 50 items" (expected 201 to be 422) and "sends one mail per order" (expected 2 to be 1). The other 78 passed; the run took 4.61s.`,
      `Test run of shop-api@2.4.1: 78 tests passed and 2 failed.
Failures in test/orders.test.ts: refuses an order over the limit of 50 items; sends one mail per order.`,
    ],
  },
  {
    text: `We talked about the flaky checkout test again. Ines thinks it is the clock, I think it is the shared Redis. To find out, she
ran the suite 200 times with an own Redis for each worker: not a single failure. With the shared one, 7 of 200 runs failed. So the
shared Redis it is. We decided to start one Redis per worker, which costs about 90 MB of memory each on the runners. The retry
that hid the problem will be removed next week. Until then nobody should add further retries. Ines writes the change, I review it.`,
    summaries: [
      `The flaky checkout test is caused by the shared Redis: with one Redis per worker none of 200 runs failed, with the shared one 7 of 200 did.
It was decided to start one Redis per worker (roughly 90 MB each). The retry is removed next week; until then nobody should add more retries. Ines makes the change.`,
      `Shared Redis, not the clock, makes the checkout test flaky (7 failures in 200 runs, versus none with separate instances). Decision: one Redis per worker, ~90MB of memory each. No further retries should be added before the existing retry is removed next week.`,
    ],
  },
];

/** Of recorded sessions, which lie beside the repository: their texts are found by how they begin. */
export const handRecorded: readonly RecordedText[] = [
  {
    session: "pi-pi-mono-01",
    starts:
      "Perfect! Let's create a summary of what we've done:\n\n## Summary\n\nAdded **5 new explicit theme",
    summaries: [
      `Five new theme tokens were added for the thinking level borders (thinkingOff, thinkingMinimal, thinkingLow, thinkingMedium, thinkingHigh), so the total went from 37 to 42 tokens. theme.md, theme.ts, dark.json and light.json were updated; getThinkingBorderColor() uses the dedicated tokens instead of generic colors.`,
      `Added \`thinkingOff\` to \`thinkingHigh\`, 5 explicit tokens for the border of each thinking level. In dark.json they go from dimGray (238) to magenta (#ff00ff), in light.json from dimGray (246) to purple (#990099).`,
    ],
  },
  {
    session: "cc-git-sync-01",
    starts: "Everything's green: `go test` (race + gated e2e) exits 0 for both packages",
    summaries: [
      `All checks are green: go test with -race, gofmt, go vet, golangci-lint (0 issues).
In sha256convert.go, cleanupTarget is disarmed as soon as the conversion is complete, so a later failure leaves the converted repo on disk instead of deleting it, and openSource no longer leaks a token from a malformed source URL. A regression test, TestRun_GitHTTPBackend_KeepsTargetOnPostConversionFailure, fails without the fix.
docs/convert-sha256.md was corrected. Some test gaps are deferred. The changes on nodo/convert-sha256 are uncommitted.`,
      `Fixed: the converted repo was deleted when a step after the conversion failed; a token in a malformed URL could leak through openSource. Both are verified, golangci-lint reports 0 issues. Nothing is committed yet on nodo/convert-sha256. Still open: pjbgf's ack in the PR thread, and deferred test gaps (mergetag stripping, lightweight tags).`,
    ],
  },
  {
    session: "codex-git-sync-01",
    starts: "Build + vet + race tests all clean. Walking through the follow-ups",
    summaries: [
      `All four fixes are correct: the flag is now --stats in syncer.go:555 and docs/usage.md; shellQuotePath leaves the tilde unquoted; PostRPCStreamBody has a cancellation test with a 50ms timeout; and the \`_ = phase\` comment reads as intentional.
Not blocking: the warning still bypasses s.notice(), a second cancellation variant would be optional, and the integration test has no failing ssh path. The PR can ship.`,
      `Review verdict: shippable. Build, vet and race tests are clean, and both issues worth fixing before merge are addressed. Remaining remarks are not blocking: issue 3 (the warning bypasses \`s.notice()\`) was not taken on, and there is no integration test for a failing ssh.`,
    ],
  },
  {
    session: "cc-entire-skills-01",
    starts: "Running the self-review against the spec.",
    summaries: [
      `Self-review of the plan: every spec section maps to a task (Tasks 1–3 for the three skills, Task 4 for manual verification), no TBDs, and names are consistent. No fixes are needed. The plan is saved, uncommitted, at docs/superpowers/plans/2026-04-17-entire-skill-response-header.md; docs/ is gitignored.
Two ways to execute: subagent-driven (recommended) or inline with executing-plans.`,
      `The plan passed its self-review without fixes. It lies in docs/superpowers/plans/2026-04-17-entire-skill-response-header.md and is not committed because \`docs/\` is gitignored. The user is asked to choose between Subagent-Driven (recommended) and Inline Execution.`,
    ],
  },
  {
    session: "codex-git-sync-01",
    starts: "Not in this PR.\n\nYou already have:",
    summaries: [
      `The assistant advises against Docker-backed SSH e2e in this PR: the shim integration, the unit tests of transport behavior and the end-to-end sync coverage over SSH are enough to merge. It would expand the scope and add churn around CI, timing, cleanup and portability.
Next step: merge first, then a follow-up PR for \`ssh_e2e_test.go\`, gated behind \`GITSYNC_TEST_SSHD=1\` or a build tag.`,
      `Docker-backed SSH e2e should come in a separate follow-up PR (ssh_e2e_test.go), gated by GITSYNC_TEST_SSHD=1 or a build tag. Merge this branch first.`,
    ],
  },
  {
    session: "cc-entire-skills-01",
    starts: "### 3. Edge cases and scope of the header",
    summaries: [
      `Three edge cases of the header: it also applies to error and early-exit paths, so that users see which layer failed; only the first response of a skill invocation prints it, later replies don't; and the session-handoff flow with an unanswered question gets it too, with the ask after the summary.`,
      `The header is shown on error / early-exit paths too. Only the first response of the invocation gets it. session-handoff: header still applies, the unanswered-question ask follows the compaction summary.`,
    ],
  },
];
