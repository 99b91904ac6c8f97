// The client's real edits win: what it took out is never sent again, and what stands before stays cached.
import { describe, expect, test } from "vitest";
import { must } from "../../src/base/index.ts";
import { type ClientBody, type Sent, text, user, wireText } from "../support/scripted-client.ts";
import { reasoningIn, sharedUnits, type UpstreamUnit, upstreamUnits } from "../support/upstream-units.ts";
import {
  blocksOf,
  type Form,
  mapBlocks,
  mapMessage,
  type models,
  played,
  replaced,
  type Scene,
  withNumber,
} from "./edit-scene.ts";

type Edit = {
  readonly name: string;
  readonly edit: (body: ClientBody) => ClientBody;
  /** What must not be in the bytes any more, and what must. */
  readonly gone: readonly string[];
  readonly there: readonly string[];
};

const words = (name: string, from: string, to: string): Edit => ({
  name,
  edit: (body) => replaced(body, from, to),
  gone: [from],
  there: [to],
});
const messages = (
  body: ClientBody,
  change: (all: ClientBody["messages"]) => ClientBody["messages"],
): ClientBody => ({
  ...body,
  messages: change(body.messages),
});

const contents: readonly Edit[] = [
  words("a cleared tool result", "RESULT-ONE with RESULT-SECRET", "[cleared]"),
  words("a secret removed from a tool result", "RESULT-SECRET", "[removed]"),
  words("a secret removed from what the user said", "USER-SECRET", "[removed]"),
  words("a secret removed from what the model said", "SAID-SECRET", "[removed]"),
  words("a value in a tool's input", "INPUT-SECRET", "[removed]"),
  words("a number that no program can hold", "@12345678901234567890", "@12345678901234567891"),
  words("an image", "aW1hZ2Ux", "aW1hZ2Uy"),
  words("an image inside a tool result", "aW1hZ2Uz", "aW1hZ2U0"),
  words("a document", "DOCUMENT-ONE", "DOCUMENT-TWO"),
  words("citations", "CITED-ONE", "CITED-TWO"),
  words("a system text", "SYSTEM-RULES", "OTHER-RULES"),
  words("the description of a tool", "TOOL-WORDS", "OTHER-WORDS"),
  words("the first prompt", "PROMPT-ONE", "PROMPT-ANEW"),
  words("the last prompt", "PROMPT-FIVE", "PROMPT-ANEW"),
  words("whitespace inside a text", "is PROMPT-THREE", "is  PROMPT-THREE"),
  words("a number gone to the wire as another", "@12345678901234567890", "@1234567890123456789e1"),
].map((edit) => ({
  ...edit,
  gone: edit.gone.map((word) => word.replace("@", "")),
  there: edit.there.map((word) => word.replace("@", "")),
}));

const structures: readonly Edit[] = [
  {
    name: "a key of a tool's input removed",
    edit: (body) =>
      mapMessage(body, 1, (message) =>
        mapBlocks(message, (block) =>
          block["id"] === "c1" ? { ...block, input: { path: "a.txt", keep: "yes" } } : block,
        ),
      ),
    gone: ["INPUT-SECRET"],
    there: ['{"path":"a.txt","keep":"yes"}'],
  },
  {
    name: "a result that turns into a failure",
    edit: (body) =>
      mapMessage(body, 6, (message) => mapBlocks(message, (block) => ({ ...block, is_error: true }))),
    gone: ['"is_error":false'],
    there: ['"is_error":true'],
  },
  {
    name: "a call of another tool",
    edit: (body) =>
      mapMessage(body, 5, (message) =>
        mapBlocks(message, (block) => (block["id"] === "c3" ? { ...block, name: "spare" } : block)),
      ),
    gone: ['"id":"c3","name":"look"'],
    there: ['"id":"c3","name":"spare"'],
  },
  {
    name: "a message removed",
    edit: (body) => messages(body, (all) => all.filter((_, at) => at !== 8)),
    gone: ["PROMPT-FIVE"],
    there: ["ANSWER-FIVE"],
  },
  {
    name: "a call and its result removed",
    edit: (body) => messages(body, (all) => all.filter((_, at) => at !== 5 && at !== 6)),
    gone: ["RESULT-THREE", '"c3"'],
    there: ["PROMPT-THREE", "It is said so."],
  },
  {
    name: "a text removed from the middle of a message",
    edit: (body) =>
      mapMessage(body, 4, (message) => mapBlocks(message, (block, at) => (at === 1 ? null : block))),
    gone: ["MIDDLE-THREE"],
    there: ["PROMPT-THREE", "And the end of three."],
  },
  {
    name: "a text added at the end of an old message",
    edit: (body) =>
      mapMessage(body, 4, (message) => ({
        ...message,
        content: [...(message.content as readonly object[]), text("ADDED-THREE")] as never,
      })),
    gone: [],
    there: ["ADDED-THREE"],
  },
  {
    name: "a message put in between",
    edit: (body) => messages(body, (all) => [...all.slice(0, 4), user(text("PUT-BETWEEN")), ...all.slice(4)]),
    gone: [],
    there: ["PUT-BETWEEN"],
  },
  {
    name: "two prompts swapped",
    edit: (body) =>
      messages(body, (all) =>
        all.map((message, at) => (at === 4 ? (all[8] ?? message) : at === 8 ? (all[4] ?? message) : message)),
      ),
    gone: [],
    there: ["PROMPT-THREE", "PROMPT-FIVE"],
  },
  {
    name: "what the model said put into the user's mouth",
    edit: (body) => mapMessage(body, 9, () => user(text("That is ANSWER-FIVE."))),
    gone: ["thought 5"],
    there: ["ANSWER-FIVE"],
  },
  {
    name: "a tool removed",
    edit: (body) => ({ ...body, tools: (body.tools ?? []).filter(({ name }) => name !== "spare") }),
    gone: ['"name":"spare"'],
    there: ['"name":"read"'],
  },
  {
    name: "a system text added in front",
    edit: (body) => ({
      ...body,
      system: [text("FIRST-OF-ALL"), ...(body.system as readonly object[])] as never,
    }),
    gone: [],
    there: ["FIRST-OF-ALL"],
  },
  {
    name: "a summary in place of the history",
    edit: (body) => messages(body, () => [user(text("SUMMARY of what was."))]),
    gone: ["PROMPT-ONE", "RESULT-TWO", "ANSWER-FIVE"],
    there: ["SUMMARY"],
  },
  {
    name: "the results of two calls exchanged",
    edit: (body) => {
      const other: Readonly<Record<string, string>> = { c1: "c2", c2: "c1" };
      return mapMessage(body, 2, (message) =>
        mapBlocks(message, (block) => ({ ...block, tool_use_id: other[String(block["tool_use_id"])] })),
      );
    },
    gone: ['"tool_use_id":"c1","content":"RESULT-ONE'],
    there: ['"tool_use_id":"c2","content":"RESULT-ONE'],
  },
];

/** Two edits only make sense where reasoning is bound: elsewhere the provider itself would object. */
const reasoning: readonly Edit[] = [
  { ...words("the words of a reasoning", "thought 2", "another thought"), there: [] },
];

const next = user(text("What now?"));

type Client = { readonly model: (typeof models)[number]; readonly form: Form; readonly is: string };

const careful: Form = (body) => body;

/** Keeps no reasoning, and writes a string where it can. */
const careless: Form = (body) =>
  messages(body, (all) =>
    all.map((message) => {
      const kept = blocksOf(message).filter(({ type }) => type !== "thinking");
      const [first] = kept;
      const isText = kept.length === 1 && first?.["type"] === "text" && first["citations"] === undefined;
      return { ...message, content: isText ? String(first["text"]) : kept };
    }),
  );

const clients: readonly Client[] = [
  { model: "claude-opus-5-5", form: careful, is: "careful" },
  { model: "claude-opus-5-5", form: careless, is: "careless" },
  { model: "claude-opus-4-8", form: careful, is: "careful" },
];

describe.each(clients)("edits of a $is client on $model", ({ model, form }) => {
  const isBound = model === "claude-opus-5-5";
  const edits = [...contents, ...structures, ...(isBound && form === careful ? reasoning : [])];

  test.each(edits)("$name", async ({ edit, gone, there }) => {
    const scene = await played(model, (body) => form(withNumber(body)));
    expect(refusals(scene.last)).toEqual([null]);
    const edited = edit(withNumber(scene.body));
    const asked = form(messages(edited, (all) => [...all, next]));
    const sent = await scene.talk.post(asked);
    expect(refusals(sent)).toEqual([null]);
    expect(sent.sending.rendering).toBe("managed");
    const bytes = must(sent.attempts[0], "it was sent").body;
    expect(gone.filter((word) => bytes.includes(word))).toEqual([]);
    expect(there.filter((word) => !bytes.includes(word))).toEqual([]);
    expect(spoken(scene, sent)).toEqual(wordsOf(asked));
    expectSharedStart(scene, asked, sent);
    const after = await scene.talk.post(form(messages(edited, (all) => [...all, next, sent.said, next])));
    expect(refusals(after)).toEqual([null]);
    const kept = isBound ? sent.units.length : sent.units.length - 1;
    expect(sharedUnits(sent.units, after.units)).toBe(kept);
    expect(reasoningIn(after.units).slice(0, -1)).toEqual(reasoningIn(sent.units));
    await expectTheOldWay(scene, form);
  });
});

test("there are at least 24 kinds of edit, each of which changes the body", async () => {
  const all = [...contents, ...structures, ...reasoning];
  expect(new Set(all.map(({ name }) => name)).size).toBeGreaterThanOrEqual(24);
  const body = withNumber((await played("claude-opus-5-5", withNumber)).body);
  for (const { edit } of all) expect(wireText(edit(body))).not.toBe(wireText(body));
});

function refusals({ attempts }: Sent): readonly (string | null)[] {
  return attempts.map(({ problem }) => problem);
}

/** What the client says, without reasoning. */
function wordsOf(body: ClientBody): readonly string[] {
  return without(upstreamUnits(wireText(body)));
}

/** What was sent of the client's, by what the log was told: without ours, without reasoning. */
function spoken({ talk }: Scene, { sending, units }: Sent): readonly string[] {
  const path = talk.reported(sending);
  expect(path.map(({ bytes }) => Buffer.from(bytes).toString())).toEqual(
    units.slice(0, path.length).map(({ text: said }) => said),
  );
  return without(units.filter((_, at) => at < path.length && path[at]?.origin !== "aperture"));
}

function without(units: readonly UpstreamUnit[]): readonly string[] {
  return units.filter(({ kind }) => kind !== "reasoning").map(({ text: said, role }) => `${role} ${said}`);
}

/** Everything before the first unit that the client changed is what it was, reasoning included. */
function expectSharedStart({ talk, last, lastBody }: Scene, asked: ClientBody, sent: Sent): void {
  const unchanged = sharedUnits(upstreamUnits(wireText(lastBody)), upstreamUnits(wireText(asked)));
  const path = talk.reported(last.sending);
  const places = path.flatMap(({ origin }, at) => (origin === "aperture" ? [] : [at]));
  const end = unchanged === 0 ? 0 : must(places[unchanged - 1], "each has its place") + 1;
  expect(sharedUnits(last.units, sent.units)).toBeGreaterThanOrEqual(end);
  const before = last.units.slice(0, end);
  expect(reasoningIn(sent.units).slice(0, reasoningIn(before).length)).toEqual(reasoningIn(before));
  const [fresh] = sent.sending.sent?.fresh ?? [];
  const fork = path.findIndex(({ id }) => id === fresh?.parent);
  if (fresh?.parent !== null) expect(fork + 1).toBeGreaterThanOrEqual(end);
}

/** A client that takes its edit back goes on where it was, with everything that was sent there. */
async function expectTheOldWay({ talk, last, body }: Scene, form: Form): Promise<void> {
  const again = messages(withNumber(body), (all) => [...all, user(text("As it was."))]);
  const undone = await talk.post(form(again));
  expect(refusals(undone)).toEqual([null]);
  const kept = body.model === "claude-opus-5-5" ? last.units : last.units.slice(0, -1);
  expect(sharedUnits(kept, undone.units)).toBe(kept.length);
  expect(reasoningIn(undone.units)).toHaveLength(reasoningIn(last.units).length + 1);
}
