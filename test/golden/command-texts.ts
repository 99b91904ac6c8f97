import { must, unwrap } from "../../src/base/index.ts";
import { type Command, parseCommand } from "../../src/commands/index.ts";
import type { Frame } from "../../src/engine/frames/index.ts";
import type { ModelReply, ReplyBlock } from "../../src/testing/index.ts";
import { commandCall } from "../support/command-call.ts";
import { CommandKit, kitNonce } from "../support/command-kit.ts";
import { upstreamUnits } from "../support/upstream-units.ts";
import { deltaLine, withoutTokens } from "./print-session.ts";

const bookLines = Array.from(
  { length: 60 },
  (_, at) => `shelf ${at}: ${at * 7} books, ${at * 3} of them lent`,
);
const text = (words: string): ReplyBlock => ({ type: "text", text: words });
const call = (command: Command): ReplyBlock => ({ type: "tool_use", ...commandCall(command) });
const read: ReplyBlock = { type: "tool_use", name: "read", input: { path: "shelves.txt" } };

/** What is said before the command: a file was read, spoken of, and left behind. */
const before: readonly ModelReply["content"][] = [
  [read],
  [text("The shelves are in order; shelf 7 has 49 books.")],
  [text("The reading room opens at nine.")],
];

type CommandPage = {
  /** One command in both forms, and everything that comes of it in each. */
  readonly text: string;
  /** The manifests of the next turn to the byte. In the text they stand without their token counts. */
  readonly manifests: readonly string[];
};

export async function commandPage(form: string, first: readonly string[] = []): Promise<CommandPage> {
  const { name, input } = commandCall(unwrap(parseCommand(form)));
  const called = await played(form, first, "tools");
  const written = await played(form, first, "text");
  const isSame = called.frames.join("\n") === written.frames.join("\n");
  const text = `${[
    `as text   ${form}`,
    `as a call ${name} ${JSON.stringify(input)}`,
    ...first.map((one) => `after     ${one}`),
    section("what it writes down", called.frames),
    section("what the model is told", [called.told]),
    section("what the next turn says", [withoutTokens(called.tail)]),
    section("as text, what it writes down", isSame ? ["the same"] : written.frames),
    section("as text, what the model is told", [written.told]),
    section("as text, what the next turn says", [withoutTokens(written.tail)]),
  ].join("\n")}\n`;
  return { text, manifests: [called.tail, written.tail] };
}

type Played = { readonly frames: readonly string[]; readonly told: string; readonly tail: string };

async function played(form: string, first: readonly string[], commands: "tools" | "text"): Promise<Played> {
  const said = (one: string): ReplyBlock =>
    commands === "text" ? text(`${one} ${kitNonce}`) : call(unwrap(parseCommand(one)));
  const earlier = first.map(said);
  const prepared: readonly ModelReply["content"][] = earlier.length === 0 ? [] : [earlier, [text("Good.")]];
  const script = [...before, ...prepared, [said(form)], [text("Done.")], [text("Yes.")]];
  const kit = new CommandKit({
    model: () => ({ content: must(script.shift(), "a reply is left") }),
    commands,
  });
  await kit.say("Look at the shelves.");
  await kit.results(bookLines.join("\n"));
  await kit.say("When do we open?");
  if (earlier.length > 0) await kit.say("Prepare it.");
  const { seq } = await kit.state();
  const { rounds } = await kit.say("Go on.");
  const frames = (await kit.frames(seq)).filter(({ cause }) => cause.type === "command");
  await kit.say("And then?");
  if (kit.problems().length > 0) throw new Error(kit.problems().join("; "));
  const { body } = must(rounds[0], "it was told");
  return {
    frames: frames.flatMap(frameLines),
    told: commands === "text" ? tailOf(body) : resultIn(body),
    tail: tailOf(must(kit.sent.at(-1), "it was sent").body),
  };
}

/** The frames of commands, each with what undoes it. */
export function frameLines({ actor, cause, deltas }: Frame): readonly string[] {
  const told = deltas
    .filter(({ type }) => type !== "tokens-counted")
    .map((delta) => `    ${deltaLine(delta)}`);
  const step = cause.step === null ? "no step" : `step ${cause.step}`;
  return told.length === 0
    ? []
    : [`${actor}, ${step}${cause.reason === "" ? "" : `: ${cause.reason}`}`, ...told];
}

/** The results of our own calls, the last ones in a body. */
export function resultIn(body: string): string {
  const units = upstreamUnits(body).map((unit) => JSON.parse(unit.text) as Record<string, unknown>);
  const last = units.findLastIndex(({ type }) => type === "tool_result");
  return contentOf(must(units[last], "there is a result"));
}

/** What stands at the end of a body: the manifest, and a hint where there is one. */
export function tailOf(body: string): string {
  return contentOf(
    JSON.parse(must(upstreamUnits(body).at(-1), "it has units").text) as Record<string, unknown>,
  );
}

function contentOf({ content, text: words }: Record<string, unknown>): string {
  return String(typeof content === "string" ? content : (words ?? JSON.stringify(content)));
}

export function section(title: string, lines: readonly string[]): string {
  const shown = lines.length === 0 ? ["nothing"] : lines.flatMap((line) => line.split("\n"));
  return `\n${title}\n${shown.map((line) => `  ${line.length <= 200 ? line : `${line.slice(0, 197)}...`}`.trimEnd()).join("\n")}`;
}

type Scene = {
  readonly title: string;
  readonly about: string;
  readonly says: string;
  readonly reply: ModelReply["content"];
};

/** A memory from its beginning to its end, told as a story. */
export async function memoryStory(scenes: readonly Scene[]): Promise<string> {
  const script = scenes.flatMap(({ reply }) =>
    reply.some(({ type }) => type === "tool_use") ? [reply, [text("Good.")]] : [reply],
  );
  const kit = new CommandKit({ model: () => ({ content: must(script.shift(), "a reply is left") }) });
  const chapters: string[] = [];
  for (const { title, about, says, reply } of scenes) {
    const { seq } = await kit.state().catch(() => ({ seq: 0 }));
    if (title === "5. Compact") kit.clock.advance(2 * 60 * 60_000);
    const { rounds, attempts } = await kit.say(says);
    const isRead = reply.some((block) => block.type === "tool_use" && block.name === "read");
    if (isRead) await kit.results(bookLines.join("\n"));
    const frames = (await kit.frames(seq)).filter(({ cause }) => ["command", "policy"].includes(cause.type));
    const acts = frames.filter(({ cause }) => cause.reason !== "renditions" && cause.reason !== "references");
    const answer =
      rounds[0] === undefined ? [] : [section("it is told", resultTexts(rounds[0].body, reply.length))];
    chapters.push(
      [
        `## ${title}\n\n${about}`,
        section("the user says", [says]),
        section("what the model sees at the end of the request", [tailOf(must(attempts[0], "sent").body)]),
        section(
          "the model",
          reply.map((block) => replyLine(block)),
        ),
        ...answer,
        section("what is written down", acts.flatMap(frameLines)),
      ].join("\n"),
    );
  }
  if (kit.problems().length > 0) throw new Error(kit.problems().join("; "));
  return `${chapters.join("\n\n")}\n`;
}

function resultTexts(body: string, calls: number): readonly string[] {
  const units = upstreamUnits(body).map((unit) => JSON.parse(unit.text) as Record<string, unknown>);
  return units
    .filter(({ type }) => type === "tool_result")
    .slice(-calls)
    .map(contentOf);
}

function replyLine(block: ReplyBlock): string {
  if (block.type === "text") return `says: ${block.text}`;
  return block.type === "tool_use" ? `calls ${block.name} ${JSON.stringify(block.input)}` : block.type;
}
