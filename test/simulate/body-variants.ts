import type { Json, Random } from "../../src/base/index.ts";
import type { Block, Fields, Message } from "./seen-body.ts";

/** How a client keeps what the model said: always the same way, else it would edit its own history. */
export type Retelling = {
  readonly addsDefaults: boolean;
  /** What texts of one answer are joined with; null: they are not joined. */
  readonly glue: string | null;
};

/** None: as it was. Harmless: what any provider forgives. All: also what only the ledger puts right. */
export type Liberties = "none" | "harmless" | "all";

export const libertyNames = [
  "key-order",
  "whitespace",
  "string",
  "nested-mark",
  "dropped-reasoning",
  "emptied-reasoning",
] as const;
export type Liberty = (typeof libertyNames)[number];

const harmless: readonly Liberty[] = ["key-order", "whitespace", "string", "nested-mark"];

/** Chosen anew for every request: clients are not even true to themselves. */
export function libertiesTaken(
  liberties: Liberties,
  random: Random,
  { mayRewrite, model }: { readonly mayRewrite: boolean; readonly model: string },
): ReadonlySet<Liberty> {
  if (liberties === "none") return new Set();
  const choices = liberties === "all" && mayRewrite ? libertyNames : harmless;
  // Nobody but a ledger that knows it can put emptied reasoning right, and it leaves out only where it binds.
  const isLeftOut = (liberty: Liberty): boolean => liberty === "emptied-reasoning" && !/-5-/.test(model);
  return new Set(choices.filter((liberty) => random.below(3) === 0 && !isLeftOut(liberty)));
}

export type Way = { readonly taken: ReadonlySet<Liberty>; readonly retelling: Retelling | null };

/** A message as the client writes it this time. */
export function written(message: Message, way: Way, random: Random): Fields {
  const { role } = message;
  const { taken } = way;
  const blocks = role === "assistant" ? retold(message.content, way, random) : message.content;
  const content = blocks.map((block) => rewritten(block, taken, random));
  const [first, second] = content;
  const isPlain = first?.type === "text" && second === undefined && first["cache_control"] === undefined;
  if (taken.has("string") && isPlain) return { role, content: first["text"] ?? "" };
  return taken.has("key-order") && random.below(2) === 0 ? { content, role } : { role, content };
}

/** What the model said, as clients that keep it in a form of their own say it again. */
function retold(content: readonly Block[], { taken, retelling }: Way, random: Random): readonly Block[] {
  let blocks = content;
  const isReasoning = ({ type }: Block): boolean => type === "thinking" || type === "redacted_thinking";
  if (taken.has("dropped-reasoning") && random.below(3) > 0) {
    const spoken = blocks.filter((block) => !isReasoning(block));
    if (spoken.length > 0) blocks = spoken;
  }
  if (taken.has("emptied-reasoning")) {
    blocks = blocks.map((block) => (block.type === "thinking" ? { ...block, thinking: "" } : block));
  }
  if (retelling?.addsDefaults === true) blocks = blocks.map(withDefaults);
  const glue = retelling?.glue ?? null;
  return glue === null ? blocks : merged(blocks, glue);
}

function withDefaults(block: Block): Block {
  if (block.type !== "tool_use") return block;
  return { ...block, input: { ...(block["input"] as Fields), depth: 1 } };
}

function merged(blocks: readonly Block[], glue: string): readonly Block[] {
  const list: Block[] = [];
  for (const block of blocks) {
    const last = list.at(-1);
    if (block.type !== "text" || last?.type !== "text" || last["cache_control"] !== undefined) {
      list.push(block);
      continue;
    }
    list[list.length - 1] = {
      ...last,
      ...block,
      text: `${String(last["text"])}${glue}${String(block["text"])}`,
    };
  }
  return list;
}

function rewritten(block: Block, taken: ReadonlySet<Liberty>, random: Random): Block {
  let now = block;
  if (taken.has("whitespace") && random.below(2) === 0) now = spaced(now);
  if (taken.has("nested-mark")) now = nested(now);
  if (taken.has("string") && now.type === "tool_result") now = shortened(now);
  if (!taken.has("key-order")) return now;
  return Object.fromEntries(
    Object.entries(now)
      .reverse()
      .map(([key, value]) => [key, turned(value)]),
  ) as Block;
}

function turned(value: Json): Json {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).reverse());
}

function spaced(block: Block): Block {
  const { text, content } = block;
  if (block.type === "text") return { ...block, text: `${String(text)}\n` };
  return block.type === "tool_result" && typeof content === "string"
    ? { ...block, content: `${content} ` }
    : block;
}

/** The mark of a result inside it. */
function nested(block: Block): Block {
  const { cache_control, ...rest } = block;
  const { content } = block;
  if (block.type !== "tool_result" || cache_control === undefined || typeof content !== "string")
    return block;
  return { ...rest, type: block.type, content: [{ type: "text", text: content, cache_control }] };
}

function shortened(block: Block): Block {
  const { content } = block;
  const [first, second] = Array.isArray(content) ? (content as readonly Block[]) : [];
  const isPlain = first?.type === "text" && second === undefined && first["cache_control"] === undefined;
  return isPlain ? { ...block, content: first["text"] ?? "" } : block;
}
