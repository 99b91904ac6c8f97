import type { OtherText } from "./acceptance-others.ts";

/** The last that were written, and used to change the rules. */
export const lastOwn: readonly OtherText[] = [
  {
    text: `Contribution rules. Use conventional commits. Every change to the public API needs an entry in docs/api.md. Tests must not depend on the
network or on the current time. Do not add global state. Logging goes through src/log.ts; console.log is forbidden in src. Files over
500 lines have to be split. We support Node 20 and 22, nothing older. A review takes at most two working days; if it takes longer, ping the
channel. Only maintainers merge. Force pushes to shared branches are prohibited.`,
    cases: [
      {
        faithful: `Commits follow the conventional format; API changes must be documented in docs/api.md. Tests may rely neither on the network nor on the clock. Global state is forbidden, and so is console.log in src (use src/log.ts). Split files longer than 500 lines. Node 20 and 22 are supported. Merging is reserved to maintainers, force pushing shared branches is not allowed.`,
        damaged: [
          ["number changed", "500 lines", "800 lines"],
          ["path changed", "docs/api.md", "docs/cli.md"],
          ["negation lost", "is not allowed", "is allowed"],
        ],
      },
      {
        faithful: `No global state, no console.log in src, no network or time in tests, no force push to shared branches. Max 500 lines per file. Document API changes (docs/api.md). Reviews within two working days, maintainers merge.`,
        damaged: [
          ["negation lost", "no force push to shared branches", "force push to shared branches"],
          ["number changed", "Max 500", "Max 50"],
        ],
      },
    ],
  },
  {
    text: `services:
  api:
    image: images.example.org/api:4.7.2
    replicas: 3
    ports: ["8080:8080"]
    environment:
      LOG_LEVEL: warn
      FEATURE_SEARCH: "false"
    healthcheck: { path: /ready, interval: 15s, retries: 4 }
  worker:
    image: images.example.org/worker:4.7.2
    replicas: 2
    memory: 768M
    restart: on-failure
volumes:
  data: { size: 40Gi, backup: daily }`,
    cases: [
      {
        faithful: `Two services in version 4.7.2: api with three replicas on port 8080 (health check on /ready every 15 s, four retries, log level warn, search feature disabled) and worker with two replicas and 768M of memory, restarted on failure. The data volume is 40Gi with a daily backup.`,
        damaged: [
          ["number changed", "768M", "678M"],
          ["constraint changed", "search feature disabled", "search feature enabled"],
          ["path changed", "/ready", "/healthy"],
        ],
      },
      {
        faithful: `api:4.7.2 runs 3 times, worker:4.7.2 twice. Search is switched off (FEATURE_SEARCH). Volume: 40Gi, backed up daily.`,
        damaged: [
          ["number changed", "40Gi", "400Gi"],
          ["name changed", "FEATURE_SEARCH", "FEATURE_EXPORT"],
        ],
      },
    ],
  },
  {
    text: `[12:03:11] starting migration 0093_split_names on replica set rs1
[12:03:12] 412,908 documents to process
[12:09:40] progress 50 %
[12:14:02] WARN 37 documents have no family name, left as they are
[12:16:33] ERROR duplicate key for _id 66f1c0 in people_new
[12:16:33] aborting, rolling back
[12:17:05] rollback complete, people_new dropped, people untouched
[12:17:05] migration 0093_split_names FAILED after 13m54s`,
    cases: [
      {
        faithful: `Migration 0093_split_names failed after 13m54s with a duplicate key (_id 66f1c0 in people_new) and was rolled back: people_new has been dropped, people wasn't touched. 412,908 documents were to be processed; 37 lack a family name and were left unchanged.`,
        damaged: [
          ["number changed", "412,908", "421,908"],
          ["negation lost", "people wasn't touched", "people was touched"],
          ["outcome turned", "failed after", "succeeded after"],
        ],
      },
      {
        faithful: `0093_split_names aborted at 12:16:33 because of a duplicate key in people_new. The rollback is complete, the collection people is unchanged.`,
        damaged: [
          ["number changed", "12:16:33", "12:19:33"],
          ["name changed", "people_new", "people_old"],
        ],
      },
    ],
  },
  {
    text: `Decision: we keep the monorepo. Splitting it was discussed for the third time. Arguments for a split: CI takes 34 minutes, and the mobile
team does not need the backend code. Arguments against: 61 packages share types, and a change to the schema would need up to five pull
requests. Instead of a split, CI will only build what changed; a first test brought it down to 9 minutes. Samir implements that until
the end of April. The question must not be reopened before January. Nx was considered but not chosen, because it would dictate the layout.`,
    cases: [
      {
        faithful: `The monorepo stays. Rather than splitting it, CI builds changed parts only (9 instead of 34 minutes in a first test); Samir does this by the end of April. Reasons: 61 packages share types and schema changes would take up to five pull requests. Nx was rejected. No reopening of the question before January.`,
        damaged: [
          ["number of something else", "9 instead of 34 minutes", "34 instead of 9 minutes"],
          [
            "negation lost",
            "No reopening of the question before January",
            "Reopening of the question before January",
          ],
          ["number changed", "61 packages", "16 packages"],
        ],
      },
      {
        faithful: `Decided against splitting the repository, since types are shared by 61 packages. CI time should fall from 34 to about 9 minutes by building only what changed. Don't reopen this before January.`,
        damaged: [
          ["negation lost", "Don't reopen", "Reopen"],
          ["number changed", "January", "January 9999"],
        ],
      },
    ],
  },
  {
    text: `diff --git a/src/session/expire.ts b/src/session/expire.ts
@@ -12,7 +12,9 @@ export const defaults = {
-  idleMinutes: 30,
+  idleMinutes: 20,
   absoluteHours: 12,
-  renewOnUse: true,
+  renewOnUse: false,
 };
@@ -40,6 +42,10 @@ export function isExpired(session: Session, now: number): boolean {
+  if (session.revokedAt !== null) return true;
   return now - session.seenAt > session.idleMs;
 }
+// A revoked session must never be renewed, not even by an administrator.`,
    cases: [
      {
        faithful: `src/session/expire.ts: idleMinutes goes from 30 to 20 and renewOnUse from true to false; absoluteHours stays 12. isExpired now returns true for revoked sessions. A comment says that a revoked session must never be renewed, even by an administrator.`,
        damaged: [
          ["number of something else", "from 30 to 20", "from 20 to 30"],
          ["negation lost", "must never be renewed", "must be renewed"],
          ["path changed", "src/session/expire.ts", "src/session/expired.ts"],
        ],
      },
      {
        faithful: `Sessions expire after 20 idle minutes instead of 30, are not renewed on use any more, and count as expired once revoked (isExpired in expire.ts).`,
        damaged: [
          ["number of something else", "20 idle minutes instead of 30", "30 idle minutes instead of 20"],
          ["name changed", "isExpired", "isRevoked"],
        ],
      },
    ],
  },
  {
    text: `Call with the supplier, notes. They can deliver 400 units per week from March, not 600 as promised. The price stays at 12.80 euros as long as
we order at least 5,000 by the end of the quarter. Colour changes need three weeks of notice. Complaints have to be reported within 10
days of delivery, later ones are not accepted. They will not ship on public holidays. Mrs. Brandt asked us not to mention the discount to
other customers. The sample from lot 77 failed the drop test; a new sample comes on 19 February.`,
    cases: [
      {
        faithful: `The supplier delivers 400 units a week from March on (600 had been promised) at 12.80 euros if we order 5,000 or more this quarter. Colour changes: three weeks' notice. Complaints must be made within 10 days after delivery. No shipping on public holidays. The discount is confidential towards other customers. Lot 77 didn't pass the drop test, a new sample arrives on 19 February.`,
        damaged: [
          [
            "number of something else",
            "400 units a week from March on (600 had been promised)",
            "600 units a week from March on (400 had been promised)",
          ],
          ["outcome turned", "didn't pass", "passed"],
          ["number changed", "12.80", "18.20"],
        ],
      },
      {
        faithful: `- 400 per week instead of 600
- 12.80 euros, minimum order 5,000 by the end of the quarter
- report complaints within 10 days, otherwise they're not accepted
- don't tell other customers about the discount
- lot 77 failed; new sample 19 February`,
        damaged: [
          ["constraint changed", "minimum order 5,000", "maximum order 5,000"],
          ["negation lost", "don't tell other customers", "tell other customers"],
        ],
      },
    ],
  },
];
