import type { Random } from "../../src/base/index.ts";
import { isCommandTool } from "../../src/commands/index.ts";
import type { ParsedRequest, ReplyBlock } from "../../src/testing/index.ts";
import type { Posted } from "../support/planner-kit.ts";
import { failLaw } from "./law-error.ts";
import { type Block, seeBody } from "./seen-body.ts";

type Speaking = {
  readonly request: ParsedRequest;
  readonly random: Random;
  /** A number that was not used before. */
  readonly next: () => number;
  readonly thinking: () => ReplyBlock;
  readonly text: () => ReplyBlock;
  /** A call of one of the client's tools; null where it has none. */
  readonly call: (() => ReplyBlock) | null;
};

/** What a model says that uses our tools, alone or beside the client's; null: it does not this time. */
export function withHands(speaking: Speaking): readonly ReplyBlock[] | null {
  const { request, random, thinking, text, call } = speaking;
  const isOffered = request.tools.some((tool) => isCommandTool(String(tool["name"])));
  if (!isOffered || random.below(3) > 0) return null;
  const own = (): ReplyBlock => ownCall(speaking);
  const alone: readonly (() => readonly ReplyBlock[])[] = [
    () => [own()],
    () => [thinking(), own()],
    () => [thinking(), text(), own(), own()],
    () => [text(), own()],
  ];
  if (call === null) return random.pick(alone)();
  const mixed: readonly (() => readonly ReplyBlock[])[] = [
    () => [own(), call()],
    () => [thinking(), call(), own()],
    () => [thinking(), text(), call(), own(), call()],
  ];
  return random.pick([...alone, ...mixed])();
}

function ownCall({ request, random, next }: Speaking): ReplyBlock {
  const numbers = [...JSON.stringify(request.messages).matchAll(/#(\d+)/g)].map(([, number]) => number);
  const target = random.below(8) === 0 ? "900000" : (random.pick(["middle", ...numbers]) ?? "middle");
  const [name, input] = random.pick([
    ["archive", { target, reason: `not needed ${next()}` }],
    ["manage", { verb: "compress", target, level: random.pick(["trimmed", "minimal"]) }],
    ["manage", { verb: random.pick(["pin", "unpin", "focus"]), target }],
    ["note", { verb: "create", text: `Fact ${next()} holds for all parts.`, topic: "parts" }],
    ["read", { verb: "expand", target }],
    ["read", { verb: "manifest" }],
    ["manage", { verb: "explode", target }],
  ] as const);
  return { type: "tool_use", name: `aperture_${name}`, input };
}

/** What went up again for the same request: it was accepted, and each goes on with the one before. */
export function checkRounds({ attempts, rounds }: Posted): void {
  let before = attempts.at(-1)?.body ?? "{}";
  for (const { body, problem } of rounds) {
    if (problem !== null) failLaw("L1 rounds", problem, body.slice(-1_800));
    const [was, now] = [seeBody(before).units, seeBody(body).units];
    const at = was.findIndex(({ bytes, isOwn }, index) => bytes !== now[index]?.bytes && !isOwn);
    if (at !== -1) failLaw("L2 rounds", `unit ${at} is another one`, `${was[at]?.bytes} ${now[at]?.bytes}`);
    before = body;
  }
}

/** A client knows nothing of calls that are ours. */
export function checkHidden(content: readonly Block[]): void {
  const own = content.find(({ name }) => typeof name === "string" && isCommandTool(name));
  if (own !== undefined) failLaw("hidden", "the client got a call of ours", JSON.stringify(own));
}
