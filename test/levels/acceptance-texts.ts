/** A text of ours, and summaries that a careful person would write of it: in other words, much shorter. */
export type OwnText = { readonly text: string; readonly summaries: readonly string[] };

export const ownTexts: readonly OwnText[] = [
  {
    text: `The nightly import reads orders from warehouse/orders.csv and writes them to the billing database.
It starts at 02:00 and usually takes 45 minutes. Yesterday it failed after 12 minutes because the disk was full.
We freed 30 GB and ran it again, and the second run passed. Do not delete the files in warehouse/archive: the
auditors need them until the end of March. The import must never run twice at the same time, because the table
order_lines has no unique key. Anna suggested adding one, but we decided to wait for the release of version 4.2.`,
    summaries: [
      `The nightly import (02:00, about 45 minutes) failed yesterday after 12 minutes on a full disk; after freeing 30 GB the second run passed.
The import must never run twice at the same time, since order_lines has no unique key.
Do not delete the files in warehouse/archive until the end of March: the auditors need them.`,
      `Files in warehouse/archive must not be deleted until the end of March because the auditors need them.
The import failed because the disk was full; the second run passed.
It must never run twice at the same time: order_lines has no unique key.
A key was suggested, but it was decided to wait for version 4.2.`,
    ],
  },
  {
    text: `Please rewrite the parser in src/parse/tokens.ts. It must keep the exported function readTokens, since three
other packages call it. Only change the inner loop. Never use regular expressions there: the last attempt took 900 ms
for a file of 2 MB, and the limit is 100 ms. You can run the benchmark with npm run bench:parse. Tests are in
test/parse; they all pass today, and they must pass afterwards. If you need a new dependency, ask me first.
The code style is checked by the linter, so I do not care about formatting.`,
    summaries: [
      `Rewrite the parser in src/parse/tokens.ts, but only change the inner loop.
The exported function readTokens must be kept, because other packages call it.
Never use regular expressions there: the last attempt took 900 ms for 2 MB, against a limit of 100 ms.
The tests in test/parse pass today and must pass afterwards.`,
      `The user wants src/parse/tokens.ts rewritten: only the inner loop may change, and readTokens must keep being exported.
Regular expressions must never be used there; the limit is 100 ms.
All tests pass and must pass afterwards.
Ask before adding a dependency.`,
    ],
  },
  {
    text: `I looked into the slow start page. The request to /api/feed takes 2.4 seconds, and 1.9 seconds of that are spent
in loadFriends. It sends one query for each friend; a user with 300 friends causes 301 queries. I replaced this with a
single query that uses an index on friend_id. The page now loads in 600 ms. The change is in server/feed/load.ts.
I did not touch the cache, because its entries are shared with the mobile app. One test failed at first: it expected the
friends in alphabetical order. I added an explicit sort, and now all 48 tests pass. We should not merge this before
the migration 0017_friend_index has run in production.`,
    summaries: [
      `The start page was slow because loadFriends sent one query for each friend (301 queries for 300 friends).
It now uses a single query with an index on friend_id, in server/feed/load.ts, and the page loads in 600 ms.
The cache was not touched, because its entries are shared with the mobile app.
All 48 tests pass.
This should not be merged before the migration 0017_friend_index has run in production.`,
      `server/feed/load.ts: a single query with an index on friend_id replaced one query for each friend.
The page loads in 600 ms now.
Do not merge before migration 0017_friend_index has run in production.`,
    ],
  },
  {
    text: `The customer called about invoice INV-20871. She was charged 120 euros for March, although her contract ended on
28 February. According to the contract, fees must be refunded within 14 days after a complaint. I checked the account:
the termination letter arrived on 3 February, but it was never entered into the system. I promised her that she will not
get a reminder while this is open. Refunds over 100 euros need the approval of a team lead. Only Mr. Okafor can
approve this week, because Ms. Lind is on holiday until Friday. Her phone number has not changed.`,
    summaries: [
      `The customer was charged 120 euros on invoice INV-20871 for March, although her contract ended on 28 February.
Fees must be refunded within 14 days after a complaint.
Her termination letter arrived on 3 February, but was never entered into the system.
She will not get a reminder while this is open.
Refunds over 100 euros need approval by a team lead; only Mr. Okafor can approve this week, because Ms. Lind is on holiday until Friday.`,
      `Invoice INV-20871: 120 euros charged although the contract ended on 28 February; fees must be refunded within 14 days.
Only Mr. Okafor can approve this week (Ms. Lind is on holiday until Friday).
The customer will not get a reminder while this is open.`,
    ],
  },
  {
    text: `We compared three queues. Redis was the fastest with 41,000 messages per second, but it lost 7 messages when we
killed the process. RabbitMQ reached 18,000 and lost none. The third one, a table in Postgres, reached 6,500 and lost none
either. Our peak is 900 messages per second, so all of them are fast enough. We decided to use the Postgres table: it
needs no further service. Messages must be kept for 7 days after they were handled. The worker may delete them only after
that. The queue is created by db/migrations/0042_queue.sql, and config/queue.yaml holds the limits. At most 5 retries are
made; afterwards a message goes to the table queue_dead. Nobody may change queue_dead by hand.`,
    summaries: [
      `We decided to use a Postgres table as the queue: 6,500 messages per second, none lost, and no further service is needed.
Redis was faster with 41,000 but lost 7 messages.
Messages must be kept for 7 days after they were handled; the worker may delete them only after that.
At most 5 retries are made, then a message goes to queue_dead.
Nobody may change queue_dead by hand.`,
      `The Postgres table was chosen over Redis, which lost 7 messages, and RabbitMQ, since it needs no further service.
The worker may delete messages only after 7 days; they must be kept until then.
After at most 5 retries a message goes to the table queue_dead, which nobody may change by hand.`,
    ],
  },
  {
    text: `Deployment notes. The service listens on port 8443 and needs at least 512 MB of memory. Set APP_SECRET before the
start; without it the process exits with code 78. The secret must not be written to the log, and it must not be part of
the image. Health checks go to /healthz every 10 seconds, and after 3 failures the container is replaced. Use the script
deploy/rollout.sh; never run kubectl apply directly, because the script also moves the old pods away. A rollout takes about 4
minutes. Last week one rollout failed because the image was built for arm64. Since then the pipeline checks the platform.
Logs are kept for 30 days unless a ticket asks for more.`,
    summaries: [
      `The service listens on port 8443 and needs at least 512 MB of memory.
APP_SECRET must be set before the start, or the process exits with code 78; the secret must not be written to the log and must not be part of the image.
Use deploy/rollout.sh; never run kubectl apply directly, because the script also moves the old pods away.
Logs are kept for 30 days unless a ticket asks for more.`,
      `Roll out with deploy/rollout.sh (about 4 minutes) and never run kubectl apply directly.
The secret must not be written to the log and must not be part of the image.
After 3 failures of the health check at /healthz the container is replaced.
Logs are kept 30 days unless a ticket asks for more.`,
    ],
  },
  {
    text: `The meeting agreed on the plan for the museum app. The audio guide will be offered in English, Dutch and Arabic;
French was postponed because the translator is not available before June. Texts may have at most 90 words for each room.
The budget is 18,000 euros, of which 6,500 are spent. Photos must not be used without the written consent of the lender.
The map shows only the ground floor until the new lift is open. Visitors do not need an account. Tom tested the beacons:
in 4 of 22 rooms the signal failed, in the others it was good. He will order 8 more beacons by Thursday.`,
    summaries: [
      `The audio guide will be in English, Dutch and Arabic; French was postponed because the translator is not available before June.
Texts may have at most 90 words for each room.
Photos must not be used without written consent of the lender.
The map shows only the ground floor until the new lift is open.
The signal of the beacons failed in 4 of 22 rooms, so Tom will order 8 more by Thursday.`,
      `Agreed for the museum app: of the budget of 18,000 euros 6,500 are spent, and texts have at most 90 words for each room.
Photos must not be used without the lender's written consent.
Until the new lift is open, the map shows only the ground floor.
Visitors do not need an account.`,
    ],
  },
  {
    text: `Summary of the incident. At 14:05 the payment service returned error 503 for 11 percent of all requests. The cause
was an expired certificate on gateway-eu-2. Alerts were sent to a channel that nobody reads any more. Marek renewed the
certificate at 14:38, and at 14:41 requests succeeded again. No payment was lost, but 214 were delayed by up to 36 minutes.
Customers must be told by tomorrow. From now on certificates are renewed 20 days before they expire, by the job
renew_certs in ops/jobs/certs.py. The job must not run on the gateways themselves. Alerts go to the on-call phone only
if they last longer than 2 minutes.`,
    summaries: [
      `The payment service returned error 503 for 11 percent of requests because of an expired certificate on gateway-eu-2.
Marek renewed the certificate at 14:38; at 14:41 requests succeeded again.
No payment was lost, but 214 were delayed by up to 36 minutes.
Customers must be told by tomorrow.
Certificates are now renewed 20 days before they expire by renew_certs (ops/jobs/certs.py), which must not run on the gateways themselves.
Alerts go to the on-call phone only if they last longer than 2 minutes.`,
      `Cause: an expired certificate on gateway-eu-2; no payment was lost, 214 were delayed.
Customers must be told by tomorrow.
The job renew_certs must not run on the gateways.
Alerts go to the on-call phone only if they last longer than 2 minutes.`,
    ],
  },
];
