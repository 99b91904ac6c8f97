import { describe, expect, it } from "vitest";
import { must } from "../../base/index.ts";
import { continuesOwnLine, isOwnLine, opensOwnLines } from "../../notes/index.ts";
import { readWireAnswer } from "./answer.ts";
import { interceptAnswer } from "./intercept.ts";

const rules = {
  isOwn: (line: string) => isOwnLine(line, "k7f3"),
  opens: opensOwnLines,
  continues: continuesOwnLine,
};

/** An interceptor of an answer that may hold our lines, and nothing else of ours. */
function stripperFor(contentType: string) {
  const options = { ownLines: rules, isOwnTool: null, commandNonce: null, bytesMax: 1e8 };
  return must(interceptAnswer(contentType, options), "the form is known");
}

const manifests = {
  text: [
    "[CONTEXT MANIFEST k7f3 turn 34 | 42 blocks | 140k/200k tokens, 70%]",
    "PRIMACY 3 blocks 3.2k | MIDDLE 34 blocks 128k: auth.ts login flow | RECENCY 5 blocks 8.4k",
    "NAMES src/auth.ts POST",
    "[user-selected] #12 (auth flow) | SINCE LAST TURN: user pinned #31",
    "BUDGET 60k free",
  ],
  markdown: [
    "### CONTEXT MANIFEST k7f3 turn 34 | 42 blocks",
    "- PRIMACY 3 blocks 3.2k",
    "- COLD 12 blocks 61k",
  ],
  xml: ['<context-manifest mark=k7f3 about="turn 34">', "MIDDLE 34 blocks", "</context-manifest>"],
  ranges: ["--- PRUNED MESSAGE RANGES --- | k7f3", "Messages ID: 3-9 | Tokens: ~6200", "Messages ID: 12"],
};

type Wire = Readonly<Record<string, unknown>>;
const event = (fields: Wire): string => `event: ${fields["type"]}\ndata: ${JSON.stringify(fields)}\n\n`;
const delta = (text: string): string =>
  event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } });
const start = event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } });
const stop = event({ type: "content_block_stop", index: 0 });
const last = event({ type: "message_stop" });

/** The text a client gets of these deltas, pushed in chunks of so many bytes. */
function left(texts: readonly string[], chunk = 1e6): unknown {
  const first = event({ type: "message_start", message: { model: "m", content: [] } });
  const bytes = Buffer.from([first, start, ...texts.map(delta), stop, last].join(""));
  const stripper = stripperFor("text/event-stream");
  const out: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += chunk) out.push(...stripper.push(bytes.subarray(at, at + chunk)));
  const { units } = readWireAnswer(Buffer.concat([...out, ...stripper.end()]), "text/event-stream");
  return JSON.parse(Buffer.from(units[0]?.bytes ?? []).toString()).text;
}

/** The text in deltas of so many characters. */
const torn = (text: string, length: number): readonly string[] =>
  Array.from({ length: Math.ceil(text.length / length) }, (_, at) =>
    text.slice(at * length, (at + 1) * length),
  );

describe.each(Object.entries(manifests))("a whole manifest that a model repeats, as %s", (_, lines) => {
  const manifest = lines.join("\n");

  it("is taken out with all its rows, however it is cut", () => {
    const text = `Before.\n${manifest}\nAfter it.`;
    for (const length of [1, 2, 3, 7, 20, 1_000])
      for (const chunk of [1, 5, 64, 1e6])
        expect([length, chunk, left(torn(text, length), chunk)]).toEqual([
          length,
          chunk,
          "Before.\nAfter it.",
        ]);
  });

  it("is taken out at the start and end of a text, and stays if the text has nothing else", () => {
    expect(left(torn(`${manifest}\nAfter.`, 4))).toBe("After.");
    expect(left(torn(`Before.\n${manifest}`, 4))).toBe("Before.\n");
    expect(left(torn(manifest, 4))).toBe(manifest);
  });

  it("is taken out of an answer that is one message", () => {
    const bytes = Buffer.from(JSON.stringify({ content: [{ type: "text", text: `a\n${manifest}\nb` }] }));
    const stripper = stripperFor("application/json");
    const out = Buffer.concat([...stripper.push(bytes), ...stripper.end()]).toString();
    expect(JSON.parse(out).content[0].text).toBe("a\nb");
  });
});

describe("a row like those of a manifest", () => {
  const [own = "", row = ""] = manifests.text;

  it("stays if the line before it is not ours", () => {
    expect(left([`${row}\n`, `${own}\n`, "\n", `${row}\n`, "a"])).toBe(`${row}\n\n${row}\na`);
    expect(left([`a\n${own}\nwords\n${row}`])).toBe(`a\nwords\n${row}`);
  });

  it("stays behind a header, which has no rows", () => {
    expect(left(["a\n[k7f3 turn 3, 14:05]\n", `${row}\nb`])).toBe(`a\n${row}\nb`);
  });

  it("stays in another text block than our line", () => {
    const block = (text: string) => ({ type: "text", text });
    const stripper = stripperFor("application/json");
    const bytes = Buffer.from(JSON.stringify({ content: [block(`a\n${own}`), block(row)] }));
    const out = Buffer.concat([...stripper.push(bytes), ...stripper.end()]).toString();
    expect(JSON.parse(out).content).toEqual([block("a\n"), block(row)]);
  });
});

it("a line behind one of ours is held until its first words decide if it is ours too", () => {
  const stripper = stripperFor("text/event-stream");
  const passed = (text: string): number => Buffer.concat(stripper.push(Buffer.from(text))).length;
  passed(start + delta("a\n[CONTEXT MANIFEST k7f3 turn 3 | 9 blocks]\n"));
  const texts = ["PRI", "OR art, as far as anybody", " knows"];
  expect(texts.map((text) => passed(delta(text)) > 0)).toEqual([false, false, true]);
  // None of our lines begins with a lower-case letter.
  passed(delta("\n[CONTEXT MANIFEST k7f3 turn 4 | 9 blocks]\n"));
  expect(passed(delta("words"))).toBeGreaterThan(0);
});
