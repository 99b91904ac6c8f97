import { must } from "../../src/base/index.ts";
import type { Frame } from "../../src/engine/frames/index.ts";
import type { PlannedRequest, Wishes } from "../../src/exchange/index.ts";
import { wireText } from "../support/scripted-client.ts";
import { seen, sharedUnits, type UpstreamUnit, upstreamUnits } from "../support/upstream-units.ts";
import type { GoldenExchange, PlayedSession } from "./play-session.ts";
import { deltaLine, originOf, shortened } from "./print-session.ts";

/** The case the page is made from. */
export const walkedCase = "one-turn";

type Numbered = NonNullable<NonNullable<PlannedRequest["sent"]>["fresh"][number]["numbered"]>;

/** The second request of a session, told from its first byte to what the third one says of it. */
export function walkthroughText({ exchanges, frames, wishes }: PlayedSession): string {
  const [before, now, next] = [0, 1, 2].map((at) => must(exchanges[at], "there are three requests"));
  const asked = must(now, "there is a second request");
  const first = must(before, "there is a first request");
  const [told, answered, selected] = framesAround(frames);
  return `${[
    opening,
    clientPart(asked),
    numbersPart(first, asked),
    ownPart(asked),
    upstreamPart(first, asked),
    answerPart(asked),
    recordedPart([told, answered]),
    wishesPart(wishesAt(wishes, answered)),
    selectionPart(selected, must(next, "there is a third request")),
    closing,
  ].join("\n\n")}\n`;
}

const opening = `# One turn, byte by byte

This page follows one request through Aperture: what a client sends, what of it a model gets to read, what comes back,
what is written down, and what the next turn says of it. It is generated from the case \`test/golden/cases/${walkedCase}\`
by \`test/golden/walkthrough.test.ts\` and compared with what the code does, so it is true today. The words in it are those
of [VOCABULARY.md](../../VOCABULARY.md); file names are unique in \`src\`.

What happened before: the user asked "Which books about rivers do we have?", and the model answered with a thought and a
call of the tool \`list\`. The client has run the tool, and the user has added a word. Like every client it sends the
whole talk again.`;

const closing = `## What would have been otherwise

- Had the user said nothing and only the result come, there would have been no line of headers: the next one names its
  blocks too. See the case \`tools\`.
- Had the model been one that does not bind its reasoning, the manifest would have been a last text, and the next request
  would have left it out. See the case \`dropped-compact\`. Where nothing clears itself and nothing may be left out, it is
  said once, and then only what changed. See the case \`selected-kept\`.
- Had the headers been \`full\`, each message and part would have had a line of its own. See the case \`clearing-full\`.
- Had the client edited something old, the path would have forked at that unit: everything before it would have kept its
  bytes, and reasoning behind it would have been left out, because the provider would refuse it. See the case \`edit\`.
- Had Aperture been restarted, \`stream-opener.ts\` would have put the path back from the log. See the case \`restart\`.
- Had the model repeated a line of ours, the client would not have got it. See the case \`echo\`.
- Had anything failed, the client's own words would have gone up, without the reasoning (\`plain-body.ts\`). No failure of
  ours becomes the client's.`;

function clientPart({ client }: GoldenExchange): string {
  const units = upstreamUnits(wireText(client));
  return `## 1. What the client sent

\`plan\` in \`session-planner.ts\` gets the body whole. \`readWireRequest\` in \`src/protocols\` finds its units: each tool, each system
text, each block of a message (\`>\` begins one). Nothing is written anew; a unit is a slice of the bytes that came.

${listing(units.map((unit, at) => `${count(at)}${unitText(unit)}`))}`;
}

function numbersPart(before: GoldenExchange, now: GoldenExchange): string {
  const lines = upstreamUnits(wireText(now.client)).map((unit, at) => {
    const fresh = freshAt(now, at);
    const how = fresh === undefined ? "known" : fresh.origin === "model" ? "heard" : "new";
    const numbered = (fresh ?? freshAt(before, at))?.numbered ?? null;
    return `${count(at)} ${how.padEnd(6)} ${numberText(numbered)} ${unit.kind}`;
  });
  return `## 2. What is known of it, and what it is called

The session has a name (\`x-aperture-session\`), so \`live-streams.ts\` has its ledger: a tree of all units ever sent for it.
\`match-path.ts\` walks down that tree as long as it says what the client says, past units of ours, which the client does not
know. Bytes need not be equal: \`same-block.ts\` lists the liberties clients take. What is new gets the next numbers of the
session (\`block-numbers.ts\`): by them user, model and log mean the same block.

${listing(lines)}

*Known* was sent before, and stands in the ledger with the bytes it had then. *Heard* is what the model answered last
time: the ledger has it from the answer and now sees it repeated, so nobody has edited it. *New* nobody has sent yet.
Tokens are estimated until a provider counts.`;
}

function ownPart(now: GoldenExchange): string {
  const own = ownIn(now).filter(({ section, text }) => section === "messages" && !isOld(now, text));
  const [header, manifest] = own.map(ownWords);
  return `## 3. What the model is told about it

\`block-headers.ts\` writes one line, because the user speaks: the turn, the time, the numbers of all blocks the model has not
been told of, the size of the large one and the turn at which it expires.

${listing([header ?? ""])}

\`write-tail.ts\` writes the manifest from what the log last said and what has been sent since: how many blocks there are in
front, in the middle and in the run that goes on, what they take, and what is left.

${listing((manifest ?? "").split("\n"))}

\`add-notes.ts\` decides how the manifest travels. This model binds its reasoning to everything before it and takes system
messages that clear themselves, and the upstream is one that may be asked for them: so it is one, with \`clear_at\`. The
model sees it until the user speaks again; its bytes stay where they are.`;
}

function upstreamPart(before: GoldenExchange, now: GoldenExchange): string {
  const shared = sharedUnits(seen(before.units), seen(now.units));
  const lines = now.units.map((unit, at) => {
    const sign = at < shared ? "=" : "+";
    const marked = unit.mark === null ? "" : "  <- mark";
    return `${sign} ${originOf(now, unit).padEnd(8)}${unitText(unit)}${marked}`;
  });
  const [old, usage] = [before.posted.answer.usage, now.posted.answer.usage];
  return `## 4. What went upstream

\`planned-units.ts\` writes the path: what was sent before (\`=\`), byte for byte, and what is new (\`+\`). Who said a unit
stands in the second column. Nothing may stand before a result, so the line of headers stands behind it.

${listing(lines)}

All of it stays for good: what the model has said is bound to everything before it. That is why the client's own words are
never changed, and why the manifest of turn 1 is still there, though the model no longer sees it. A cache mark is no part
of a unit: the client's marks are put where the client had them, and what is ours never takes one. The provider says what
that is worth:

${listing([
  `sent before:           ${shared} of ${now.units.length} units, from the first on`,
  `written to the cache:  ${old?.cache_creation_input_tokens} tokens before, ${usage?.cache_creation_input_tokens} now`,
  `read from the cache:   ${old?.cache_read_input_tokens} tokens before, ${usage?.cache_read_input_tokens} now`,
])}`;
}

function answerPart({ posted }: GoldenExchange): string {
  const { content } = JSON.parse(posted.body.toString()) as { readonly content: readonly object[] };
  const lines = content.map(
    (block, at) => `${numberText(posted.numbered?.[at] ?? null)} ${shortened(JSON.stringify(block))}`,
  );
  return `## 5. What came back

The answer goes to the client as it comes; only lines of ours that a model may repeat are taken out. The desk hears it
(\`answer-nodes.ts\`) and gives its blocks the next numbers. The model learns them from the next line of headers, because nothing of
ours is ever put among its own words.

${listing(lines)}`;
}

function recordedPart(frames: readonly Frame[]): string {
  return `## 6. What was recorded

The desk hands the recorder a report: the units it sent for the first time, each with its parent, and the leaf of the
path. The engine's thread turns that into one frame for the request and one for the answer. Nothing waits for it. A unit of
ours shows no block: blocks are what the client and the model said.

${listing(frames.flatMap(frameLines))}`;
}

function wishesPart({ seq, turn, facts, tokenRate: rate }: Wishes): string {
  const { primacy, middle, recency } = facts;
  const zones = [primacy, middle, recency].map(({ blocks, tokens }) => `${blocks} blocks, ${tokens} tokens`);
  return `## 7. What the log tells the desk

After each answer the recorder sends its wishes to the planner (\`src/recorder/wishes/wishes-builder.ts\`), so that
the next request is planned without asking the log: all that a manifest says, taken from the state and never from an
earlier manifest.

${listing([
  `up to frame ${seq}, turn ${turn}`,
  `in front:         ${zones[0]}`,
  `in the middle:    ${zones[1]}`,
  `in this run:      ${zones[2]}`,
  `used:             ${facts.used} tokens of ${facts.window}, free ${facts.free}`,
  `counted by the provider for each token we had estimated: ${rate.toFixed(2)}`,
])}`;
}

function selectionPart(selected: Frame, next: GoldenExchange): string {
  const own = ownIn(next).filter(({ section, text }) => section === "messages" && !isOld(next, text));
  return `## 8. What the user does, and the next turn

The user points at the result. That is a frame like any other, and the desk is briefed again.

${listing(frameLines(selected))}

With the next prompt the model reads the numbers of its own answer, what the user has selected, and that this is new. The
manifest before it has cleared itself.

${listing(own.flatMap((unit) => ownWords(unit).split("\n")))}

The turn after that no longer tells it as news. What is selected stays in every manifest until the user lets it go.`;
}

type Around = readonly [asked: Frame, answered: Frame, selected: Frame];

/** The frames of the second request and its answer, and the one after them. */
function framesAround(frames: readonly Frame[]): Around {
  const at = frames.findIndex(({ deltas }) =>
    deltas.some((delta) => delta.type === "exchange-opened" && delta.exchange.id === 2),
  );
  const [asked, answered, selected] = frames.slice(at, at + 3);
  return [must(asked, "it was asked"), must(answered, "it was answered"), must(selected, "the user acted")];
}

function wishesAt(wishes: readonly Wishes[], { seq }: Frame): Wishes {
  return must(
    wishes.find((wishes) => wishes.seq === seq),
    "each answer is followed by a briefing",
  );
}

function frameLines({ seq, turn, actor, cause, deltas }: Frame): readonly string[] {
  const told = deltas.filter(({ type }) => type !== "tokens-counted");
  return [
    `frame ${seq}, turn ${turn}, by ${actor}: ${cause.type}`,
    ...told.map((delta) => `    ${cut(deltaLine(delta))}`),
  ];
}

/** A page is read, not searched: of the longest records the beginning will do. */
function cut(line: string): string {
  return line.length <= 150 ? line : `${line.slice(0, 147)}...`;
}

function freshAt({ posted }: GoldenExchange, at: number) {
  return posted.sending.sent?.fresh.find(({ clientIndex: unit }) => unit === at);
}

function ownIn(exchange: GoldenExchange): readonly UpstreamUnit[] {
  return exchange.units.filter((unit) => originOf(exchange, unit) === "aperture");
}

/** Whether it was sent with an earlier turn. */
function isOld({ posted }: GoldenExchange, text: string): boolean {
  const fresh = posted.sending.sent?.fresh ?? [];
  return !fresh.some(({ bytes }) => Buffer.from(bytes).toString() === text);
}

function ownWords({ text }: UpstreamUnit): string {
  return (JSON.parse(text) as { readonly text: string }).text;
}

function numberText(numbered: Numbered | null): string {
  if (numbered === null) return "".padEnd(28);
  const { block, message, tokens } = numbered;
  return `#${block}, message ${message}, ~${tokens} tokens`.padEnd(28);
}

/** `>` begins a message. */
function unitText({ section, role, head, text }: UpstreamUnit): string {
  const who = section === "messages" ? role : section === "tools" ? "tool" : "system";
  const beginning = head?.includes("clear_at") ? `${head} ` : "";
  return ` ${head === null ? " " : ">"} ${who.padEnd(9)} ${beginning}${shortened(text)}`;
}

function count(at: number): string {
  return String(at + 1).padStart(2);
}

function listing(lines: readonly string[]): string {
  return ["```text", ...lines, "```"].join("\n");
}
