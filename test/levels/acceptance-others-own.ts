import type { OtherText } from "./acceptance-others.ts";

/** Every second text is of the tuned half, the first of them included: see acceptance-others.ts. */
export const othersOwn: readonly OtherText[] = [
  {
    text: `Before you touch the deployment, please read this. The service runs on three hosts behind haproxy, and only one host may be taken
out at a time. Drain it with bin/drain.sh and wait until its connections drop below 20. You must not restart postgres: it is shared with
the reporting team. Releases happen between 10:00 and 15:00, never on Fridays. If a smoke test fails, roll back at once with
bin/rollback.sh and tell the on-call engineer; do not try to fix it live. Version 7.3.1 is running now.`,
    cases: [
      {
        faithful: `Deployment rules: take out a single host at a time (of three behind haproxy), draining it via bin/drain.sh until fewer than 20 connections are left. Postgres is shared with the reporting team and must not be restarted. Release window is 10:00 to 15:00, Fridays excluded. When a smoke test fails, roll back immediately using bin/rollback.sh and inform the on-call engineer instead of fixing it live. Current version: 7.3.1.`,
        damaged: [
          ["constraint changed", "must not be restarted", "may be restarted"],
          ["path changed", "bin/rollback.sh", "bin/drain.sh"],
          ["number changed", "fewer than 20", "fewer than 200"],
          ["constraint lost", ", Fridays excluded", ""],
        ],
      },
      {
        faithful: `- One host out at a time; drain first (bin/drain.sh)
- Wait for connections to go under 20
- No postgres restart, the reporting team uses it too
- Never release on a Friday; otherwise 10:00-15:00
- Failed smoke test: bin/rollback.sh right away, no live fixes`,
        damaged: [
          ["negation lost", "Never release on a Friday", "Release on a Friday"],
          ["negation lost", "No postgres restart", "Postgres restart"],
          ["number changed", "10:00-15:00", "10:00-18:00"],
        ],
      },
    ],
  },
  {
    text: `Working agreement for this repository. All code must compile without warnings. Public functions need a doc comment. Do not use
unwrap() outside of tests; return a Result instead. Unsafe code is forbidden except in crates/ffi, where every block needs a SAFETY comment.
Benchmarks live in benches/ and are run with cargo bench. A pull request may change at most 600 lines; larger ones are split. We require
two approvals, one of them by a maintainer. The minimum supported Rust version is 1.74 and must not be raised without an entry in
CHANGELOG.md.`,
    cases: [
      {
        faithful: `Code has to compile warning-free, and public functions carry doc comments. Outside of tests unwrap() is not allowed, a Result should be returned. Unsafe blocks are permitted in crates/ffi only, each with a SAFETY comment. PRs are limited to 600 lines and need two approvals (one from a maintainer). Rust 1.74 is the minimum version; raising it requires a CHANGELOG.md entry.`,
        damaged: [
          ["negation lost", "is not allowed", "is allowed"],
          ["number changed", "600 lines", "900 lines"],
          ["constraint lost", " in crates/ffi only", ""],
          ["path changed", "CHANGELOG.md", "CONTRIBUTING.md"],
        ],
      },
      {
        faithful: `Rules: no compiler warnings; doc comments on public functions; never call unwrap() except in tests; unsafe code only in crates/ffi and only with a SAFETY comment; pull requests of at most 600 lines with 2 approvals; MSRV 1.74, not to be raised without a note in CHANGELOG.md.`,
        damaged: [
          ["number changed", "1.74", "1.70"],
          ["constraint changed", "at most 600", "at least 600"],
          ["negation lost", "not to be raised", "to be raised"],
        ],
      },
    ],
  },
  {
    text: `2026-02-11T04:12:07Z nginx[1412]: 10.4.0.17 "GET /v2/items?page=3" 200 31ms
2026-02-11T04:12:09Z nginx[1412]: 10.4.0.22 "POST /v2/orders" 502 30004ms upstream timed out (110: Connection timed out)
2026-02-11T04:12:09Z orders-api[88]: WARN pool exhausted: 50/50 connections in use, 213 waiting
2026-02-11T04:12:11Z nginx[1412]: 10.4.0.22 "POST /v2/orders" 502 30001ms upstream timed out (110: Connection timed out)
2026-02-11T04:12:15Z orders-api[88]: ERROR could not acquire connection within 30000 ms
2026-02-11T04:13:02Z postgres[9]: LOG autovacuum of table "shop.orders" took 71 s
2026-02-11T04:13:04Z orders-api[88]: INFO pool recovered: 12/50 connections in use
2026-02-11T04:13:05Z nginx[1412]: 10.4.0.22 "POST /v2/orders" 201 88ms`,
    cases: [
      {
        faithful: `At 04:12 two POST requests to /v2/orders got a 502 from nginx because the upstream timed out after 30 s. The connection pool of orders-api was exhausted (50 of 50 in use, 213 waiting). An autovacuum of shop.orders ran for 71 s. The pool had recovered at 04:13:04 with 12/50 in use, and the next POST returned 201 in 88 ms.`,
        damaged: [
          ["number changed", "213 waiting", "113 waiting"],
          ["path changed", "/v2/orders", "/v2/items"],
          ["number changed", "returned 201", "returned 502"],
          ["number lost", "ran for 71 s", "ran for s"],
        ],
      },
      {
        faithful: `orders-api ran out of database connections (50/50, 213 waiting) while autovacuum of shop.orders took 71 s; POST /v2/orders failed with 502 during that time. It recovered by itself at 04:13.`,
        damaged: [
          ["outcome turned", "failed with 502", "succeeded with 201"],
          ["unit changed", "71 s;", "71 ms;"],
        ],
      },
    ],
  },
  {
    text: `#9 [build 4/7] RUN npm ci
#9 12.41 npm warn deprecated inflight@1.0.6: This module is not supported, and leaks memory.
#9 38.02 added 1124 packages, and audited 1125 packages in 36s
#9 38.03 7 vulnerabilities (2 low, 4 moderate, 1 high)
#10 [build 5/7] COPY . .
#11 [build 6/7] RUN npm run build
#11 4.912 src/checkout/total.ts(57,11): error TS2322: Type 'string | undefined' is not assignable to type 'string'.
#11 4.913 src/checkout/total.ts(61,3): error TS2532: Object is possibly 'undefined'.
#11 ERROR: process "/bin/sh -c npm run build" did not complete successfully: exit code: 2
failed to solve: process "/bin/sh -c npm run build" did not complete successfully: exit code: 2`,
    cases: [
      {
        faithful: `The image could not be built: npm run build exited with code 2 because of two type errors in src/checkout/total.ts, TS2322 at line 57 and TS2532 at line 61. npm ci had worked and added 1124 packages; 7 vulnerabilities were reported, one of them high.`,
        damaged: [
          ["number changed", "code 2", "code 1"],
          ["path changed", "src/checkout/total.ts", "src/checkout/totals.ts"],
          ["negation lost", "could not be built", "could be built"],
          ["number changed", "line 61", "line 67"],
        ],
      },
      {
        faithful: `Docker build fails in step 6/7 (npm run build, exit code 2):
- src/checkout/total.ts(57,11) TS2322, string | undefined is not assignable to string
- src/checkout/total.ts(61,3) TS2532, possibly undefined
npm ci: 1124 packages added in 36s, 7 vulnerabilities.`,
        damaged: [
          ["number changed", "6/7", "5/7"],
          ["negation lost", "is not assignable", "is assignable"],
          ["outcome turned", "Docker build fails", "Docker build succeeds"],
        ],
      },
    ],
  },
  {
    text: `============================= test session starts ==============================
platform linux -- Python 3.12.3, pytest-8.2.0, pluggy-1.5.0
rootdir: /srv/app/ledger
collected 146 items

tests/test_accounts.py .......................                           [ 15%]
tests/test_interest.py ..F......F.                                       [ 23%]
tests/test_transfer.py ................s.................               [ 47%]

=================================== FAILURES ===================================
____________________________ test_leap_year_accrual ____________________________
    def test_leap_year_accrual():
>       assert accrue(1000, rate=0.03, days=366) == Decimal("30.08")
E       AssertionError: assert Decimal('30.00') == Decimal('30.08')
tests/test_interest.py:44: AssertionError
_____________________________ test_negative_balance ____________________________
E       ledger.errors.NegativeBalance: balance is -12.50
tests/test_interest.py:97: NegativeBalance
=========================== short test summary info ============================
FAILED tests/test_interest.py::test_leap_year_accrual
FAILED tests/test_interest.py::test_negative_balance
============ 2 failed, 143 passed, 1 skipped in 9.87s ============`,
    cases: [
      {
        faithful: `pytest collected 146 tests: 143 passed, 2 failed and 1 was skipped (9.87s). Both failures are in tests/test_interest.py. test_leap_year_accrual (line 44) got 30.00 where 30.08 was expected; test_negative_balance (line 97) raised NegativeBalance with a balance of -12.50.`,
        damaged: [
          ["number changed", "143 passed", "144 passed"],
          ["number changed", "got 30.00 where 30.08 was expected", "got 30.08 where 30.00 was expected"],
          ["path changed", "tests/test_interest.py", "tests/test_transfer.py"],
          ["outcome turned", "2 failed", "2 passed"],
        ],
      },
      {
        faithful: `Two tests fail, everything else passes or is skipped (143/1): test_leap_year_accrual expects Decimal("30.08") but accrue returns 30.00, and test_negative_balance ends in ledger.errors.NegativeBalance. Python 3.12.3, pytest-8.2.0.`,
        damaged: [
          ["number changed", "3.12.3", "3.11.3"],
          ["name changed", "ledger.errors.NegativeBalance", "ledger.errors.NegativeAmount"],
          [
            "outcome turned",
            "Two tests fail, everything else passes",
            "Two tests pass, everything else fails",
          ],
        ],
      },
    ],
  },
  {
    text: `Decision record 14: where uploads are stored. We looked at three options. Local disks are the cheapest but do not survive the loss of a
node. An NFS share survives it, yet two of our five sites have no NFS. Object storage costs about 23 dollars per terabyte and month and is
available everywhere. We take object storage, bucket name media-prod, with versioning on. Files over 5 GB are refused by the API. The old
share /mnt/uploads stays readable until 1 October, but nothing may be written to it from now on. Deleting from the bucket is only
possible for the role media-admin. We have not decided yet how thumbnails are cached.`,
    cases: [
      {
        faithful: `Uploads go to object storage (bucket media-prod, versioned, roughly 23 dollars per TB and month), because local disks don't survive losing a node and NFS is missing at two of five sites. The API rejects files larger than 5 GB. /mnt/uploads is read-only from now on and readable until 1 October. Only media-admin can delete from the bucket. Caching of thumbnails is still undecided.`,
        damaged: [
          ["number changed", "5 GB", "50 GB"],
          ["constraint changed", "Only media-admin can delete", "Everybody can delete"],
          ["negation lost", "don't survive", "survive"],
          ["number changed", "1 October", "1 November"],
        ],
      },
      {
        faithful: `Decision 14: object storage wins over local disk and NFS. Nothing may be written to /mnt/uploads any more; it can be read until October 1. Maximum file size 5 GB. Deletion is restricted to the role media-admin. Open: thumbnail caching.`,
        damaged: [
          ["negation lost", "Nothing may be written", "Files may be written"],
          ["path changed", "/mnt/uploads", "/mnt/media"],
          ["constraint lost", "Deletion is restricted to the role media-admin. ", ""],
        ],
      },
    ],
  },
  {
    text: `EXPLAIN ANALYZE SELECT * FROM events WHERE tenant_id = 42 AND created_at > now() - interval '7 days';
Seq Scan on events  (cost=0.00..184220.10 rows=5120 width=212) (actual time=0.031..2841.772 rows=4987 loops=1)
  Filter: ((tenant_id = 42) AND (created_at > (now() - '7 days'::interval)))
  Rows Removed by Filter: 6120441
Planning Time: 0.210 ms
Execution Time: 2843.905 ms

After CREATE INDEX CONCURRENTLY idx_events_tenant_created ON events (tenant_id, created_at):
Index Scan using idx_events_tenant_created on events  (cost=0.43..5310.77 rows=5120 width=212) (actual time=0.022..9.318 rows=4987 loops=1)
Planning Time: 0.305 ms
Execution Time: 9.901 ms`,
    cases: [
      {
        faithful: `Without an index the query on events for tenant 42 (last 7 days) needed a sequential scan: 2843.905 ms, with 6120441 rows removed by the filter to return 4987. With idx_events_tenant_created on (tenant_id, created_at) it is an index scan taking 9.901 ms.`,
        damaged: [
          [
            "number of something else",
            "needed a sequential scan: 2843.905 ms",
            "needed a sequential scan: 9.901 ms",
          ],
          ["name changed", "idx_events_tenant_created", "idx_events_tenant_time"],
          ["unit changed", "9.901 ms", "9.901 s"],
        ],
      },
      {
        faithful: `Adding the index idx_events_tenant_created cut the execution time from 2843.905 ms to 9.901 ms (4987 rows for tenant_id 42). Before, a Seq Scan threw away 6120441 rows.`,
        damaged: [
          ["number changed", "6120441", "6120414"],
          ["number changed", "from 2843.905 ms to 9.901 ms", "from 9.901 ms to 2843.905 ms"],
          ["number lost", "(4987 rows", "(rows"],
        ],
      },
    ],
  },
  {
    text: `# worker.yaml
queue:
  name: thumbnails
  concurrency: 6
  visibility_timeout_s: 120
  max_attempts: 4
  dead_letter: thumbnails-dead
storage:
  endpoint: https://s3.eu-west-1.example.net
  bucket: thumbs-eu
  public: false
limits:
  max_pixels: 50000000
  formats: [jpeg, png, webp]
telemetry:
  enabled: true
  sample_rate: 0.05`,
    cases: [
      {
        faithful: `worker.yaml configures the queue thumbnails with concurrency 6, a visibility timeout of 120 s and at most 4 attempts, after which jobs go to thumbnails-dead. Results are stored in the bucket thumbs-eu, which is not public. Images may have up to 50000000 pixels; jpeg, png and webp are accepted. Telemetry is on with a sample rate of 0.05.`,
        damaged: [
          ["number changed", "concurrency 6", "concurrency 8"],
          ["negation lost", "is not public", "is public"],
          ["number changed", "0.05", "0.5"],
          ["name changed", "thumbs-eu", "thumbs-us"],
        ],
      },
      {
        faithful: `Settings of the thumbnail worker: 6 in parallel, 4 attempts, timeout 120, dead letter queue thumbnails-dead. Bucket thumbs-eu at https://s3.eu-west-1.example.net is private. Telemetry enabled (0.05).`,
        damaged: [
          ["number changed", "4 attempts", "14 attempts"],
          ["path changed", "https://s3.eu-west-1.example.net", "https://s3.us-west-1.example.net"],
          ["number of something else", "timeout 120", "timeout 6"],
        ],
      },
    ],
  },
];
