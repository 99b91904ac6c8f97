type Body = { readonly messages?: unknown; readonly context_management?: unknown };
type ContextEdit = { readonly keep: { readonly value: number }; readonly exclude_tools?: readonly string[] };
type Block = { readonly type?: string; readonly id?: string; readonly name?: string };

/** The calls whose results a provider leaves out by what a body asks for, by the documentation alone. */
export function clearedCalls({ messages, context_management: management }: Body): ReadonlySet<string> {
  const { edits = [] } = (management ?? {}) as { readonly edits?: readonly ContextEdit[] };
  const [edit] = edits;
  if (edit === undefined) return new Set();
  const said = (messages as readonly { readonly content: unknown }[]).flatMap(({ content }) =>
    Array.isArray(content) ? (content as readonly Block[]) : [],
  );
  const excluded = edit.exclude_tools ?? [];
  const uses = said.filter(({ type, name = "" }) => type === "tool_use" && !excluded.includes(name));
  const old = uses.slice(0, Math.max(0, uses.length - edit.keep.value));
  return new Set(old.map(({ id = "" }) => id));
}
