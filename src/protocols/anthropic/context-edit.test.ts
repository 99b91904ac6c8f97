import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clearedIn, contextEdit, contextManagementBeta, type ToolUseWish } from "./context-edit.ts";

type Wish = ToolUseWish["wish"];

/** `read- grep+ read=`: a minus loses its result, an equals sign its input too, a plus stays. */
function usesOf(text: string): readonly ToolUseWish[] {
  const wishes: Readonly<Record<string, Wish>> = { "-": "result", "=": "both", "+": "keep" };
  return text
    .split(" ")
    .filter((word) => word !== "")
    .map((word) => ({ name: word.slice(0, -1), type: "tool_use", wish: wishes[word.slice(-1)] ?? "keep" }));
}

function asked(text: string, body: Readonly<Record<string, unknown>> = {}) {
  return { uses: usesOf(text), changesMore: false, body, isOffered: true };
}

function why(text: string, body: Readonly<Record<string, unknown>> = {}) {
  const answer = contextEdit(asked(text, body));
  return answer.contextManagement === null ? answer.why : null;
}

describe("an edit that says exactly what is wanted", () => {
  it("clears the oldest and keeps the rest", () => {
    expect(contextEdit(asked("read- grep- read+ bash+"))).toEqual({
      contextManagement: {
        edits: [
          {
            type: "clear_tool_uses_20250919",
            trigger: { type: "tool_uses", value: 2 },
            keep: { type: "tool_uses", value: 2 },
          },
        ],
      },
      beta: contextManagementBeta,
      cleared: 2,
    });
  });

  it("excludes a tool of which an old use stays", () => {
    expect(contextEdit(asked("read- plan+ read- bash+"))).toMatchObject({
      contextManagement: { edits: [{ exclude_tools: ["plan"], keep: { value: 1 } }] },
    });
  });

  it("clears inputs where all of them go", () => {
    expect(contextEdit(asked("read= bash= read+"))).toMatchObject({
      contextManagement: { edits: [{ clear_tool_inputs: true }] },
    });
  });

  it("stands behind the client's own clearing of reasoning, and keeps its other words", () => {
    const own = { type: "clear_thinking_20251015", keep: "all" };
    const body = { context_management: { edits: [own], note: 1 } };
    expect(contextEdit(asked("read- bash+", body))).toMatchObject({
      contextManagement: { note: 1, edits: [own, { type: "clear_tool_uses_20250919" }] },
    });
  });

  it.each([
    [{ context_management: null }],
    [{ context_management: {} }],
    [{ context_management: { edits: [] } }],
  ])("takes %j for no edits of the client", (body) => {
    expect(why("read- bash+", body)).toBe(null);
  });
});

describe("an edit that would say something else", () => {
  it.each([
    ["", "nothing-to-clear"],
    ["read+ bash+", "nothing-to-clear"],
    ["read- read+ read- bash+", "not-the-oldest"],
    ["read- bash-", "keeps-nothing"],
    ["plan+ read- plan+", "keeps-nothing"],
    ["read- plan+ read- bash+ plan+", "keep-is-ambiguous"],
    ["read- bash= read+", "inputs-differ"],
  ])("%j: %s", (uses, reason) => {
    expect(why(uses)).toBe(reason);
  });

  it.each([
    [{ context_management: { edits: [{ type: "clear_tool_uses_20250919" }] } }, "client-edits"],
    [{ context_management: { edits: [{ type: "compact_20260112" }] } }, "client-edits"],
    [{ context_management: { edits: "none" } }, "client-edits"],
    [{ context_management: "none" }, "client-edits"],
    [{ compaction: { type: "summarize" } }, "excluded-by-request"],
    [{ thread: { continue: "x" } }, "excluded-by-request"],
  ])("beside %j of the client: %s", (body, reason) => {
    expect(why("read- bash+", body)).toBe(reason);
  });

  it("is not asked for where it is not offered, nor where more is to be changed", () => {
    expect(contextEdit({ ...asked("read- bash+"), isOffered: false })).toMatchObject({ why: "not-offered" });
    expect(contextEdit({ ...asked("read- bash+"), changesMore: true })).toMatchObject({
      why: "changes-more",
    });
  });

  it("is not asked for where the provider runs tools of its own", () => {
    const uses = [
      ...usesOf("read- bash+"),
      { name: "web_search", type: "server_tool_use", wish: "keep" as const },
    ];
    expect(contextEdit({ ...asked(""), uses })).toMatchObject({ why: "foreign-tools" });
  });
});

/** What a provider does with an edit, in both ways in which its documentation can be read. */
function clearedBy(uses: readonly ToolUseWish[], edit: Edit, countsExcluded: boolean): readonly number[] {
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

function editIn(answer: ReturnType<typeof contextEdit>): Edit | null {
  return answer.contextManagement === null
    ? null
    : ((answer.contextManagement["edits"] as readonly Edit[])[0] ?? null);
}

describe("any wishes", () => {
  const wish = fc.constantFrom<Wish>("keep", "result");
  const use = fc.record({
    name: fc.constantFrom("read", "bash", "plan"),
    type: fc.constant("tool_use"),
    wish,
  });
  const older = fc.array(use, { maxLength: 12 });
  const newer = fc.array(
    use.map((one) => ({ ...one, wish: "keep" as const })),
    { maxLength: 6 },
  );

  it("are met exactly or not at all, however the provider counts", () => {
    let met = 0;
    fc.assert(
      fc.property(older, newer, (first, last) => {
        const uses = [...first, ...last];
        const edit = editIn(contextEdit({ ...asked(""), uses }));
        if (edit === null) return;
        met += 1;
        const wanted = uses.flatMap((one, at) => (one.wish === "keep" ? [] : [at]));
        expect(clearedBy(uses, edit, true)).toEqual(wanted);
        expect(clearedBy(uses, edit, false)).toEqual(wanted);
      }),
      { numRuns: 2_000 },
    );
    expect(met).toBeGreaterThan(20);
  });

  it("stay met while the session goes on", () => {
    const text = "read- plan+ read- bash- bash+ read+";
    const later = `${text} bash+ read+ read+`;
    const [now, then] = [text, later].map((one) => {
      const edit = editIn(contextEdit(asked(one)));
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
    expect(clearedIn({ applied_edits: applied })).toEqual({ uses: 8, tokens: 50_000 });
  });

  it.each([[undefined], [null], [{}], [{ applied_edits: [] }], [{ applied_edits: "x" }]])(
    "%j: nothing",
    (value) => {
      expect(clearedIn(value)).toBe(null);
    },
  );
});
