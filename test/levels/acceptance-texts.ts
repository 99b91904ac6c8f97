/** A text of ours, and summaries that a careful person would write of it: in other words, much shorter. */
export type OwnText = { readonly text: string; readonly summaries: readonly string[] };

/** The same of what somebody said in a recorded session, found by how it begins. */
export type RecordedText = {
  readonly session: string;
  readonly starts: string;
  readonly summaries: readonly string[];
};

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
  {
    text: `I would like you to add dark mode to the settings page. The colours are defined in web/theme/colors.css. Please
reuse the variables that are there; do not introduce new colour names. The toggle must be reachable by keyboard. Store the
choice in localStorage under the key ui.theme. Do not store it on the server yet, we will do that in the next sprint.
It should work in Firefox 115 and later. There is a screenshot in docs/design/dark.png.`,
    summaries: [
      `The user asked for dark mode on the settings page, with the variables of web/theme/colors.css and no new colour names.
The toggle must be reachable by keyboard.
The choice goes into localStorage under ui.theme; it must not be stored on the server yet.`,
      `- Add dark mode to the settings page
- Reuse the variables in web/theme/colors.css; do not introduce new colour names
- The toggle must be reachable by keyboard
- Store the choice in localStorage (ui.theme), do not store it on the server yet
- Firefox 115 and later`,
    ],
  },
  {
    text: `Done. I added the retry to lib/http/client.ts: requests that fail with status 502, 503 or 504 are sent again up to 3
times, with pauses of 200, 400 and 800 ms. POST requests are never repeated, because they may not be idempotent. I also
found that the timeout was set to 0, which means that a request could hang for ever; it is 15 seconds now. The new
tests are in lib/http/client.test.ts. 31 of 32 tests pass. The failing one, streams large bodies, failed before my change
too. I have not updated the changelog. Next I would look at why uploadAvatar opens two connections.`,
    summaries: [
      `A retry was added to lib/http/client.ts: failures with status 502, 503 or 504 are repeated up to 3 times; POST requests are never repeated.
The timeout was 0 and is 15 seconds now.
31 of 32 tests pass; the failing one failed before the change too.
The changelog has not been updated.`,
      `lib/http/client.ts now sends failed requests (502, 503, 504) again, up to 3 times with pauses of 200, 400 and 800 ms, but never POST.
The timeout is 15 seconds instead of 0.
One test still fails (streams large bodies), as it did before.
Open: why uploadAvatar opens two connections.`,
    ],
  },
  {
    text: `The garden club met on Tuesday with 23 members. The treasurer reported a balance of 4,310 euros. The greenhouse roof
will be repaired in April for at most 1,200 euros. Water may be taken from the well only between 6 and 9 in the morning.
Dogs must be kept on a lead. Nobody is allowed to burn leaves. The seed exchange is on 14 March in the town hall.
Mrs. Ibarra will not be available as secretary after the summer; a successor has not been found yet.`,
    summaries: [
      `The greenhouse roof will be repaired in April for at most 1,200 euros; the balance is 4,310 euros.
Water may be taken from the well only between 6 and 9 in the morning, dogs must be kept on a lead, and nobody is allowed to burn leaves.
No successor has been found yet for Mrs. Ibarra, who will not be available as secretary after the summer.`,
      `The club has 4,310 euros.
Rules: water from the well only between 6 and 9 in the morning; dogs must be kept on a lead; nobody may burn leaves.
The seed exchange is on 14 March in the town hall.`,
    ],
  },
  {
    text: `To reproduce: start the server with node server.js --port 7070, open the page /reports and click Export. The file
report.csv is empty. I traced it to writeRows in src/export/csv.ts: it returns before the stream is finished, because the
promise is not awaited. The fix is one line. I ran the 19 export tests and all of them passed. The encoding must stay
UTF-8 with a byte order mark, since Excel needs it; please do not remove it. Files over 50 MB are still slow: 70 seconds
on my machine. I did not look into that. The branch is called fix-empty-export and is not merged.`,
    summaries: [
      `report.csv was empty because writeRows in src/export/csv.ts did not await a promise and returned before the stream was finished; the fix is one line.
All 19 export tests passed.
The encoding must stay UTF-8 with a byte order mark, which Excel needs; do not remove it.
Files over 50 MB are still slow (70 seconds); the branch fix-empty-export is not merged.`,
      `Bug: Export on /reports gave an empty report.csv. Cause: a promise in writeRows (src/export/csv.ts) was not awaited.
The byte order mark must stay, do not remove it (Excel needs it).
Not merged yet: fix-empty-export.`,
    ],
  },
  {
    text: `Please look at the search. When somebody types fewer than 3 letters, nothing must be sent to the server. The results
come from /api/search and are limited to 20. Keep the debounce at 250 ms: shorter values made the server fail last year.
The component is SearchBox in app/search/search-box.tsx. You may change its styles, but never its props, because the
mobile app uses the same component. Add tests for empty results. I will be away until Monday, so decide small things yourself.`,
    summaries: [
      `The search (SearchBox in app/search/search-box.tsx) must not send anything to the server for fewer than 3 letters.
The debounce stays at 250 ms, because shorter values made the server fail last year.
Its styles may be changed, but never its props, since the mobile app uses the same component.
Tests for empty results are wanted; the user is away until Monday.`,
      `- Nothing must be sent to the server for fewer than 3 letters.
- Keep the debounce at 250 ms.
- Never change the props of SearchBox; the styles may change.
- Add tests for empty results.`,
    ],
  },
  {
    text: `I compared the two ways to store sessions. With cookies we need no table, but a session cannot be ended by us. With a
table we need one more read per request; I measured 0.8 ms for it. The team lead said that ending sessions is required by
the audit, so cookies are out. I wrote the table as user_sessions with the columns token_hash and expires_at. Tokens must
never be stored in plain text. Sessions last 12 hours, and they are not prolonged by use. The cleanup runs every hour and
deletes at most 5,000 rows at once. The migration failed on the test system because the user lacks the right to create
tables; on my machine it succeeded.`,
    summaries: [
      `Sessions are stored in the table user_sessions (token_hash, expires_at), because ending sessions is required by the audit and cookies cannot be ended by us.
Tokens must never be stored in plain text.
Sessions last 12 hours and are not prolonged by use.
The migration failed on the test system, since the user lacks the right to create tables; on the author's machine it succeeded.`,
      `A table was chosen over cookies: ending sessions is required by the audit. It costs 0.8 ms per request.
Tokens must never be stored in plain text.
The migration failed on the test system: the user lacks the right to create tables.`,
    ],
  },
  {
    text: `Notes for the night shift. Ward 3 has 18 patients, 2 of them arrived today. Mr. Haddad in room 312 must not get
penicillin. Mrs. Olsen may drink, but not eat, until her examination at 08:30. The pump in room 307 failed twice; it was
replaced at 17:20 and has worked since. Keys to the medicine cabinet are only given to staff with a badge. If the alarm of
the oxygen line sounds, call 4455 first and do not close the valve yourself. Two blankets are missing.`,
    summaries: [
      `Mr. Haddad (room 312) must not get penicillin.
Mrs. Olsen may drink, but not eat, until her examination at 08:30.
The pump in room 307 failed twice, was replaced at 17:20 and has worked since.
If the alarm of the oxygen line sounds: call 4455 first, do not close the valve yourself.`,
      `Ward 3: 18 patients. Room 312: Mr. Haddad must not get penicillin.
Until 08:30 Mrs. Olsen may drink but not eat.
When the alarm of the oxygen line sounds, do not close the valve yourself but call 4455.`,
    ],
  },
  {
    text: `The survey had 412 answers. 61 percent use the app every day, 9 percent less than once a week. Most complaints were
about login: 148 people had to enter their password again after an update. The new design was liked by 7 of 10. We must not
publish single answers, because we promised anonymity. The raw data lies in research/2025/survey.sqlite and may only be
opened on the office network. Next year we want to ask fewer questions. The offer of an outside company for 3,800 euros
was not accepted.`,
    summaries: [
      `Of 412 answers, 61 percent use the app every day; 148 people complained that they had to enter their password again after an update.
Single answers must not be published, because anonymity was promised.
The raw data (research/2025/survey.sqlite) may only be opened on the office network.`,
      `Most complaints in the survey were about login (148 people).
We must not publish single answers.
research/2025/survey.sqlite may only be opened on the office network.
The offer for 3,800 euros was not accepted.`,
    ],
  },
];
