// Liberties that clients take with what was said: none of them changes a byte of what goes upstream.
import { describe, expect, test } from "vitest";
import { must } from "../../src/base/index.ts";
import {
  type ClientBlock,
  type ClientBody,
  mark,
  result,
  ScriptedClient,
  type Sent,
  text,
  tool,
  user,
} from "../support/scripted-client.ts";
import { reasoningIn, seen, sharedUnits } from "../support/upstream-units.ts";
import { blocksOf, type Form, mapBlocks, mapEach, mapMessage, models, played } from "./edit-scene.ts";

type Tolerated = {
  readonly name: string;
  readonly form: Form;
  /** Set where only one direction is a liberty: the way back would be an edit. */
  readonly isOneWay?: true;
};

const ofType = (block: ClientBlock, type: string): boolean => block["type"] === type;
const markLast: Form = (body) =>
  mapMessage(body, body.messages.length - 1, (message) =>
    mapBlocks(message, (block, at) => (at === blocksOf(message).length - 1 ? { ...block, ...mark } : block)),
  );

const marks: readonly Tolerated[] = [
  { name: "a mark that moves along", form: markLast },
  { name: "a mark on the first prompt", form: (body) => mapMessage(body, 0, markFirst) },
  {
    name: "a mark inside a tool result",
    form: (body) =>
      mapEach(body, (block) =>
        block["tool_use_id"] === "c2"
          ? { ...block, content: [text("RESULT-TWO", mark), imageOf(block)] }
          : block,
      ),
  },
  {
    name: "a mark on a tool and on a system text",
    form: (body) => ({
      ...body,
      tools: (body.tools ?? []).map((one, at) => (at === 2 ? { ...one, ...mark } : one)),
      system: blocksOf({ role: "system", content: body.system ?? [] }).map((one) => ({ ...one, ...mark })),
    }),
  },
  { name: "an automatic mark", form: (body) => ({ ...body, ...mark }) },
];

const writing: readonly Tolerated[] = [
  {
    name: "a string for one text block",
    form: (body) => ({
      ...body,
      messages: body.messages.map((message) => {
        const [first, ...others] = blocksOf(message);
        const isText = first !== undefined && others.length === 0 && ofType(first, "text");
        return isText && first["citations"] === undefined
          ? { ...message, content: String(first["text"]) }
          : message;
      }),
    }),
  },
  {
    name: "a text block for the string of a tool result",
    form: (body) =>
      mapEach(body, (block) =>
        typeof block["content"] === "string" ? { ...block, content: [text(block["content"])] } : block,
      ),
  },
  {
    name: "whitespace around texts",
    form: (body) =>
      mapEach(body, (block) =>
        ofType(block, "text") ? { ...block, text: `\n ${block["text"]}  \n` } : block,
      ),
  },
  {
    name: "whitespace around the text of a tool result",
    form: (body) =>
      mapEach(body, (block) =>
        typeof block["content"] === "string" ? { ...block, content: ` ${block["content"]}\n` } : block,
      ),
  },
  { name: "keys in another order", form: (body) => ({ ...body, ...(turned({ ...body }) as ClientBody) }) },
  {
    name: "a message that begins with its content",
    form: (body) => ({
      ...body,
      messages: body.messages.map(
        ({ role, content }) => ({ content, role }) as ClientBody["messages"][number],
      ),
    }),
  },
];

const said: readonly Tolerated[] = [
  { name: "texts of the model merged into one", form: merged(3, ""), isOneWay: true },
  { name: "texts of the model merged line by line", form: merged(3, "\n\n"), isOneWay: true },
  { name: "texts of the user merged into one", form: merged(4, "\n"), isOneWay: true },
  {
    name: "defaults added to the input of a tool",
    form: (body) =>
      mapEach(body, (block) =>
        ofType(block, "tool_use") ? { ...block, input: { ...(block["input"] as object), depth: 1 } } : block,
      ),
    isOneWay: true,
  },
  {
    name: "a tool renamed to invalid",
    form: (body) =>
      mapEach(body, (block) =>
        block["id"] === "c3"
          ? { ...block, name: "invalid", input: { tool: "look", error: "no such tool" } }
          : block,
      ),
  },
  {
    name: "reasoning dropped",
    form: (body) => mapEach(body, (block) => (ofType(block, "thinking") ? null : block)),
  },
  {
    name: "reasoning of the first answers dropped",
    form: (body) => mapEach(body, (block) => (/thought [12]/.test(String(block["thinking"])) ? null : block)),
  },
  {
    name: "reasoning emptied",
    form: (body) =>
      mapEach(body, (block) => (ofType(block, "thinking") ? { ...block, thinking: "" } : block)),
  },
  {
    name: "a line of ours stripped",
    form: (body) =>
      mapEach(body, (block) =>
        ofType(block, "text")
          ? { ...block, text: String(block["text"]).replace("[k7f3 turn 2]\n", "") }
          : block,
      ),
  },
];

const deferred = tool("later", { defer_loading: true });
const fronts: readonly Tolerated[] = [
  { name: "tools in another order", form: (body) => ({ ...body, tools: [...(body.tools ?? [])].reverse() }) },
  { name: "a deferred tool added", form: (body) => ({ ...body, tools: [...(body.tools ?? []), deferred] }) },
  {
    name: "a deferred tool added in front",
    form: (body) => ({ ...body, tools: [deferred, ...(body.tools ?? [])] }),
  },
];

const all = [...marks, ...writing, ...said, ...fronts];
const plain: Form = (body) => body;

describe.each(models)("on %s", (model) => {
  const ways = all.flatMap(({ name, form, isOneWay }) => {
    const forth = { name: `${name}, from now on`, first: plain, second: form };
    const back = { name: `${name}, until now`, first: form, second: plain };
    return isOneWay ? [forth] : [forth, back];
  });

  test.each(ways)("$name", async ({ first, second }) => {
    const scene = await played(model, first);
    let { last: before, body } = scene;
    expect(reasoningIn(before.units)).toHaveLength(4);
    for (const [at, form] of [second, first, second].entries()) {
      body = { ...body, messages: [...body.messages, user(text(`What now, ${at}?`))] };
      const sent: Sent = await scene.talk.post(form(body));
      expect(sent.attempts.map(({ problem }) => problem)).toEqual([null]);
      const bound = model === "claude-opus-5-5";
      const kept = bound ? seen(before.units) : seen(before.units).slice(0, -1);
      expect(sharedUnits(kept, seen(sent.units))).toBe(kept.length);
      expect(reasoningIn(sent.units)).toHaveLength(5 + at);
      body = { ...body, messages: [...body.messages, sent.said] };
      before = sent;
    }
  });
});

test("every form changes the body", async () => {
  const { body } = await played("claude-opus-5-5", plain);
  for (const { form } of all) expect(JSON.stringify(form(body))).not.toBe(JSON.stringify(body));
});

function markFirst(message: ClientBody["messages"][number]): ClientBody["messages"][number] {
  return mapBlocks(message, (block, at) => (at === 0 ? { ...block, ...mark } : block));
}

function imageOf({ content }: ClientBlock): ClientBlock {
  return must((content as readonly ClientBlock[])[1], "the result has an image");
}

/** The texts of one message as one. */
function merged(at: number, glue: string): Form {
  return (body) =>
    mapMessage(body, at, (message) => {
      const others = blocksOf(message).filter((block) => !ofType(block, "text"));
      const texts = blocksOf(message).filter((block) => ofType(block, "text"));
      return { ...message, content: [...others, text(texts.map((block) => block["text"]).join(glue))] };
    });
}

/** The same with the keys of every object the other way round. */
function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, inner]) => [key, turned(inner)]),
  );
}

describe("reasoning between the parts of one answer", () => {
  const thinks = (n: number) => ({ type: "thinking", thinking: `thought ${n}` }) as const;
  const calls = (id: string) => ({ type: "tool_use", id, name: "look", input: { path: id } }) as const;
  const replies = [
    {
      content: [
        thinks(1),
        { type: "text", text: " First. " } as const,
        thinks(2),
        calls("c1"),
        thinks(3),
        calls("c2"),
      ],
    },
    { content: [thinks(4), { type: "text", text: "Done." } as const] },
  ];
  const results = user(result("c1", "one"), result("c2", "two"));
  const forms: readonly Tolerated[] = [
    { name: "as it was said", form: plain },
    ...said.filter(({ name }) => /defaults|dropped|emptied/.test(name)),
    {
      name: "the first call renamed",
      form: (body) =>
        mapEach(body, (block) => (block["id"] === "c1" ? { ...block, name: "invalid", input: {} } : block)),
    },
    {
      name: "texts trimmed",
      form: (body) =>
        mapEach(body, (block) =>
          ofType(block, "text") ? { ...block, text: String(block["text"]).trim() } : block,
        ),
    },
  ];

  test.each(forms)("stays where it was: $name", async ({ form }) => {
    const talk = new ScriptedClient(replies);
    const body = {
      model: "claude-opus-5-5",
      max_tokens: 4000,
      thinking: { type: "adaptive" },
      tools: [tool("look")],
    };
    const first = user(text("Begin."));
    const begun = await talk.post({ ...body, messages: [first] });
    const sent = await talk.post(form({ ...body, messages: [first, begun.said, results] }));
    expect(sent.attempts.map(({ problem }) => problem)).toEqual([null]);
    expect(reasoningIn(sent.units)).toHaveLength(3);
  });
});
