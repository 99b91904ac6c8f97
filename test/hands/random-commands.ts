import type { Random } from "../../src/base/index.ts";
import type { ModelReply, ReplyBlock } from "../../src/testing/index.ts";

/** What a model may say in a world of commands: words, calls of the client, calls of ours, or both. */
export function randomReply(random: Random, next: () => number): ModelReply["content"] {
  const thought = (): ReplyBlock => ({ type: "thinking", thinking: `thought ${next()}` });
  const text = (): ReplyBlock => ({ type: "text", text: `said ${next()}, shelf ${random.below(60)}` });
  const read = (): ReplyBlock => ({ type: "tool_use", name: "read", input: { n: next() } });
  const own = (): ReplyBlock => randomCall(random, next);
  const forms: readonly (() => readonly ReplyBlock[])[] = [
    () => [text()],
    () => [thought(), text()],
    () => [thought(), read()],
    () => [text(), read(), read()],
    () => [own()],
    () => [thought(), own(), own()],
    () => [thought(), text(), own()],
    () => [own(), read()],
    () => [thought(), read(), own(), own(), read()],
    () => [text(), own(), text()],
    () => Array.from({ length: 1 + random.below(24) }, own),
  ];
  return random.pick(forms)();
}

type Input = Readonly<Record<string, string>>;

/** A call of one of our tools, well made more often than not. */
function randomCall(random: Random, next: () => number): ReplyBlock {
  const target = randomTarget(random);
  const words = `Fact ${next()}: shelf ${random.below(60)} holds ${random.below(900)} books.`;
  const made: readonly (readonly [string, Input])[] = [
    ["archive", { target, reason: `not needed ${next()}` }],
    ["manage", { verb: "compress", target, level: random.pick(["trimmed", "minimal", "summarized"]) }],
    ["manage", { verb: "pin", target, position: random.pick(["top", "bottom"]) }],
    ["manage", { verb: "unpin", target }],
    ["manage", { verb: "focus", target }],
    ["note", { verb: "create", text: words, topic: "shelves" }],
    ["note", { verb: "update", text: words, supersedes: `${1 + random.below(40)}` }],
    ["read", { verb: "expand", target }],
    ["read", { verb: "recall", target: "books lent" }],
    ["read", { verb: random.pick(["diff", "manifest"]) }],
    ["manage", { verb: "explode", target }],
    ["archive", { target }],
    ["note", {}],
    ["recall", { query: "books" }],
  ];
  const [name, input] = random.pick(made);
  return { type: "tool_use", name: `aperture_${name}`, input };
}

function randomTarget(random: Random): string {
  const one = (): number => 1 + random.below(50);
  return random.pick([
    `${one()}`,
    `#${one()}, #${one()}`,
    `${one()}..${one()}`,
    "middle",
    "stale",
    "message-4..9",
    "900",
  ]);
}
