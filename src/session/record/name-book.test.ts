import { describe, expect, test } from "vitest";
import { blockId, must } from "../../base/index.ts";
import { type AnswerUnit, ingestRequest, readAnswer } from "../../protocols/index.ts";
import { nameTokens } from "../../render/index.ts";
import type { SentReport } from "../exchange.ts";
import { placedUnits } from "./align.ts";
import { NameBook, type NamedRequest } from "./name-book.ts";

const text = (words: string) => ({ type: "text", text: words });
/** Room for names is a share of what is said. */
const filler = " and a good many words about nothing in particular".repeat(400);

type Said = { readonly said: readonly string[]; readonly from?: number; readonly turn?: number };

/** A request of these texts, of which those from `from` on are new. */
function request({ said, from = 0, turn = 1 }: Said, over: Partial<NamedRequest> = {}): NamedRequest {
  const messages = said.map((words, at) => ({ role: at % 2 ? "assistant" : "user", content: [text(words)] }));
  const body = Buffer.from(JSON.stringify({ model: "m", system: "Read system.ts first.", messages }));
  const read = must(ingestRequest(body, null), "it can be read");
  const fresh = placedUnits(read, 0)
    .filter(({ unit }) => unit.section === "messages")
    .slice(from)
    .map((placed) => ({ ...placed, block: null }));
  const known = { turnOf: () => turn, blockOf: () => null };
  return { request: read, sent: sent(), turn, fresh, isNext: true, ...known, ...over };
}

/** What of ours went with it. */
function sent(...lines: readonly string[]): SentReport {
  const fresh = lines.map((line) => ({ origin: "aperture", bytes: Buffer.from(JSON.stringify(text(line))) }));
  return { fresh } as unknown as SentReport;
}

function answer(words: string): readonly AnswerUnit[] {
  return readAnswer(Buffer.from(JSON.stringify({ content: [text(words)] })), "application/json").units;
}

const aBook = () => new NameBook();

describe("names for the next header", () => {
  test("are those that were said, by the user and by the model", () => {
    const book = aBook();
    book.follow(request({ said: [`Look at src/auth.ts${filler}`] }));
    expect(book.forHeader()).toContain("src/auth.ts");
    book.hear(answer("It calls openSession in src/login.ts"), 1, [null]);
    expect(book.forHeader()).toEqual(expect.arrayContaining(["src/auth.ts", "src/login.ts", "openSession"]));
  });

  test("are not those of system texts, which stand in front for good", () => {
    const book = aBook();
    book.follow(request({ said: [`Go on${filler}`] }));
    expect(book.forHeader()).not.toContain("system.ts");
  });

  test("are not told again once they stand in a header", () => {
    const book = aBook();
    book.follow(request({ said: [`Look at src/auth.ts${filler}`] }));
    book.follow(
      request(
        { said: [`Look at src/auth.ts${filler}`, "ok", `And src/login.ts${filler}`], from: 1, turn: 2 },
        { sent: sent("[k7f3 turn 2, 14:05: message 3 #3; names src/auth.ts]") },
      ),
    );
    expect(book.forHeader()).toContain("src/login.ts");
    expect(book.forHeader()).not.toContain("src/auth.ts");
  });

  test("are told again where what looks like a header is none, or not ours", () => {
    const book = aBook();
    const { sent: line } = { sent: sent("[k7f3 turn 2, 14:05] names src/auth.ts", "names src/auth.ts]") };
    book.follow(request({ said: [`Look at src/auth.ts${filler}`] }, { sent: line }));
    const theirs = {
      fresh: [
        {
          origin: "client",
          bytes: Buffer.from(JSON.stringify(text("[k7f3 turn 2, 14:05; names src/auth.ts]"))),
        },
      ],
    };
    book.follow(
      request({ said: [`Look at src/auth.ts${filler}`], from: 1 }, { sent: theirs as unknown as SentReport }),
    );
    expect(book.forHeader()).toContain("src/auth.ts");
  });

  test("have only the room that their share of the session leaves", () => {
    const book = aBook();
    book.follow(request({ said: ["Look at src/auth.ts"] }));
    expect(book.forHeader()).toEqual([]);
  });
});

describe("what a stream's names follow", () => {
  test("is only what is new, as long as a request goes on with the one before", () => {
    const book = aBook();
    book.follow(request({ said: [`First.ts${filler}`] }));
    book.follow(request({ said: [`Other.ts${filler}`, "ok", `Third.ts${filler}`], from: 2, turn: 2 }));
    expect(book.forHeader()).toEqual(expect.arrayContaining(["First.ts", "Third.ts"]));
    expect(book.forHeader()).not.toContain("Other.ts");
  });

  test("is all of it after a fork, and nothing of what was left", () => {
    const book = aBook();
    book.follow(request({ said: [`First.ts${filler}`] }));
    book.follow(
      request(
        { said: [`Other.ts${filler}`, "ok", `Third.ts${filler}`], from: 3, turn: 2 },
        { isNext: false },
      ),
    );
    expect(book.forHeader()).toEqual(expect.arrayContaining(["Other.ts", "Third.ts"]));
    expect(book.forHeader()).not.toContain("First.ts");
  });

  test("is all of it for a book that knows nothing yet, with the turns it came in", () => {
    const book = aBook();
    const said = ["Go on", "I have read src/auth.ts", "And now src/login.ts"];
    // A system text stands before them.
    book.follow(request({ said, from: 3, turn: 30 }, { turnOf: (unit) => (unit < 3 ? 2 : 30) }));
    expect(book.needed(31).map(({ name }) => name)).toEqual(["src/auth.ts"]);
  });
});

describe("names for the manifest", () => {
  test("are those the model used long ago, with what they cost", () => {
    const book = aBook();
    book.follow(request({ said: ["Go on"] }));
    book.hear(answer("I have read src/auth.ts"), 1, [null]);
    expect(book.needed(3)).toEqual([]);
    book.follow(request({ said: ["Go on", "I have read src/auth.ts", "More"], from: 2, turn: 30 }));
    expect(book.needed(31)).toEqual([{ name: "src/auth.ts", tokens: nameTokens("src/auth.ts") }]);
  });

  test("may be asked for of an earlier turn than the last", () => {
    const book = aBook();
    book.follow(request({ said: ["Go on"], turn: 9 }));
    expect(book.needed(2)).toEqual([]);
  });
});

describe("what an answer refers to", () => {
  test("is the block that has said a name last", () => {
    const book = aBook();
    const [first, second] = [blockId(7), blockId(8)];
    book.follow(
      request({ said: ["See src/auth.ts", "", "and src/login.ts"] }, { blockOf: (at) => blockId(at) }),
    );
    const [read] = book.hear(answer("I look at src/auth.ts"), 1, [first]);
    expect(read).toBeDefined();
    expect(book.hear(answer("src/auth.ts again, and new-thing.ts"), 2, [second])).toEqual([first]);
    expect(book.hear(answer("new-thing.ts"), 3, [null])).toEqual([second]);
  });

  test("is nothing where the names are its own", () => {
    const book = aBook();
    book.follow(request({ said: ["Go on"] }));
    expect(book.hear(answer("openSession calls openSession"), 1, [blockId(7)])).toEqual([]);
  });
});
