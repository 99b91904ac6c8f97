import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clearedIn, contextEdit, isEditRefusal, type ToolUse, takesEdit } from "./context-edit.ts";
import { ingestRequest } from "./ingest.ts";

/** `read- grep+ | read+`: a minus loses its result, a plus stays; calls up to a bar are of one message. */
function usesOf(text: string): readonly ToolUse[] {
  let message = 0;
  return text.split(" ").flatMap((word) => {
    if (word === "|") message += 1;
    if (!/[+-]$/.test(word)) return [];
    return [{ name: word.slice(0, -1), type: "tool_use", message, isCleared: word.endsWith("-") }];
  });
}

describe("an edit that says exactly what is wanted", () => {
  it("clears the oldest and keeps the rest", () => {
    expect(contextEdit(usesOf("read- grep- | read+ bash+"))).toEqual({
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
    expect(contextEdit(usesOf("read- plan+ read- | bash+"))).toMatchObject({
      edits: [{ exclude_tools: ["plan"], keep: { value: 1 } }],
    });
  });
});

describe("an edit that would say something else is not asked for", () => {
  it.each([
    ["", "nothing is to go"],
    ["read+ bash+", "nothing is to go"],
    ["read- | read+ | read- | bash+", "an older use of the same tool stays"],
    ["read- | bash-", "nothing is kept"],
    ["plan+ | read- | plan+", "nothing is kept but what is excluded"],
    ["read- | plan+ | read- | bash+ | plan+", "nobody says whether the last use counts"],
    ["read- bash+", "nobody says which call of a message is the older one"],
  ])("%j: %s", (uses) => {
    expect(contextEdit(usesOf(uses))).toBe(null);
  });

  it("where the provider runs tools of its own", () => {
    const foreign = { name: "web_search", type: "server_tool_use", message: 9, isCleared: false };
    expect(contextEdit([...usesOf("read- | bash+"), foreign])).toBe(null);
  });

  it.each([
    [{ context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] } }, false],
    [{ context_management: null }, false],
    [{ compaction: { type: "summarize" } }, false],
    [{ thread: { continue: "x" } }, false],
    [{}, true],
  ])("where a body of the client's leaves no room for it: %j", (over, takes) => {
    const body = { model: "claude-opus-5-5", messages: [{ role: "user", content: "Hello." }], ...over };
    const request = ingestRequest(Buffer.from(JSON.stringify(body)), null);
    expect(request !== null && takesEdit(request)).toBe(takes);
  });
});

/** What a provider does with an edit, in both ways in which its documentation can be read. */
function clearedBy(uses: readonly ToolUse[], edit: Edit, countsExcluded: boolean): readonly number[] {
  const places = uses.map((_, at) => at);
  const excluded = new Set(edit.exclude_tools ?? []);
  const mayGo = (at: number) => !excluded.has(uses[at]?.name ?? "");
  const counted = countsExcluded ? places : places.filter(mayGo);
  if (counted.length <= edit.trigger.value) return [];
  return counted.slice(0, Math.max(0, counted.length - edit.keep.value)).filter(mayGo);
}

type Edit = {
  readonly trigger: { readonly value: number };
  readonly keep: { readonly value: number };
  readonly exclude_tools?: readonly string[];
};

function editIn(field: ReturnType<typeof contextEdit>): Edit | null {
  return field === null ? null : ((field["edits"] as readonly Edit[])[0] ?? null);
}

describe("any wishes", () => {
  const use = fc.record({
    name: fc.constantFrom("read", "bash", "plan"),
    type: fc.constant("tool_use"),
    isCleared: fc.boolean(),
  });
  const older = fc.array(use, { maxLength: 12 });
  const newer = fc.array(
    use.map((one) => ({ ...one, isCleared: false })),
    { maxLength: 6 },
  );

  it("are met exactly or not at all, however the provider counts", () => {
    let met = 0;
    fc.assert(
      fc.property(older, newer, (first, last) => {
        const uses = [...first, ...last].map((one, message) => ({ ...one, message }));
        const edit = editIn(contextEdit(uses));
        if (edit === null) return;
        met += 1;
        const wanted = uses.flatMap(({ isCleared }, at) => (isCleared ? [at] : []));
        expect(clearedBy(uses, edit, true)).toEqual(wanted);
        expect(clearedBy(uses, edit, false)).toEqual(wanted);
      }),
      { numRuns: 2_000 },
    );
    expect(met).toBeGreaterThan(20);
  });

  it("stay met while the session goes on", () => {
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

describe("what an answer says", () => {
  it("is how much was cleared", () => {
    const applied = [
      { type: "clear_thinking_20251015", cleared_thinking_turns: 1, cleared_input_tokens: 9 },
      { type: "clear_tool_uses_20250919", cleared_tool_uses: 8, cleared_input_tokens: 50_000 },
    ];
    expect(clearedIn({ applied_edits: applied })).toBe(8);
    expect(clearedIn({ applied_edits: [] })).toBe(0);
  });

  it.each([[undefined], [null], [{}], [{ applied_edits: "x" }]])("%j: nothing", (value) => {
    expect(clearedIn(value)).toBe(null);
  });

  it("may be that no edits are taken", () => {
    const refusal = (message: string) => Buffer.from(JSON.stringify({ error: { message } }));
    expect(isEditRefusal(refusal("context_management: Extra inputs are not permitted"))).toBe(true);
    expect(isEditRefusal(refusal("Unexpected value for the beta context-management-2025-06-27"))).toBe(true);
    expect(isEditRefusal(refusal("prompt is too long"))).toBe(false);
  });
});
