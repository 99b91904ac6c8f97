import { describe, expect, test } from "vitest";
import { contradictions, restates } from "./restate.ts";

describe("an answer", () => {
  test.each([
    ["I checked: the API listens on port 9090.", "The API listens on port 8080."],
    ["The API does not listen on port 8080 any more.", "The API listens on port 8080."],
    ["The nightly build passed on staging.", "The nightly build failed on staging."],
    ["The parser lives in src/parse/scanner.ts.", "The parser lives in src/parse/reader.ts."],
    ["You may push to main directly.", "Never push to main directly."],
    ["The cache keeps entries for 10 minutes.", "The cache keeps entries for 10 seconds."],
    ["The cache keeps 80 entries.", "The cache keeps 50 entries."],
    ["The retry limit is at least 5.", "The retry limit is at most 5."],
    ["It turns out that releases are cut on branch release/3.x.", "Releases are cut on branch release/2.x."],
    ["The rate limit is 200 requests per minute.", "The rate limit is 100 requests per minute."],
    ["The rate limit is 100 requests per second.", "The rate limit is 100 requests per minute."],
    ["The e2e tests no longer need docker running.", "The e2e tests need docker running."],
    [
      "The generated files in src/gen may be edited by hand.",
      "Do not edit the generated files in src/gen by hand.",
    ],
    ["Migration 14 failed on production, as the table was locked.", "Migration 14 passed on production."],
    ["The config is now read from config/app.toml.", "The config is read from config/app.yaml."],
    ["Sessions expire after 45 minutes.", "Sessions expire after 30 minutes."],
    ["Backups start at 03:30 UTC.", "Backups start at 02:30 UTC."],
    ["Backups are kept for 7 days.", "Backups are kept for 14 days."],
    ["The registry can now be reached without VPN.", "The registry cannot be reached without VPN."],
    ["Dates are not stored in UTC but in local time.", "All dates are stored in UTC."],
    ["Coverage must stay above 90 %.", "Coverage must stay above 85 %."],
    [
      "Emails are sent by mailer-service through queue mail.in.",
      "Emails are sent by mailer-service through queue mail.out.",
    ],
    ["The worker restarts after 5 failures.", "The worker restarts after 3 failures."],
  ])("%j says otherwise than %j", (answer, memory) => {
    const [first] = contradictions(answer, memory);
    expect(first).toMatchObject({ kind: "said-otherwise" });
    expect(restates(answer, memory)).toBe(false);
  });

  test.each([
    ["The API listens on port 8080, as you know.", "The API listens on port 8080."],
    ["If the API listened on port 9090, nothing would break.", "The API listens on port 8080."],
    ["Does the API listen on port 9090?", "The API listens on port 8080."],
    ["The build passed.", "The build failed on staging."],
    ["The lexer lives in src/parse/scanner.ts.", "The parser lives in src/parse/reader.ts."],
    ["I will not push to main directly.", "Never push to main directly."],
    ["I read 80 files and changed 3 of them.", "The cache keeps 50 entries."],
    ["The session cache was cleared, and 12 tests were added.", "The session cache has 40 tests."],
    ["The user prefers long answers.", "The user prefers short answers."],
    ["Let me look at the port of the API.", "The API listens on port 8080."],
    ["The test server listens on port 9090 while the API stays on 8080.", "The API listens on port 8080."],
    [
      "Releases are cut on branch release/2.x, so I will branch from there.",
      "Releases are cut on branch release/2.x.",
    ],
    ["The upload limit is 20 MB.", "The rate limit is 100 requests per minute."],
    ["The unit tests do not need docker running.", "The e2e tests need docker running."],
    ["I ran the e2e tests; docker was running.", "The e2e tests need docker running."],
    [
      "I did not edit the generated files in src/gen by hand.",
      "Do not edit the generated files in src/gen by hand.",
    ],
    ["What if the rate limit were 200 requests per minute?", "The rate limit is 100 requests per minute."],
    ["The premium rate limit is 200 requests per minute.", "The rate limit is 100 requests per minute."],
    ["Migration 15 failed on production.", "Migration 14 passed on production."],
    ["The config is read from config/app.yaml at start.", "The config is read from config/app.yaml."],
    ["Let me check where the config is read from.", "The config is read from config/app.yaml."],
    ["I waited 45 minutes for the session to expire.", "Sessions expire after 30 minutes."],
    ["I kept the backups in place for 7 days of logs.", "Backups are kept for 14 days."],
    ["createUser throws DuplicateEmail when the address exists.", "createUser throws DuplicateEmail."],
    ["All dates are stored in UTC, I verified it in the schema.", "All dates are stored in UTC."],
    ["Coverage is at 91 % now.", "Coverage must stay above 85 %."],
    ["Perhaps coverage must stay above 90 %.", "Coverage must stay above 85 %."],
    [
      "Text messages are sent by sms-service through queue sms.out.",
      "Emails are sent by mailer-service through queue mail.out.",
    ],
    ["I added a test that sends 3 emails through the queue.", "Emails are sent through 2 queues."],
    ["After 5 failures I restarted the worker by hand.", "The worker restarts after 3 failures."],
    ["The backup worker restarts after 5 failures.", "The worker restarts after 3 failures."],
    ["```\nretries = 5\n```", "retries is 3"],
    [
      "No problem, I can retrieve the reservation by user ID.",
      "No problem, I can retrieve the reservation by user ID.",
    ],
  ])("%j does not deny %j", (answer, memory) => {
    expect(contradictions(answer, memory)).toEqual([]);
  });

  test.each([
    ["As noted, the API listens on port 8080, so I will use it.", "The API listens on port 8080."],
    ["I must never push to main directly, so I open a branch.", "Never push to main directly."],
    [
      "The parser lives in src/parse/reader.ts.\nNode 22 is required.",
      "The parser lives in src/parse/reader.ts. Node 22 is required.",
    ],
    [
      "Since releases are cut on branch release/2.x, I created the fix there.",
      "Releases are cut on branch release/2.x.",
    ],
    ["The e2e tests need docker running, so I start it first.", "The e2e tests need docker running."],
    ["Sessions expire after 30 minutes.", "Sessions expire after 30 minutes."],
    [
      "Generated files in src/gen must not be edited by hand; I changed the schema.",
      "Do not edit the generated files in src/gen by hand.",
    ],
    ["Because all dates are stored in UTC, I convert them in the view.", "All dates are stored in UTC."],
    [
      "Backups start at 02:30 UTC and are kept for 14 days, so there is room.",
      "Backups start at 02:30 UTC and are kept for 14 days.",
    ],
    [
      "The registry cannot be reached without VPN, so I skipped it.",
      "The registry cannot be reached without VPN.",
    ],
    ["createUser throws DuplicateEmail.", "createUser throws DuplicateEmail."],
  ])("%j says %j again", (answer, memory) => {
    expect(restates(answer, memory)).toBe(true);
    expect(contradictions(answer, memory)).toEqual([]);
  });

  test.each([
    ["The API listens on a port.", "The API listens on port 8080."],
    ["The API listens on port 9090.", "The API listens on port 8080."],
    ["I push to main directly.", "Never push to main directly."],
    [
      "The parser lives in src/parse/reader.ts.",
      "The parser lives in src/parse/reader.ts. Node 22 is required.",
    ],
    ["Done.", "The user prefers short answers."],
    ["Done.", ""],
    ["I created the fix on release/2.x.", "Releases are cut on branch release/2.x."],
    ["Sessions expire.", "Sessions expire after 30 minutes."],
    ["Would sessions expire after 30 minutes?", "Sessions expire after 30 minutes."],
    [
      "I edited the generated files in src/gen by hand.",
      "Do not edit the generated files in src/gen by hand.",
    ],
    ["I convert dates in the view.", "All dates are stored in UTC."],
    [
      "Backups start at 02:30 UTC. They are kept for 14 days.",
      "Backups start at 02:30 UTC and are kept for 14 days.",
    ],
    ["The registry was reached.", "The registry cannot be reached without VPN."],
    ["updateUser throws DuplicateEmail.", "createUser throws DuplicateEmail."],
  ])("%j does not say %j again", (answer, memory) => {
    expect(restates(answer, memory)).toBe(false);
  });

  test("names what it says otherwise", () => {
    const [first] = contradictions(
      "I looked it up, and sessions expire after 45 minutes.",
      "Sessions expire after 30 minutes.",
    );
    expect(first).toMatchObject({ piece: "45", text: 'The two texts differ in "45".' });
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
    ", and ",
    "The API is on 80. ",
  ];
  for (const piece of pieces) {
    const text = piece.repeat(100_000 / piece.length);
    const started = performance.now();
    contradictions(text, text.slice(0, 8_000));
    restates(text, text.slice(0, 8_000));
    expect(performance.now() - started, JSON.stringify(piece)).toBeLessThan(5_000);
  }
});
