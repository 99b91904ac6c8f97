// What the benchmark of awareness measures with is tested here; its figures come from recorded sessions.
import { expect, test } from "vitest";
import type { Conversation, Message } from "../../bench/awareness/conversation.ts";
import { farReferences, identifiersIn, standingIn } from "../../bench/awareness/far.ts";
import { scoreOf } from "../../bench/awareness/score.ts";
import { simulatedTexts } from "../../bench/awareness/simulated.ts";
import type { BlockKind } from "../../src/engine/index.ts";

const count = (text: string): number => Math.ceil(text.length / 4);

function message(kind: BlockKind, text: string): Message {
  return { blocks: [{ kind, text, tokens: count(text) }] };
}

/** The result comes with the first request; the answers to all but the last have nothing of it. */
function conversation(requests: number, kept = requests): Conversation {
  return {
    name: "made up",
    model: null,
    requests: Array.from({ length: requests }, (_, index) => ({
      kept: index === kept ? 0 : index * 2,
      messages: [
        message(index === 0 ? "tool-result" : "user", index === 0 ? "see src/lib/read_config.ts" : "go on"),
      ],
      answer: message("assistant", index === requests - 1 ? "read_config.ts, of course" : "done"),
      timeMs: null,
    })),
  };
}

test("an identifier is a path, or a name in snake_case, camelCase, with dots or with numbers", () => {
  const text =
    "Open ./src/a_file.ts: call parseAll(), node.readAll, step2000 but not Something or well-known";
  expect([...identifiersIn(text)]).toEqual(["src/a_file.ts", "parseAll", "node.readAll", "step2000"]);
});

test("parts of a path stand where the path stands, parts of a word do not", () => {
  const standing = standingIn("in src/lib/read_config.ts");
  expect(standing.has("read_config.ts")).toBe(true);
  expect(standing.has("lib/read_config")).toBe(true);
  expect(standing.has("config.ts")).toBe(false);
});

test("a reference is far when the last copy lies ten requests back, and nearer copies end that", () => {
  expect(farReferences(conversation(11)).flat()).toEqual([
    { request: 10, name: "read_config.ts", distance: 10, source: "tool-result" },
  ]);
  expect(farReferences(conversation(10)).flat()).toEqual([]);
});

test("what the client dropped from its history is not referred to", () => {
  expect(farReferences(conversation(12, 8)).flat()).toEqual([]);
});

test("a reference is named where a manifest or a standing line has it, and nowhere else", () => {
  const shown = { written: [], standing: [], manifest: "", note: "" };
  const named = (last: Partial<typeof shown> | { readonly standing: readonly string[] }) =>
    scoreOf(conversation(11), {
      count,
      texts: ({ requests }) => requests.map((_, index) => (index === 10 ? { ...shown, ...last } : shown)),
    }).named;
  expect(named({ manifest: "names lib/read_config.ts" })).toEqual({ all: 1, headers: 0, manifests: 1 });
  expect(named({ standing: ["[line; names read_config.ts]"] })).toEqual({ all: 1, headers: 1, manifests: 0 });
  expect(named({ manifest: "read_config" })).toEqual({ all: 0, headers: 0, manifests: 0 });
});

test("simulated texts say something for every request, and lines go with the messages they belong to", () => {
  const shown = simulatedTexts(count)(conversation(12, 8));
  expect(shown).toHaveLength(12);
  expect(shown[7]?.standing).toHaveLength(7);
  expect(shown[8]?.standing).toHaveLength(1);
  for (const { manifest } of shown) expect(manifest).toContain("[CONTEXT MANIFEST");
});
