import type { OtherRecorded, OtherText } from "./acceptance-others.ts";

/** Written when the first half was used up; all of these were used to change the rules. */
export const moreOwn: readonly OtherText[] = [
  {
    text: `Hi, quick request. Add rate limiting to the public API: 120 requests per minute and key, and 20 for anonymous callers. Return 429 with a
Retry-After header. The counters must live in Redis, not in memory, because we run four instances. Do not limit the endpoints under
/internal. The limits should be configurable in config/limits.toml. I don't want a new dependency for this. There is a load test in
bench/api.js; after the change p99 must stay under 80 ms. Please leave the auth middleware alone.`,
    cases: [
      {
        faithful: `The user wants rate limiting on the public API (120 requests/minute per key, 20 for anonymous callers; 429 plus Retry-After). Counters belong in Redis because there are four instances. /internal endpoints are exempt, limits come from config/limits.toml, no new dependency may be added and the auth middleware is not to be changed. p99 in bench/api.js has to remain below 80 ms.`,
        damaged: [
          ["number changed", "120 requests", "210 requests"],
          ["negation lost", "no new dependency may be added", "a new dependency may be added"],
          ["constraint changed", "below 80 ms", "above 80 ms"],
        ],
      },
      {
        faithful: `Rate limits for the API: 120 a minute per key, 20 if anonymous, answered by 429. Keep the counts in Redis, never in memory. Skip /internal. p99 < 80 ms. Don't touch auth middleware, don't add dependencies.`,
        damaged: [
          ["negation lost", "never in memory", "or in memory"],
          ["path changed", "/internal", "/external"],
        ],
      },
    ],
  },
  {
    text: `The rollout of the new pricing page went badly. Conversion dropped from 4.1 % to 2.7 % within two days, and support got 94 tickets, mostly
because the yearly price was shown without tax. We switched the flag pricing_v2 off on Thursday at 16:40. Lena found that the tax service
answered with an empty list for 11 countries, which the page treated as zero. The fix is ready in pull request 2218 but has not been
reviewed. We will try again no earlier than 12 May, and only for 5 % of the visitors. Nobody should turn the flag on before that.`,
    cases: [
      {
        faithful: `After the pricing page launch conversion fell from 4.1 % to 2.7 % and 94 tickets came in, since yearly prices lacked tax. pricing_v2 was turned off (Thursday, 16:40). Root cause: an empty list from the tax service for 11 countries was taken as zero. PR 2218 fixes it and still needs a review. Next attempt not before 12 May, limited to 5 % of visitors; until then the flag must stay off.`,
        damaged: [
          ["number changed", "11 countries", "17 countries"],
          ["number of something else", "from 4.1 % to 2.7 %", "from 2.7 % to 4.1 %"],
          ["constraint changed", "the flag must stay off", "the flag may be on"],
        ],
      },
      {
        faithful: `pricing_v2 is off again. The tax service returned nothing for 11 countries and the page showed prices without tax; 94 people complained. The fix (2218) is unreviewed. Do not enable the flag before 12 May, then for only 5 % of visitors.`,
        damaged: [
          ["negation lost", "Do not enable", "Enable"],
          ["number changed", "12 May", "2 May"],
        ],
      },
    ],
  },
  {
    text: `terraform plan
  # aws_db_instance.main will be updated in-place
  ~ resource "aws_db_instance" "main" {
      ~ allocated_storage = 200 -> 400
      ~ instance_class    = "db.r6g.large" -> "db.r6g.xlarge"
        deletion_protection = true
    }
  # aws_security_group_rule.legacy will be destroyed
  - resource "aws_security_group_rule" "legacy" {
      - from_port = 5432
      - cidr_blocks = ["10.0.0.0/8"]
    }
Plan: 0 to add, 1 to change, 1 to destroy.
Warning: Argument is deprecated: use vpc_security_group_ids instead (network.tf:31)`,
    cases: [
      {
        faithful: `The plan changes one resource and destroys one; nothing is added. aws_db_instance.main grows from 200 to 400 GB of storage and from db.r6g.large to db.r6g.xlarge; deletion protection stays on. aws_security_group_rule.legacy (port 5432, 10.0.0.0/8) goes away. network.tf:31 uses a deprecated argument.`,
        damaged: [
          ["number of something else", "from 200 to 400", "from 400 to 200"],
          ["name changed", "db.r6g.xlarge", "db.r6g.2xlarge"],
          ["number changed", "port 5432", "port 5423"],
        ],
      },
      {
        faithful: `Terraform: 0 added, 1 changed (database storage 200 → 400, class db.r6g.xlarge), 1 destroyed (the legacy security group rule).`,
        damaged: [
          ["number changed", "1 destroyed", "2 destroyed"],
          ["name changed", "db.r6g.xlarge", "db.r6g.large"],
        ],
      },
    ],
  },
  {
    text: `{"run": 8812, "status": "failed", "branch": "feat/export", "jobs": [
 {"name": "lint", "conclusion": "success", "seconds": 41},
 {"name": "unit", "conclusion": "success", "seconds": 188, "tests": 1204},
 {"name": "e2e", "conclusion": "failure", "seconds": 612, "failed": ["export.large.spec.ts", "export.resume.spec.ts"], "artifact": "e2e-traces-8812.zip"},
 {"name": "deploy", "conclusion": "skipped", "seconds": 0}],
 "actor": "hkim", "attempt": 2}`,
    cases: [
      {
        faithful: `Run 8812 on feat/export (attempt 2, started by hkim) failed: lint and unit (1204 tests) succeeded, e2e failed after 612 seconds in export.large.spec.ts and export.resume.spec.ts, and deploy was therefore skipped. Traces are in e2e-traces-8812.zip.`,
        damaged: [
          ["outcome turned", "e2e failed after", "e2e succeeded after"],
          ["number changed", "612 seconds", "621 seconds"],
          ["path changed", "export.resume.spec.ts", "export.cancel.spec.ts"],
        ],
      },
      {
        faithful: `CI: lint ok (41 s), unit ok (188 s), e2e red with 2 failing specs, no deployment. Branch feat/export, second attempt.`,
        damaged: [
          ["number of something else", "lint ok (41 s), unit ok (188 s)", "lint ok (188 s), unit ok (41 s)"],
          ["name changed", "feat/export", "feat/import"],
        ],
      },
    ],
  },
  {
    text: `Please remember how releases work here. We use trunk based development; branches live for two days at most. Feature flags go into
flags.yaml with an owner and an expiry date. Every Tuesday at 09:00 the train leaves, whatever is on main goes out. Hotfixes may go out at
any time except during the freeze from 15 December to 6 January. Database changes must be backwards compatible by one version. Never
delete a column in the release that stops using it. Rollbacks are done with deploy --to <previous>, not by reverting commits.`,
    cases: [
      {
        faithful: `Releases leave from main each Tuesday at 09:00. Branches must not live longer than two days. Flags need an owner and expiry date in flags.yaml. Hotfixes are possible anytime but not in the freeze (15 December to 6 January). Migrations have to stay backwards compatible for one version, and a column must not be deleted in the same release that stops using it. To roll back, use deploy --to <previous> instead of reverting.`,
        damaged: [
          ["negation lost", "must not be deleted", "must be deleted"],
          ["number changed", "09:00", "19:00"],
          ["constraint changed", "must not live longer than two days", "must live longer than two days"],
        ],
      },
      {
        faithful: `- trunk based, branches at most two days
- release train: Tuesday 09:00, everything on main
- freeze 15 December - 6 January: no hotfixes
- DB changes backwards compatible by one version; never drop a column in the release that stops using it
- roll back by deploy --to, don't revert commits`,
        damaged: [
          ["negation lost", "don't revert commits", "revert commits"],
          ["negation lost", "never drop", "always drop"],
        ],
      },
    ],
  },
  {
    text: `I investigated why the nightly report is late. The query itself takes 3 minutes, as before. What changed is the upload: since the move to
the new bucket every file is sent with a checksum that is computed twice, once by us in report/upload.py and once by the SDK. With 1,800
files that costs 22 minutes. I removed our own checksum, because the SDK verifies it anyway, and the job now ends at 03:25 instead of
03:47. I also noticed that old reports are never deleted; there are 96 GB of them. I have not touched those. Retention is for the
finance team to decide.`,
    cases: [
      {
        faithful: `The report was late because checksums were computed twice during upload (in report/upload.py and by the SDK), costing 22 minutes for 1,800 files. Our own computation was dropped and the job finishes at 03:25 now rather than 03:47. Old reports (96 GB) aren't deleted; that was left alone, finance decides about retention.`,
        damaged: [
          [
            "number of something else",
            "finishes at 03:25 now rather than 03:47",
            "finishes at 03:47 now rather than 03:25",
          ],
          ["negation lost", "aren't deleted", "are deleted"],
          ["number changed", "22 minutes", "32 minutes"],
        ],
      },
      {
        faithful: `Cause of the delay: a duplicate checksum on upload, not the query (still 3 minutes). Fixed by removing ours in report/upload.py. 96 GB of old reports remain untouched.`,
        damaged: [
          ["path changed", "report/upload.py", "report/query.py"],
          ["number changed", "96 GB", "69 GB"],
        ],
      },
    ],
  },
  {
    text: `src/ledger/post.ts:118:7 - error TS2345: Argument of type 'number' is not assignable to parameter of type 'Cents'.
118       credit(account, total);
src/ledger/post.ts:131:22 - error TS2345: Argument of type 'number' is not assignable to parameter of type 'Cents'.
src/ledger/close.ts:19:3 - error TS6133: 'now' is declared but its value is never read.
src/api/routes.ts:204:15 - error TS2554: Expected 3 arguments, but got 2.

Found 4 errors in 3 files.

Errors  Files
     2  src/ledger/post.ts:118
     1  src/ledger/close.ts:19
     1  src/api/routes.ts:204`,
    cases: [
      {
        faithful: `TypeScript reports 4 errors in 3 files: post.ts passes a number where Cents is required (lines 118 and 131, TS2345), close.ts line 19 has an unused 'now' (TS6133), and routes.ts line 204 passes 2 arguments instead of 3 (TS2554).`,
        damaged: [
          ["number of something else", "2 arguments instead of 3", "3 arguments instead of 2"],
          ["number changed", "line 204", "line 240"],
          ["name changed", "TS6133", "TS6131"],
        ],
      },
      {
        faithful: `Compile errors: src/ledger/post.ts:118 and :131 (number is not assignable to Cents), src/ledger/close.ts:19 (unused variable), src/api/routes.ts:204 (one argument missing).`,
        damaged: [
          ["negation lost", "is not assignable", "is assignable"],
          ["path changed", "src/ledger/close.ts:19", "src/ledger/open.ts:19"],
        ],
      },
    ],
  },
  {
    text: `The school trip goes to the coast from 8 to 11 June. 27 pupils have signed up, the bus has 32 seats. It costs 185 euros per child; families
who cannot pay may ask the support fund before 2 May. Phones stay at home, one per room is kept by the teachers for emergencies. Leo must
not eat nuts, and Mira needs her inhaler with her at all times. Swimming is only allowed when a lifeguard is present. The hostel does not
provide towels. If the weather is bad we visit the aquarium, which is not included in the price.`,
    cases: [
      {
        faithful: `Trip to the coast, 8 to 11 June, 185 euros per child (help from the support fund has to be requested before 2 May); 27 of 32 bus seats are taken. Children leave their phones at home. Leo isn't allowed nuts; Mira always needs her inhaler. They may swim only with a lifeguard there. Towels have to be brought. The aquarium, for bad weather, costs extra.`,
        damaged: [
          ["number changed", "185 euros", "158 euros"],
          ["negation lost", "Leo isn't allowed nuts", "Leo is allowed nuts"],
          ["constraint changed", "only with a lifeguard there", "even without a lifeguard there"],
        ],
      },
      {
        faithful: `8-11 June, coast. No nuts for Leo, inhaler for Mira at all times. No swimming without a lifeguard. No phones. Bring towels, the hostel has none. Price: 185 euros.`,
        damaged: [
          ["negation lost", "No nuts for Leo", "Nuts for Leo"],
          ["negation lost", "No swimming without a lifeguard", "Swimming without a lifeguard"],
        ],
      },
    ],
  },
];

export const moreRecorded: readonly OtherRecorded[] = [
  {
    session: "cc-entire-cli-05",
    starts: "## Review Summary\n\n**Verdict: APPROVE**\n\nAll three requested fixes",
    cases: [
      {
        faithful: `Approved. Line 78 now uses require.Falsef instead of assert.False, scenario 4 (lines 129-150) got clearer names, checkpointAB and checkpointCD, and the content-aware overlap test asserts that no checkpoint IDs exist (lines 475-476). Nothing remains to be changed, linting passes. The review is in review-03.md.`,
        damaged: [
          [
            "name of something else",
            "require.Falsef instead of assert.False",
            "assert.False instead of require.Falsef",
          ],
          ["outcome turned", "linting passes", "linting fails"],
          ["number changed", "Line 78", "Line 87"],
        ],
      },
      {
        faithful: `Verdict: APPROVE, all three fixes are right and no changes are required. Helper methods such as GitStash() and GetCommitCount() are implemented correctly.`,
        damaged: [
          ["negation lost", "no changes are required", "changes are required"],
          ["name changed", "GetCommitCount()", "GetBranchCount()"],
        ],
      },
    ],
  },
  {
    session: "cc-entire-cli-06",
    starts: "     1→#!/usr/bin/env bash\n     2→# Wrapper script for Entire CLI hooks",
    cases: [
      {
        faithful: `entire-wrapper.sh runs the entire binary from PATH unless ENTIRE_LOCAL_DEV is 1, in which case it executes go run on cmd/entire/main.go. It sources .env from the project root if there is one, with set -euo pipefail active. The project directory is CLAUDE_PROJECT_DIR or derived from the script's location.`,
        damaged: [
          ["name changed", "CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR"],
          ["path changed", "cmd/entire/main.go", "cmd/entire/root.go"],
        ],
      },
      {
        faithful: `A bash wrapper for the hooks: ENTIRE_LOCAL_DEV=1 (from the shell profile or .env) selects "go run", otherwise the installed entire is used.`,
        damaged: [
          ["number changed", "ENTIRE_LOCAL_DEV=1", "ENTIRE_LOCAL_DEV=3"],
          ["name changed", "ENTIRE_LOCAL_DEV", "ENTIRE_REMOTE_DEV"],
        ],
      },
    ],
  },
  {
    session: "opencode-prsui-01",
    starts:
      '[\n  {\n    "content": "Update registry/new-york/text-highlight.tsx with Highlighter component",\n    "status": "in_progress"',
    cases: [
      {
        faithful: `Todo list: updating registry/new-york/text-highlight.tsx with the Highlighter component is in progress; still pending are public/r/text-highlight.json and registry.json (rough-notation dependency), both high priority, and the docs and demo files (medium).`,
        damaged: [
          ["path changed", "public/r/text-highlight.json", "public/r/text-underline.json"],
          ["name changed", "rough-notation", "rough-annotation"],
        ],
      },
      {
        faithful: `5 todos, one in progress (text-highlight.tsx) and four pending. Three have high priority, two medium.`,
        damaged: [["number changed", "5 todos", "8 todos"]],
      },
    ],
  },
  {
    session: "tau-airline-01",
    starts: '[{"flight_number": "HAT017", "origin": "MCO", "destination": "BOS"',
    cases: [
      {
        faithful: `Three flights MCO to BOS are available: HAT017 (10:00-13:30, business 426, 14 seats), HAT028 (05:00-08:30, business 274, 3 seats) and HAT217 (13:00-16:30, business 253, 12 seats).`,
        damaged: [
          [
            "number of something else",
            "HAT017 (10:00-13:30, business 426, 14 seats), HAT028 (05:00-08:30, business 274, 3 seats)",
            "HAT017 (10:00-13:30, business 274, 14 seats), HAT028 (05:00-08:30, business 426, 3 seats)",
          ],
          ["number changed", "253", "235"],
        ],
      },
      {
        faithful: `The cheapest business seat from MCO to BOS is on HAT217 for 253; economy there costs 121. HAT028 leaves at 05:00.`,
        damaged: [
          ["name changed", "HAT217", "HAT271"],
          ["number changed", "05:00", "06:00"],
        ],
      },
    ],
  },
];
