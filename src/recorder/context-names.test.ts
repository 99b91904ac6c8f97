import { describe, expect, test } from "vitest";
import { nameTokens } from "../awareness/index.ts";
import { blockId, must } from "../base/index.ts";
import type { SentRequest } from "../exchange/index.ts";
import { type AnswerUnit, protocolOf } from "../protocols/index.ts";
import { ContextNames, type NamedRequest } from "./context-names.ts";
import { placedUnits } from "./unit-alignment.ts";

const anthropic = protocolOf({ protocol: "anthropic" });
const readAnswer = anthropic.answer.read;
const readRequest = anthropic.read.request;

const textPart = (text: string) => ({ type: "text", text });
/** Names get a share of the tokens of all messages, so a header needs long messages. */
const filler = " and a good many words about nothing in particular".repeat(400);

type RequestTexts = { readonly texts: readonly string[]; readonly from?: number; readonly turn?: number };

/** A request of these texts, of which those from `from` on are new. */
function request(
  { texts, from = 0, turn = 1 }: RequestTexts,
  over: Partial<NamedRequest> = {},
): NamedRequest {
  const messages = texts.map((text, at) => ({
    role: at % 2 ? "assistant" : "user",
    content: [textPart(text)],
  }));
  const body = Buffer.from(JSON.stringify({ model: "m", system: "Read system.ts first.", messages }));
  const read = must(readRequest(body, null), "it can be read");
  const fresh = placedUnits(read, 0)
    .filter(({ unit }) => unit.section === "messages")
    .slice(from)
    .map((placed) => ({ ...placed, block: null }));
  const known = { turnOf: () => turn, blockOf: () => null };
  return { request: read, sent: sent(), turn, fresh, isNext: true, ...known, ...over };
}

/** The lines of ours that were sent with a request. */
function sent(...lines: readonly string[]): SentRequest {
  const fresh = lines.map((line) => ({
    origin: "aperture",
    bytes: Buffer.from(JSON.stringify(textPart(line))),
  }));
  return { fresh } as unknown as SentRequest;
}

function answer(text: string): readonly AnswerUnit[] {
  return readAnswer(Buffer.from(JSON.stringify({ content: [textPart(text)] })), "application/json").units;
}

describe("names for the next header", () => {
  test("come from the user and from the model", () => {
    const names = new ContextNames();
    names.addRequest(request({ texts: [`Look at src/auth.ts${filler}`] }));
    expect(names.forHeader()).toContain("src/auth.ts");
    names.addAnswer(answer("It calls openSession in src/login.ts"), 1, [null]);
    expect(names.forHeader()).toEqual(expect.arrayContaining(["src/auth.ts", "src/login.ts", "openSession"]));
  });

  test("leave out names of system texts, which stay in the context", () => {
    const names = new ContextNames();
    names.addRequest(request({ texts: [`Go on${filler}`] }));
    expect(names.forHeader()).not.toContain("system.ts");
  });

  test("are not repeated once a header has them", () => {
    const names = new ContextNames();
    names.addRequest(request({ texts: [`Look at src/auth.ts${filler}`] }));
    names.addRequest(
      request(
        { texts: [`Look at src/auth.ts${filler}`, "ok", `And src/login.ts${filler}`], from: 1, turn: 2 },
        { sent: sent("[k7f3 turn 2, 14:05: message 3 #3; names src/auth.ts]") },
      ),
    );
    expect(names.forHeader()).toContain("src/login.ts");
    expect(names.forHeader()).not.toContain("src/auth.ts");
  });

  test("are repeated if the line is no header, or not ours", () => {
    const names = new ContextNames();
    const { sent: line } = { sent: sent("[k7f3 turn 2, 14:05] names src/auth.ts", "names src/auth.ts]") };
    names.addRequest(request({ texts: [`Look at src/auth.ts${filler}`] }, { sent: line }));
    const theirs = {
      fresh: [
        {
          origin: "client",
          bytes: Buffer.from(JSON.stringify(textPart("[k7f3 turn 2, 14:05; names src/auth.ts]"))),
        },
      ],
    };
    names.addRequest(
      request(
        { texts: [`Look at src/auth.ts${filler}`], from: 1 },
        { sent: theirs as unknown as SentRequest },
      ),
    );
    expect(names.forHeader()).toContain("src/auth.ts");
  });

  test("are left out if the session is too short for them", () => {
    const names = new ContextNames();
    names.addRequest(request({ texts: ["Look at src/auth.ts"] }));
    expect(names.forHeader()).toEqual([]);
  });
});

describe("the names of a stream", () => {
  test("come only from new units while a request continues the previous one", () => {
    const names = new ContextNames();
    names.addRequest(request({ texts: [`First.ts${filler}`] }));
    names.addRequest(request({ texts: [`Other.ts${filler}`, "ok", `Third.ts${filler}`], from: 2, turn: 2 }));
    expect(names.forHeader()).toEqual(expect.arrayContaining(["First.ts", "Third.ts"]));
    expect(names.forHeader()).not.toContain("Other.ts");
  });

  test("are read again after a fork, without those of the old branch", () => {
    const names = new ContextNames();
    names.addRequest(request({ texts: [`First.ts${filler}`] }));
    names.addRequest(
      request(
        { texts: [`Other.ts${filler}`, "ok", `Third.ts${filler}`], from: 3, turn: 2 },
        { isNext: false },
      ),
    );
    expect(names.forHeader()).toEqual(expect.arrayContaining(["Other.ts", "Third.ts"]));
    expect(names.forHeader()).not.toContain("First.ts");
  });

  test("are read from all units after a restart, each with its turn", () => {
    const names = new ContextNames();
    const texts = ["Go on", "I have read src/auth.ts", "And now src/login.ts"];
    // Unit 0 is the system text.
    names.addRequest(request({ texts, from: 3, turn: 30 }, { turnOf: (unit) => (unit < 3 ? 2 : 30) }));
    expect(names.forManifest(31).map(({ name }) => name)).toEqual(["src/auth.ts"]);
  });
});

describe("names for the manifest", () => {
  test("are those the model used long ago, with their tokens", () => {
    const names = new ContextNames();
    names.addRequest(request({ texts: ["Go on"] }));
    names.addAnswer(answer("I have read src/auth.ts"), 1, [null]);
    expect(names.forManifest(3)).toEqual([]);
    names.addRequest(request({ texts: ["Go on", "I have read src/auth.ts", "More"], from: 2, turn: 30 }));
    expect(names.forManifest(31)).toEqual([{ name: "src/auth.ts", tokens: nameTokens("src/auth.ts") }]);
  });

  test("may be requested for an earlier turn than the last", () => {
    const names = new ContextNames();
    names.addRequest(request({ texts: ["Go on"], turn: 9 }));
    expect(names.forManifest(2)).toEqual([]);
  });
});

describe("the references of an answer", () => {
  test("are the last blocks that contain its names", () => {
    const names = new ContextNames();
    const [first, second] = [blockId(7), blockId(8)];
    names.addRequest(
      request({ texts: ["See src/auth.ts", "", "and src/login.ts"] }, { blockOf: (at) => blockId(at) }),
    );
    const [read] = names.addAnswer(answer("I look at src/auth.ts"), 1, [first]);
    expect(read).toBeDefined();
    expect(names.addAnswer(answer("src/auth.ts again, and new-thing.ts"), 2, [second])).toEqual([first]);
    expect(names.addAnswer(answer("new-thing.ts"), 3, [null])).toEqual([second]);
  });

  test("are empty if the names are its own", () => {
    const names = new ContextNames();
    names.addRequest(request({ texts: ["Go on"] }));
    expect(names.addAnswer(answer("openSession calls openSession"), 1, [blockId(7)])).toEqual([]);
  });
});
