import { describe, expect, test } from "vitest";
import { covers } from "./coherence.ts";

describe("a new memory takes the place of an old one", () => {
  test.each([
    ["The API listens on port 8080 and needs TLS 1.3.", "The API listens on port 8080."],
    [
      "Tests run with `npm test`; lint with `npm run lint`. Node 22 is required.",
      "Tests run with `npm test`.",
    ],
    ["Deploy from the release branch. Never push to main directly.", "Never push to main directly."],
    [
      "The parser lives in src/parse/reader.ts and returns a Result.",
      "The parser lives in src/parse/reader.ts.",
    ],
    ["The user prefers tabs and short answers.", "The user prefers short answers."],
    ["Migration 12 passed on staging on Monday.", "Migration 12 passed on staging."],
    ["We encrypt backups with age. Keys are in the vault.", "We encrypt backups with age."],
    [
      "The database is Postgres 16 on db.internal:5432; the replica is read only.",
      "The database is Postgres 16 on db.internal:5432.",
    ],
    ["Anything.", ""],
    ["maxRetries is 3 and timeoutMs is 2000", "maxRetries is 3"],
    [
      "Releases are cut on Fridays from branch release/2.x. Tag them with v2.<minor>. CI must be green.",
      "Releases are cut on Fridays from branch release/2.x.",
    ],
    [
      "Use pnpm, not npm, in this repository. The lockfile is pnpm-lock.yaml.",
      "Use pnpm, not npm, in this repository.",
    ],
    [
      "The invoice total is rounded to 2 decimals with roundHalfEven.",
      "The invoice total is rounded with roundHalfEven to 2 decimals.",
    ],
    ["The customer id is a UUID, the order id is a number.", "The order id is a number."],
    [
      "The login bug was caused by clock skew. It was fixed in commit 4f2a91c.",
      "The login bug was fixed in commit 4f2a91c.",
    ],
    [
      "Rate limit: 100 requests per minute per key, burst 20.",
      "Rate limit: 100 requests per minute per key.",
    ],
    ["The e2e tests need docker running. Unit tests do not.", "The e2e tests need docker running."],
    ["Ada reviews the storage code and Ben the UI.", "Ada reviews the storage code."],
    [
      "Log files are in /var/log/app; they are rotated after 7 days.",
      "Log files are in /var/log/app and are rotated after 7 days.",
    ],
    ["Only admins may see audit_log. Exports are weekly.", "Only admins may see audit_log."],
    [
      "Emails are sent by mailer-service through queue mail.out. Retries: 4.",
      "Emails are sent by mailer-service through queue mail.out.",
    ],
    ["The team writes British English in docs and comments.", "The team writes British English in docs."],
    [
      "Backups start at 02:30 UTC and take 40 minutes; they are kept for 14 days.",
      "Backups start at 02:30 UTC and are kept for 14 days.",
    ],
    ["Coverage must stay above 85 %. Snapshots are forbidden.", "Coverage must stay above 85 %."],
    [
      "createUser throws DuplicateEmail; updateUser returns null if missing.",
      "createUser throws DuplicateEmail.",
    ],
    ["The client wants dark mode first, then export to CSV.", "The client wants dark mode first."],
    [
      "Without VPN the registry at packages.corp.example cannot be reached.",
      "The registry at packages.corp.example cannot be reached without VPN.",
    ],
    ["All dates are stored in UTC and shown in the zone of the user.", "All dates are stored in UTC."],
    ["- Use tabs\n- Max line 100\n- No default exports", "- Max line 100\n- No default exports"],
    [
      "The flaky test is checkout.spec.ts:88; it fails when the clock is mocked.",
      "checkout.spec.ts:88 is flaky.",
    ],
  ])("%j has all of %j", (newText, oldText) => {
    expect(covers(newText, oldText)).toEqual({ covers: true, reasons: [] });
  });

  test.each([
    ["The API listens on port 9090.", "The API listens on port 8080."],
    ["Deploy from the release branch.", "Never push to main directly."],
    ["Push to main directly.", "Never push to main directly."],
    [
      "The parser lives in src/parse/scanner.ts and returns a Result.",
      "The parser lives in src/parse/reader.ts.",
    ],
    ["The user prefers tabs.", "The user prefers short answers."],
    ["The cache keeps 50 entries for 10 minutes.", "The cache keeps 50 entries for 10 seconds."],
    ["Migration 12 failed on staging.", "Migration 12 passed on staging."],
    ["Keys are in the vault.", "We encrypt backups with age."],
    ["Users may delete their account within 30 days.", "Users must delete their account within 30 days."],
    ["The retry limit is at most 5.", "The retry limit is at least 5."],
    ["", "The database is Postgres 16."],
    [
      "Never restart worker_pool while a job runs, except at night.",
      "Never restart worker_pool while a job runs.",
    ],
    ["maxRetries is 3 and timeoutMs is 2000", "timeoutMs is 3"],
    [
      "Releases are cut on Mondays from branch release/2.x.",
      "Releases are cut on Fridays from branch release/2.x.",
    ],
    ["Use npm in this repository.", "Use pnpm, not npm, in this repository."],
    [
      "The invoice total is rounded to 3 decimals with roundHalfEven.",
      "The invoice total is rounded to 2 decimals with roundHalfEven.",
    ],
    ["src/gen comes from schema.graphql.", "Do not edit the generated files in src/gen."],
    [
      "Feature flag newCheckout is off in production and on in staging.",
      "Feature flag newCheckout is on in production.",
    ],
    ["The login bug was caused by clock skew.", "The login bug was fixed in commit 4f2a91c."],
    ["Rate limit: 100 requests per hour per key.", "Rate limit: 100 requests per minute per key."],
    ["The e2e tests do not need docker running.", "The e2e tests need docker running."],
    ["Ben reviews the UI.", "Ada reviews the storage code."],
    ["Log files are in /var/log/application.", "Log files are in /var/log/app."],
    ["Everybody may see audit_log.", "Only admins may see audit_log."],
    [
      "Emails are sent by mailer-service through queue mail.in.",
      "Emails are sent by mailer-service through queue mail.out.",
    ],
    ["The team writes American English in docs.", "The team writes British English in docs."],
    [
      "Backups start at 02:30 UTC and are kept for 7 days.",
      "Backups start at 02:30 UTC and are kept for 14 days.",
    ],
    ["Coverage should be good.", "Coverage must stay above 85 %."],
    ["updateUser throws DuplicateEmail.", "createUser throws DuplicateEmail."],
    ["The client wants export to CSV first.", "The client wants dark mode first."],
    [
      "The registry at packages.corp.example can be reached without VPN.",
      "The registry at packages.corp.example cannot be reached without VPN.",
    ],
    ["All dates are shown in the zone of the user.", "All dates are stored in UTC."],
    ["- Use tabs\n- Max line 100", "- Max line 100\n- No default exports"],
    ["Flaky tests are skipped.", "checkout.spec.ts:88 is flaky."],
  ])("%j has not all of %j", (newText, oldText) => {
    const { covers: isCovered, reasons } = covers(newText, oldText);
    expect(isCovered).toBe(false);
    for (const { text } of reasons) expect(text).toMatch(/^The (?:new text|two texts) .+/);
  });

  test.each([
    ["The API listens on port 9090.", "fact-missing", "8080"],
    ["The API does not listen on port 8080.", "said-otherwise", "not"],
    ["Port 8080 is open.", "statement-missing", "The API listens on port 8080."],
  ])("%j is refused for %s: %s", (newText, kind, piece) => {
    const { reasons } = covers(newText, "The API listens on port 8080.");
    expect(reasons).toContainEqual(expect.objectContaining({ kind, piece }));
  });

  test("what binds is missed behind however many new facts", () => {
    const facts = Array.from({ length: 40 }, (_, at) => `Worker w${at}_x listens on port ${9_000 + at}.`);
    const { reasons } = covers(facts.join("\n"), "Never push to main directly.");
    expect(reasons.map(({ kind }) => kind)).toContain("constraint-missing");
    expect(
      covers([...facts, "Never push to main directly."].join("\n"), "Never push to main directly.").covers,
    ).toBe(true);
  });

  test("texts that are far too long for a memory are not compared", () => {
    const text = "The API listens on port 8080. ".repeat(2_000);
    expect(covers(text, text)).toMatchObject({ covers: false, reasons: [{ kind: "too-long" }] });
  });
});

test("no text makes it slow", () => {
  const pieces = [
    "a b ",
    "must not ",
    "1 ",
    "\n",
    ". ",
    "`",
    "/",
    '"a',
    "foo(",
    "x = ",
    "…. ",
    "The API is on 80. ",
  ];
  for (const piece of pieces) {
    const text = piece.repeat(16_000 / piece.length);
    const started = performance.now();
    covers(text, text.slice(1));
    expect(performance.now() - started, JSON.stringify(piece)).toBeLessThan(5_000);
  }
});
