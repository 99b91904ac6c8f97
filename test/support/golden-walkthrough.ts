import { must } from "../../src/base/index.ts";
import type { Frame } from "../../src/engine/index.ts";
import { deltaLine, originOf, shortened } from "./golden-print.ts";
import type { GoldenExchange, Played } from "./golden-session.ts";
import { wireText } from "./golden-talk.ts";
import { seen, sharedUnits, type UpstreamUnit, upstreamUnits } from "./golden-units.ts";

/** The second request of a session, told from its first byte to its last record. */
export function walkthroughText(played: Played): string {
  const [first, second] = played.exchanges;
  const before = must(first, "there is a first request");
  const now = must(second, "there is a second request");
  return `${[
    opening,
    clientPart(now),
    foundPart(now),
    upstreamPart(before, now),
    marksPart(now),
    recordedPart(played.frames),
    cachePart(before, now),
    closing,
  ].join("\n\n")}\n`;
}

const opening = `# One request, byte by byte

This page follows one request through Aperture: a tool's result on its way to a model. It is generated from the case
\`test/golden/cases/tools\` by \`test/golden/walkthrough.test.ts\` and compared with what the code does, so it is true
today. The words in it are those of [VOCABULARY.md](../../VOCABULARY.md); the files it names are under
\`src/session/ledger\` unless they say otherwise.

What happened before: the client asked "Which books about rivers do we have?", and the model answered with a thought and
a call of the tool \`list\`. The client has run the tool and now sends its result. Like every client it sends the whole
talk again.`;

const closing = `## What would have been otherwise

- Had the client edited something old, the path would have forked at that unit: everything before it would have kept its
  bytes, and reasoning behind it would have been left out, because the provider would refuse it. See the case \`edit\`.
- Had Aperture been restarted, \`remember.ts\` would have put the path back from the log. See the case \`restart\`.
- Had the model been one that does not bind its reasoning, the last text would have stood inside the user's message, and
  the next request would have left it out. See the case \`unbound-tail\`.
- Had anything failed, the client's own words would have gone up, without the reasoning (\`plain.ts\`). No failure of
  ours becomes the client's.`;

function clientPart({ client }: GoldenExchange): string {
  const units = upstreamUnits(wireText(client));
  return `## What the client sent

\`take\` in \`desk.ts\` gets the body whole. \`ingestRequest\` in \`src/protocols\` finds its units: each tool, each system
text, each block of a message (\`>\` begins one). Nothing is written anew; a unit is a slice of the bytes that came.

${listing(units.map((unit, at) => `${numbered(at)}${unitText(unit)}`))}`;
}

function foundPart({ client, posted }: GoldenExchange): string {
  const fresh = posted.sending.sent?.fresh ?? [];
  const known = upstreamUnits(wireText(client)).map((unit, at) => {
    const sent = fresh.find((one) => one.unit === at);
    const how = sent === undefined ? "known" : sent.origin === "model" ? "heard" : "new";
    return `${numbered(at)} ${how.padEnd(6)} ${unit.role} ${unit.kind}`;
  });
  return `## What the desk found

The session has a name (\`x-aperture-session\`), so \`lines.ts\` has its ledger: a tree of all units ever sent for it.
\`follow.ts\` walks down that tree as long as it says what the client says, past units of ours, which the client does not
know. Bytes need not be equal: \`tolerance.ts\` lists the liberties clients take.

${listing(known)}

*Known* was sent before, and stands in the ledger with the bytes it had then. *Heard* is what the model answered last
time: the ledger has it from the answer and now sees it repeated, so nobody has edited it. *New* nobody has sent yet.`;
}

function upstreamPart(before: GoldenExchange, now: GoldenExchange): string {
  const shared = sharedUnits(seen(before.units), seen(now.units));
  const lines = now.units.map((unit, at) => {
    const sign = at < shared ? "=" : "+";
    return `${sign} ${originOf(now, unit).padEnd(8)}${unitText(unit)}`;
  });
  const reasons = now.units.flatMap((unit) => (originOf(now, unit) === "aperture" ? [reasonOf(unit)] : []));
  return `## What went upstream

\`stream-ledger.ts\` writes the path: what was sent before (\`=\`), byte for byte, and what is new (\`+\`). Who said a unit
stands in the second column.

${listing(lines)}

Only what says \`aperture\` is ours. Why each of it is there, in order:

${reasons.map((reason, at) => `${at + 1}. ${reason}`).join("\n")}

All of it stays, even what the model no longer sees: what it has said is bound to everything before it, so what was sent
once is sent for ever. That is why the client's own words are never changed either.`;
}

function reasonOf({ section, text, head }: UpstreamUnit): string {
  if (section === "system")
    return "The instructions, once, behind the client's system texts: what our lines mean.";
  const turn = /turn (\d+)/.exec(text)?.[1] ?? "";
  if (head?.includes("clear_at")) {
    return turn === "1"
      ? "What held for turn 1 only. The user has spoken since, so the provider no longer shows it to the model."
      : `What holds for turn ${turn} only: a system message with \`clear_at\`, shown until the user speaks again.`;
  }
  return head === null
    ? `The line of turn ${turn}. Nothing may stand before a tool result, so it stands behind it.`
    : `The line of turn ${turn}, in front of what the user said.`;
}

function marksPart(now: GoldenExchange): string {
  const marked = now.units.filter(({ mark }) => mark !== null);
  const lines = marked.map((unit) => `${unit.mark} on ${unitText(unit).trim()}`);
  return `## Where the marks are

A cache mark is no part of a unit. The client's marks are taken off when a unit is read and put on the same units when
the body is written (\`emitMarked\` in \`src/protocols\`), so a mark may move on without changing what is cached.

${listing(lines)}

What is ours stands behind the last mark or between two, and never takes one of the four.`;
}

function recordedPart(frames: readonly Frame[]): string {
  const at = frames.findIndex(({ deltas }) =>
    deltas.some((delta) => delta.type === "exchange-opened" && delta.exchange.id === 2),
  );
  const lines = frames
    .slice(at, at + 2)
    .flatMap(({ seq, actor, cause, deltas }) => [
      `frame ${seq}, by ${actor}: ${cause.type}`,
      ...deltas.filter(({ type }) => type !== "tokens-counted").map((delta) => `    ${deltaLine(delta)}`),
    ]);
  return `## What was recorded

The desk hands the recorder a report: the units it sent for the first time, each with its parent, and the leaf of the
path. The engine's thread turns that into one frame for the request and one for the answer. Nothing waits for it.

${listing(lines)}

A unit of ours shows no block: blocks are what the client and the model said.`;
}

function cachePart(before: GoldenExchange, now: GoldenExchange): string {
  const [old, usage] = [before.posted.answer.usage, now.posted.answer.usage];
  const shared = sharedUnits(seen(before.units), seen(now.units));
  const figure = (name: "cache_read_input_tokens" | "cache_creation_input_tokens" | "input_tokens") =>
    `${old?.[name]} tokens before, ${usage?.[name]} now`;
  return `## What the cache said

${shared} of ${now.units.length} units were sent before, from the first on. The provider counted:

${listing([
  `read from the cache:   ${figure("cache_read_input_tokens")}`,
  `written to the cache:  ${figure("cache_creation_input_tokens")}`,
  `neither:               ${figure("input_tokens")}`,
])}

All that the first request wrote was read by the second. What is neither is what stands behind the last mark: ours.`;
}

/** `>` begins a message. */
function unitText({ section, role, head, text }: UpstreamUnit): string {
  const who = section === "messages" ? role : section === "tools" ? "tool" : "system";
  const beginning = head?.includes("clear_at") ? `${head} ` : "";
  return ` ${head === null ? " " : ">"} ${who.padEnd(9)} ${beginning}${shortened(text)}`;
}

function numbered(at: number): string {
  return String(at + 1).padStart(2);
}

function listing(lines: readonly string[]): string {
  return ["```text", ...lines, "```"].join("\n");
}
