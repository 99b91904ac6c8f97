import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ToolUse } from "../protocol.ts";
import { clearedResults, contextEdit } from "./context-edit.ts";
import { readRequest } from "./read-request.ts";
import { refusalReason } from "./refusals.ts";

const fieldOf = (uses: readonly ToolUse[]): unknown => JSON.parse(contextEdit(uses)?.field ?? "null");

/** `read- grep+ | read+`: minus clears a result, plus keeps it; calls up to a bar belong to one message. */
function usesOf(text: string): readonly ToolUse[] {
  let message = 0;
  return text.split(" ").flatMap((word) => {
    if (word === "|") message += 1;
    if (!/[+-]$/.test(word)) return [];
    return [{ name: word.slice(0, -1), isClients: true, message, isCleared: word.endsWith("-") }];
  });
}

describe("an edit that clears exactly the wanted results", () => {
  it("clears the oldest and keeps the rest", () => {
    expect(fieldOf(usesOf("read- grep- | read+ bash+"))).toEqual({
      edits: [
        {
          type: "clear_tool_uses_20250919",
          trigger: { type: "tool_uses", value: 2 },
          keep: { type: "tool_uses", value: 2 },
        },
      ],
    });
  });

  it("excludes a tool of which an old use stays", () => {
    expect(fieldOf(usesOf("read- plan+ read- | bash+"))).toMatchObject({
      edits: [{ exclude_tools: ["plan"], keep: { value: 1 } }],
    });
  });
});

describe("an edit is not asked for", () => {
  it.each([
    ["", "nothing is to be cleared"],
    ["read+ bash+", "nothing is to be cleared"],
    ["read- | read+ | read- | bash+", "an older use of the same tool is kept"],
    ["read- | bash-", "nothing is kept"],
    ["plan+ | read- | plan+", "only uses of excluded tools are kept"],
    ["read- | plan+ | read- | bash+ | plan+", "it is not documented if the last use counts"],
    ["read- bash+", "it is not documented which call of a message is older"],
  ])("%j: %s", (uses) => {
    expect(contextEdit(usesOf(uses))).toBe(null);
  });

  it("if the provider runs tools of its own", () => {
    const foreign = { name: "web_search", isClients: false, message: 9, isCleared: false };
    expect(contextEdit([...usesOf("read- | bash+"), foreign])).toBe(null);
  });

  it.each([
    [{ context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] } }, false],
    [{ context_management: null }, false],
    [{ compaction: { type: "summarize" } }, false],
    [{ thread: { continue: "x" } }, false],
    [{}, true],
  ])("if the client's body excludes it: %j", (over, isAllowed) => {
    const body = { model: "claude-opus-5-5", messages: [{ role: "user", content: "Hello." }], ...over };
    const request = readRequest(Buffer.from(JSON.stringify(body)), null);
    expect(request?.hasOwnEdits).toBe(!isAllowed);
  });
});

/** The uses a provider clears for an edit; its documentation leaves open if excluded tools count. */
function clearedBy(uses: readonly ToolUse[], edit: Edit, countsExcluded: boolean): readonly number[] {
  const indexes = uses.map((_, at) => at);
  const excluded = new Set(edit.exclude_tools ?? []);
  const mayClear = (at: number) => !excluded.has(uses[at]?.name ?? "");
  const counted = countsExcluded ? indexes : indexes.filter(mayClear);
  if (counted.length <= edit.trigger.value) return [];
  return counted.slice(0, Math.max(0, counted.length - edit.keep.value)).filter(mayClear);
}

type Edit = {
  readonly trigger: { readonly value: number };
  readonly keep: { readonly value: number };
  readonly exclude_tools?: readonly string[];
};

function editIn(edit: ReturnType<typeof contextEdit>): Edit | null {
  if (edit === null) return null;
  const { edits } = JSON.parse(edit.field) as { readonly edits: readonly Edit[] };
  return edits[0] ?? null;
}

describe("for any tool uses", () => {
  const use = fc.record({
    name: fc.constantFrom("read", "bash", "plan"),
    isClients: fc.constant(true),
    isCleared: fc.boolean(),
  });
  const older = fc.array(use, { maxLength: 12 });
  const newer = fc.array(
    use.map((one) => ({ ...one, isCleared: false })),
    { maxLength: 6 },
  );

  it("an edit clears exactly the wanted results, however the provider counts", () => {
    let edits = 0;
    fc.assert(
      fc.property(older, newer, (first, last) => {
        const uses = [...first, ...last].map((one, message) => ({ ...one, message }));
        const edit = editIn(contextEdit(uses));
        if (edit === null) return;
        edits += 1;
        const wanted = uses.flatMap(({ isCleared }, at) => (isCleared ? [at] : []));
        expect(clearedBy(uses, edit, true)).toEqual(wanted);
        expect(clearedBy(uses, edit, false)).toEqual(wanted);
      }),
      { numRuns: 2_000 },
    );
    expect(edits).toBeGreaterThan(20);
  });

  it("the same results stay cleared while the session grows", () => {
    const text = "read- | plan+ | read- | bash- | bash+ | read+";
    const later = `${text} | bash+ | read+ | read+`;
    const [now, then] = [text, later].map((one) => {
      const edit = editIn(contextEdit(usesOf(one)));
      return edit === null ? null : clearedBy(usesOf(one), edit, true);
    });
    expect(then).toEqual(now);
    expect(now).toEqual([0, 2, 3]);
  });
});

describe("an answer", () => {
  it("reports the number of cleared results", () => {
    const applied = [
      { type: "clear_thinking_20251015", cleared_thinking_turns: 1, cleared_input_tokens: 9 },
      { type: "clear_tool_uses_20250919", cleared_tool_uses: 8, cleared_input_tokens: 50_000 },
    ];
    expect(clearedResults({ applied_edits: applied })).toBe(8);
    expect(clearedResults({ applied_edits: [] })).toBe(0);
  });

  it.each([[undefined], [null], [{}], [{ applied_edits: "x" }]])("%j reports nothing", (value) => {
    expect(clearedResults(value)).toBe(null);
  });

  it("may refuse an edit", () => {
    const refusal = (message: string) => Buffer.from(JSON.stringify({ error: { message } }));
    expect(refusalReason(refusal("context_management: Extra inputs are not permitted"))).toBe("edit");
    expect(refusalReason(refusal("Unexpected value for the beta context-management-2025-06-27"))).toBe(
      "edit",
    );
    expect(refusalReason(refusal("prompt is too long"))).toBe("other");
  });
});
