import { describe, expect, test } from "vitest";
import { judge } from "./acceptance.ts";

const original = `The backup job copies /srv/data/orders to the vault every night at 03:00 and keeps 14 copies.
It took 25 minutes last night. The copy of invoices failed because the token vault_writer had expired.
Do not delete a copy by hand. The job must never run while the import is active, except on Sundays.
Only the operations team may change backup.config.json. Each copy may have at most 40 GB.
We decided to encrypt the copies with age instead of gpg, because gpg needs 3 times as long.`;

const binding = `Do not delete a copy by hand.
The job must never run while the import is active, except on Sundays.
Only the operations team may change backup.config.json.`;

describe("what is faithful is accepted", () => {
  test.each([
    ["the whole", original],
    ["a part of it, word by word", binding],
    ["another order", binding.split("\n").reverse().join("\n")],
    ["other words", binding.replace("Do not delete a copy by hand", "A copy must not be deleted by hand")],
    ["a detail left out", `${binding}\nThe backup job copies /srv/data/orders every night.`],
    ["a path by its end", `${binding}\nThe backup job copies data/orders to the vault.`],
    ["two statements in one", `${binding}\nThe copy of invoices failed, and last night it took 25 minutes.`],
    [
      "a choice that is none",
      binding.replace("Do not delete a copy by hand", "No copy may be deleted by hand"),
    ],
    ["facts of several statements", `${binding}\nBackup of /srv/data/orders: 14 copies, at most 40 GB each.`],
    ["a number in letters", `${binding}\nWe chose age instead of gpg, which needs three times as long.`],
  ])("%s", (_name, summary) => {
    expect(judge(original, summary)).toEqual({ accepted: true, reasons: [] });
  });

  test("nothing can be said about nothing", () => {
    expect(judge("", "")).toEqual({ accepted: true, reasons: [] });
    expect(judge("", "There are 3 of them.").accepted).toBe(false);
  });
});

describe("what is not is refused, and it is said why", () => {
  test.each([
    ["a number that is not there", "It took 35 minutes last night.", "invented-number", "35"],
    ["a number of something else", "It took 14 last night.", "fact-elsewhere", "14"],
    ["a number lost", "It took minutes last night.", "fact-lost", "25"],
    ["another unit", "It took 25 hours last night.", "unit-changed", "25"],
    [
      "a path that is not there",
      "The backup job copies /srv/data/order to the vault.",
      "invented-name",
      "/srv/data/order",
    ],
    ["a name that is not there", "The token vault_reader had expired.", "invented-name", "vault_reader"],
    [
      "a name of something else",
      "The token backup.config.json had expired.",
      "fact-elsewhere",
      "backup.config.json",
    ],
    [
      "a quotation that is not there",
      'The job said "all copies are fine".',
      "invented-quote",
      "all copies are fine",
    ],
    [
      "a number said twice",
      "The backup job keeps 14 copies of /srv/data/orders, 14 GB each.",
      "fact-elsewhere",
      "14",
    ],
    [
      "a gap where a path stood",
      "The backup job copies to the vault from and keeps 14 copies.",
      "fact-lost",
      "from and",
    ],
    ["an outcome turned", "The copy of invoices passed.", "outcome-turned", "failed"],
    ["a negation added", "We decided not to encrypt the copies with age.", "negation-added", "not"],
    ["a bound turned", "Each copy may have at least 40 GB.", "constraint-lost", "most"],
  ])("%s", (...[, sentence, kind, piece]) => {
    const { accepted, reasons } = judge(original, `${binding}\n${sentence}`);
    expect(accepted).toBe(false);
    expect(reasons).toContainEqual(expect.objectContaining({ kind, piece }));
    for (const { text } of reasons) expect(text).toMatch(/^The .+/);
  });

  test.each([
    ["a negation lost", "Do not delete a copy", "Do delete a copy", "negation-lost"],
    ["an exception lost", ", except on Sundays", " on Sundays", "constraint-lost"],
    ["made a choice", "must never run", "may never run", "constraint-lost"],
    [
      "no longer the only ones",
      "Only the operations team may",
      "The operations team may also",
      "constraint-lost",
    ],
    ["left out altogether", "Do not delete a copy by hand.\n", "", "constraint-missing"],
  ])("what binds: %s", (...[, from = "", to = "", kind]) => {
    const { accepted, reasons } = judge(original, binding.replace(from, to));
    expect(accepted).toBe(false);
    expect(reasons.map((reason) => reason.kind)).toContain(kind);
  });

  test("code is quoted as it is, or not at all", () => {
    const code = "func open() {\n\tif size > limit && !force {\n\t\treturn errTooLarge\n\t}\n}";
    expect(judge(code, "if size > limit && !force {").accepted).toBe(true);
    expect(judge(code, "if size > limit && force {").reasons).toMatchObject([{ kind: "quote-changed" }]);
  });

  test("who never says what it is about is refused", () => {
    const lines = Array.from({ length: 8 }, (_, at) => `readHeader was called for entry ${at}.`).join("\n");
    expect(judge(lines, "Something was called.").reasons).toMatchObject([{ kind: "names-missing" }]);
  });
});

const change = `Nobody may start the migration of a merchant between 23:00 and 04:00.
The upload timed out after 30000 ms. testenv.go:40:26: undefined: openStore
testenv.go:76:14: undefined: openStore
Files over 5 GB are refused. Data must not leave the network. Redis took 41 ms to start. Postgres took 96 ms.
We decided to build with rollup instead of webpack. The fix is in src/a/load.ts and all 19 tests of it passed.`;

describe("what is said in other words", () => {
  test.each([
    ["a negation by another word", "No merchant may be migrated between 23:00 and 04:00."],
    ["a negation by an affirmation", "Data has to stay inside the network."],
    ["the same amount in another unit", "The upload timed out after 30 s."],
    [
      "a number out of a place in a file",
      "testenv.go uses openStore on lines 40 and 76, where it is undefined.",
    ],
    ["a count of what is there", "There are 2 uses of openStore that is undefined."],
    ["a bound from its other side", "Files may have at most 5 GB."],
    ["both of two facts", "Postgres took 96 ms and Redis took 41 ms."],
    ["what everybody knows by its name", "The tests passed on GitHub."],
  ])("is accepted: %s", (_name, sentence) => {
    const rest =
      "Migrations of a merchant must not start between 23:00 and 04:00. Data must not leave the network.";
    expect(judge(change, `${rest}\n${sentence}`)).toEqual({ accepted: true, reasons: [] });
  });

  test.each([
    ["two facts exchanged", "Redis took 96 ms to start. Postgres took 41 ms.", "fact-elsewhere"],
    ["another amount", "The upload timed out after 50 s.", "invented-number"],
    ["another count", "There are 3 uses of openStore that is undefined.", "invented-number"],
    ["two negations", "Data must not never leave the network.", "negation-added"],
    ["a number left out of a copy", "The fix is in src/a/load.ts and all tests of it passed.", "fact-lost"],
    ["a hole", "The fix is in src/a/load.ts (, 19 tests).", "fact-lost"],
  ])("is refused: %s", (_name, sentence, kind) => {
    expect(judge(change, sentence).reasons.map((reason) => reason.kind)).toContain(kind);
  });
});

test("a broken line is one sentence", () => {
  const wrapped =
    "The report is sent to the whole team every Friday, but it must never be sent\nbefore the numbers are checked.";
  expect(judge(wrapped, "The report must never be sent before the numbers are checked.").accepted).toBe(true);
});

test("no text makes it slow", () => {
  const pieces = [
    "a b ",
    "must not ",
    "1 ",
    "\n",
    ". ",
    "a.",
    "`",
    "/",
    "'",
    '"a',
    "foo(",
    "a1-",
    "x = ",
    "…. ",
  ];
  for (const piece of pieces) {
    const text = piece.repeat(40_000 / piece.length);
    const started = performance.now();
    judge(text, text);
    judge(original, text);
    expect(performance.now() - started, JSON.stringify(piece)).toBeLessThan(5_000);
  }
});
