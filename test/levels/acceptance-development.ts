import type { OtherText } from "./acceptance-others.ts";

/** Written together with `freshTexts`, and used to change the rules. */
export const developmentTexts: readonly OtherText[] = [
  {
    text: `$ go test ./...
ok   example.org/relay/codec    0.412s
ok   example.org/relay/proxy    3.870s
--- FAIL: TestDrain (2.01s)
    drain_test.go:57: 3 connections still open after 2s, want 0
--- FAIL: TestResume/after_crash (0.20s)
    resume_test.go:118: offset = 4096, want 8192
FAIL example.org/relay/server   5.113s
?    example.org/relay/tools    [no test files]
ok   example.org/relay/wire     0.090s (cached)`,
    cases: [
      {
        faithful: `Tests of relay/server fail: TestDrain still sees 3 open connections after 2 s (drain_test.go:57), and TestResume/after_crash reads offset 4096 instead of 8192. codec, proxy and wire pass; tools has no tests.`,
        damaged: [
          ["numbers exchanged", "4096 instead of 8192", "8192 instead of 4096"],
          ["number changed", "sees 3 open", "sees 5 open"],
          ["negation lost", "tools has no tests", "tools has tests"],
          ["outcome turned", "wire pass", "wire fail"],
        ],
      },
      {
        faithful: `2 failures in example.org/relay/server: connections are not closed within two seconds when draining, and resuming after a crash starts at the wrong offset (4096, should be 8192). The other packages are fine.`,
        damaged: [
          ["negation lost", "are not closed within", "are closed within"],
          ["name of something else", "example.org/relay/server", "example.org/relay/proxy"],
        ],
      },
    ],
  },
  {
    text: `We had an outage of the checkout from 09:12 to 09:47 on Tuesday. The cause was a certificate of the payment gateway \
that had expired at 09:10. Our monitoring did not notice it, because the probe ignores certificate errors since March. Leonie \
renewed the certificate by hand at 09:41 and restarted two of the five pods; the others picked it up on their own. 1,318 orders \
failed, 204 of them were retried by customers. No money was lost. From now on certificates are renewed 21 days before they \
expire, and the probe must not ignore certificate errors. The runbook is docs/runbooks/certs.md. Until the renewal job is in production, Leonie checks all certificates every Monday.`,
    cases: [
      {
        faithful: `Checkout was down on Tuesday between 09:12 and 09:47 since the payment gateway's certificate had run out at 09:10, unnoticed by a probe that has ignored certificate errors since March. It was renewed manually by Leonie at 09:41, and two of five pods needed a restart. 1,318 orders failed (204 retried), but no money was lost. Follow-ups: renewal 21 days ahead of expiry, a probe that no longer ignores certificate errors, and a weekly check by Leonie on Mondays until the job is live. See docs/runbooks/certs.md.`,
        damaged: [
          ["numbers exchanged", "1,318 orders failed (204 retried)", "204 orders failed (1,318 retried)"],
          ["negation lost", "but no money was lost", "and money was lost"],
          ["time of something else", "had run out at 09:10", "had run out at 09:41"],
          ["negation lost", "that no longer ignores", "that ignores"],
        ],
      },
      {
        faithful: `Root cause: expired certificate. Impact: 1,318 failed orders. Rule: the probe must not ignore certificate errors; certificates get renewed 21 days early.`,
        damaged: [
          ["negation lost", "must not ignore", "must ignore"],
          ["number of something else", "21 days early", "5 days early"],
          ["number changed", "1,318", "1,381"],
        ],
      },
      {
        faithful: `Leonie fixed the outage by renewing the gateway certificate and restarting two pods. She checks certificates each Monday until renewal is automated. Certificate errors may not be ignored by the probe any longer.`,
        damaged: [
          ["constraint changed", "until renewal is automated", "after renewal is automated"],
          ["negation lost", "may not be ignored by the probe any longer", "may be ignored by the probe"],
        ],
      },
    ],
  },
  {
    text: `House style for our API
1. Paths are in the plural and in kebab-case: /user-groups, not /userGroup.
2. Every list is paginated. The default page has 50 entries, the maximum is 200. A larger limit is answered with 400, it is not cut silently.
3. Times are UTC in ISO 8601. Never return local times.
4. Errors have a code, a message and a request id. The message must not contain personal data.
5. A field may be added at any time; removing one requires a new version and 6 months of notice.
6. PUT replaces, PATCH merges. Do not use POST for updates.
7. Only the gateway checks tokens; services trust the header X-Subject and must reject requests without it.`,
    cases: [
      {
        faithful: `API rules: plural kebab-case paths (/user-groups); pagination everywhere with 50 entries per page by default and 200 at most, anything above gets a 400; ISO 8601 times in UTC and never local ones; errors carry code, message and request id but no personal data; fields may be added freely, while removal takes a new version plus 6 months' notice; updates use PUT (replace) or PATCH (merge), not POST; token checks happen in the gateway alone, and services must refuse requests lacking X-Subject.`,
        damaged: [
          [
            "numbers exchanged",
            "50 entries per page by default and 200 at most",
            "200 entries per page by default and 50 at most",
          ],
          ["negation lost", "but no personal data", "and personal data"],
          ["names exchanged", "PUT (replace) or PATCH (merge)", "PATCH (replace) or PUT (merge)"],
          ["constraint changed", "must refuse requests lacking", "may accept requests lacking"],
        ],
      },
      {
        faithful: `- Limit over 200: respond 400, don't truncate
- UTC only, no local times
- No personal data in error messages
- Removing a field: new version, 6 months of notice
- POST is not for updates
- Tokens are checked only by the gateway; services reject requests without X-Subject`,
        damaged: [
          ["negation lost", "POST is not for updates", "POST is for updates"],
          ["constraint changed", "checked only by the gateway", "checked also by the gateway"],
          ["unit changed", "6 months", "6 weeks"],
          ["negation lost", "don't truncate", "truncate"],
        ],
      },
    ],
  },
  {
    text: `[12:00:03] scheduler: picked job rebuild-index (priority 3)
[12:00:03] scheduler: job mail-digest deferred, quota 5/5
[12:00:41] rebuild-index: scanned 210,554 documents, 17 unreadable
[12:06:12] rebuild-index: WARN slow segment seg-0091 (84 s)
[12:07:00] rebuild-index: done, 210,537 documents in 6 segments, 1.9 GB
[12:07:01] scheduler: picked job mail-digest (priority 5)
[12:07:02] mail-digest: ERROR template weekly.html not found
[12:07:02] scheduler: job mail-digest failed, retry 1 of 4 in 120 s
[12:09:02] mail-digest: ERROR template weekly.html not found
[12:09:02] scheduler: job mail-digest failed, retry 2 of 4 in 240 s`,
    cases: [
      {
        faithful: `rebuild-index ran from 12:00:03 to 12:07:00 and indexed 210,537 of 210,554 documents (17 could not be read) into 6 segments of 1.9 GB; seg-0091 was slow with 84 s. mail-digest had been deferred because the quota of 5 was used up, and has failed twice since then: the template weekly.html does not exist. The next retry is in 240 s.`,
        damaged: [
          ["numbers exchanged", "210,537 of 210,554", "210,554 of 210,537"],
          ["negation lost", "17 could not be read", "17 could be read"],
          ["number of something else", "next retry is in 240 s", "next retry is in 84 s"],
          ["outcome turned", "has failed twice", "has succeeded twice"],
        ],
      },
      {
        faithful: `mail-digest keeps failing (weekly.html not found), 2 of 4 retries are used. The index rebuild succeeded: 210,537 documents, 17 unreadable ones left out.`,
        damaged: [
          ["number changed", "2 of 4", "3 of 4"],
          ["outcome turned", "rebuild succeeded", "rebuild failed"],
          ["negation lost", "17 unreadable ones left out", "17 readable ones added"],
        ],
      },
    ],
  },
  {
    text: `export async function acquire(pool: Pool, signal: AbortSignal): Promise<Conn> {
  // Waiters are served in order; a waiter that aborts leaves the queue.
  if (pool.closed) throw new PoolClosedError();
  const idle = pool.idle.pop();
  if (idle !== undefined && Date.now() - idle.since < MAX_IDLE_MS) return idle;
  if (pool.open < pool.limit) return open(pool);
  return enqueue(pool, signal, WAIT_MS);
}
const MAX_IDLE_MS = 45_000;
const WAIT_MS = 3_000;`,
    cases: [
      {
        faithful: `acquire() throws PoolClosedError on a closed pool, reuses an idle connection younger than MAX_IDLE_MS (45 s), opens a new one below pool.limit, and otherwise waits in order for up to WAIT_MS (3 s). Aborted waiters leave the queue.`,
        damaged: [
          ["numbers exchanged", "MAX_IDLE_MS (45 s)", "MAX_IDLE_MS (3 s)"],
          ["bound turned", "younger than MAX_IDLE_MS", "older than MAX_IDLE_MS"],
          ["name changed", "PoolClosedError", "PoolFullError"],
        ],
      },
      {
        faithful: `A connection is taken from pool.idle if it has not been idle for more than 45 seconds; if none is left and the limit is not reached, a new one is opened; else the caller is queued (3 seconds at most).`,
        damaged: [
          ["number of something else", "(3 seconds at most)", "(45 seconds at most)"],
          ["unit changed", "45 seconds", "45 minutes"],
        ],
      },
    ],
  },
  {
    text: `Hi all, short update on the data centre move. Racks 1 to 4 are in Linz and running since Saturday. Rack 5 stays in \
Vienna until the contract ends on 30 September, we will not move it earlier. Two switches were damaged by the carrier; insurance \
pays 7,200 euros. The backup link has 1 Gbit/s instead of the 10 we ordered, the provider promised to fix it by Friday. Please \
don't schedule batch jobs between 01:00 and 04:00 until then, the link is saturated. Access to the new hall only with a badge from Petra, you need to send her a photo. Old badges do not work there.`,
    cases: [
      {
        faithful: `Racks 1-4 have been running in Linz since Saturday, rack 5 remains in Vienna up to the end of the contract (30 September). Insurance covers 7,200 euros for two switches the carrier damaged. The backup link only delivers 1 Gbit/s, 10 were ordered; a fix is promised by Friday. Until then no batch jobs from 01:00 to 04:00. Petra issues the badges needed for the new hall; the old ones do not work.`,
        damaged: [
          ["numbers exchanged", "1 Gbit/s, 10 were ordered", "10 Gbit/s, 1 were ordered"],
          [
            "names exchanged",
            "in Linz since Saturday, rack 5 remains in Vienna",
            "in Vienna since Saturday, rack 5 remains in Linz",
          ],
          ["negation lost", "the old ones do not work", "the old ones work too"],
          ["negation lost", "Until then no batch jobs", "Until then batch jobs"],
        ],
      },
      {
        faithful: `Move status: four racks done, one waits until 30 September. Don't run batch jobs between 01:00 and 04:00 while the link is slow (1 instead of 10 Gbit/s). Badge: send Petra a photo.`,
        damaged: [
          ["negation lost", "Don't run batch jobs", "Run batch jobs"],
          ["number changed", "01:00 and 04:00", "01:00 and 05:00"],
        ],
      },
    ],
  },
  {
    text: `| plan | price | seats | storage | support |
|---|---|---|---|---|
| Free | 0 | 3 | 2 GB | none |
| Team | 12 | 25 | 200 GB | email |
| Business | 29 | 250 | 2 TB | 24 h |
Prices are per seat and month in euros. Annual payment gets 15 % off, except for Business in the first year. A downgrade takes effect at the end of the period; data above the limit is not deleted for 60 days.`,
    cases: [
      {
        faithful: `Team costs 12 euros per seat and month (25 seats, 200 GB, support by email), Business 29 (250 seats, 2 TB, answers within 24 h); Free has 3 seats and 2 GB without support. Paying annually saves 15 %, but not for Business during its first year. After a downgrade surplus data is kept for 60 days.`,
        damaged: [
          [
            "numbers exchanged",
            "Team costs 12 euros per seat and month (25 seats, 200 GB, support by email), Business 29",
            "Team costs 29 euros per seat and month (25 seats, 200 GB, support by email), Business 12",
          ],
          ["negation lost", "but not for Business", "also for Business"],
          ["number of something else", "kept for 60 days", "kept for 15 days"],
        ],
      },
      {
        faithful: `Three plans: Free (2 GB), Team (12, 200 GB) and Business (29, 2 TB). 15 % discount for annual payment. Downgrades apply when the period ends, and data over the limit is not deleted for 60 days.`,
        damaged: [
          [
            "numbers exchanged",
            "Team (12, 200 GB) and Business (29, 2 TB)",
            "Team (12, 2 TB) and Business (29, 200 GB)",
          ],
          ["negation lost", "is not deleted for 60 days", "is deleted after 60 days"],
          ["name of something else", "Free (2 GB)", "Team (2 GB)"],
        ],
      },
    ],
  },
  {
    text: `commit 5be01aa: cache: evict by cost
 src/cache/evict.ts   | 88 ++++++++++++-----
 src/cache/policy.ts  |  9 +-
 test/cache/evict.test.ts | 140 +++++++++++++++++++++
Entries are no longer evicted by age but by cost: size times the milliseconds it took to compute them. The option maxAge is ignored from now on and logs a warning; it will be removed in 4.0. Entries that are pinned are never evicted, even when the cache is full; then put() throws CacheFullError. In the benchmark the hit rate rose from 61 % to 74 % with the same 256 MB. Eviction got slower, 0.9 ms instead of 0.2 ms per call, which we accept.`,
    cases: [
      {
        faithful: `5be01aa switches eviction from age to cost (size times compute time in ms). maxAge now only triggers a warning and goes away in 4.0. Pinned entries are never evicted, so put() throws CacheFullError if the cache is full. Hit rate: 61 % before, 74 % after at 256 MB; an eviction takes 0.9 ms rather than 0.2 ms.`,
        damaged: [
          ["numbers exchanged", "61 % before, 74 % after", "74 % before, 61 % after"],
          ["names exchanged", "from age to cost", "from cost to age"],
          ["negation lost", "are never evicted", "are evicted"],
          ["numbers exchanged", "0.9 ms rather than 0.2 ms", "0.2 ms rather than 0.9 ms"],
        ],
      },
      {
        faithful: `Eviction by cost instead of age. The hit rate improves to 74 % (from 61 %), while evicting becomes slower (0.9 ms). Pinned entries stay. maxAge is deprecated.`,
        damaged: [
          ["opposite", "becomes slower", "becomes faster"],
          ["number of something else", "to 74 % (from 61 %)", "to 61 % (from 74 %)"],
          ["opposite", "The hit rate improves", "The hit rate worsens"],
        ],
      },
    ],
  },
];
