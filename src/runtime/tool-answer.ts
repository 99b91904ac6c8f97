import type { Json } from "../base/index.ts";
import { withoutNonce } from "../render/index.ts";
import type { WireBlock } from "./provider.ts";
import { isFields, pictureProblem, shownBlock } from "./shown-block.ts";
import { saysSomething } from "./takeable.ts";
import type { ToolAnswer } from "./tool.ts";

/**
 * What a tool has returned, whatever its types say: words, or blocks that may stand in a result. Lists of
 * other things that have a type are data. Throws where it cannot be written down or shown: that is found out
 * here, where the call can still fail.
 */
export function toolAnswer(returned: unknown): ToolAnswer {
  if (typeof returned === "string") return returned;
  const written = JSON.stringify(returned) ?? "";
  const plain = written === "" ? null : (JSON.parse(written) as Json);
  const all: readonly Json[] = Array.isArray(plain) ? plain : [plain];
  const problem = all.map(pictureProblem).find((one) => one !== null);
  if (problem !== undefined) throw new Error(problem);
  const blocks = Array.isArray(plain) ? all.map(shownBlock) : [null];
  return blocks.every((block) => block !== null) ? blocks.filter(saysSomething) : written;
}

/** Only we write the mark, so a result that names it names nobody. */
export function withoutMark(answer: ToolAnswer, nonce: string): ToolAnswer {
  if (typeof answer === "string") return withoutNonce(answer, nonce);
  return answer.map((block) => textsWithout(block, nonce) as WireBlock); // as it was, but for its texts
}

/** Wherever a text stands. What is in base64 nobody reads as one, and it would be damaged. */
function textsWithout(value: Json, nonce: string): Json {
  if (typeof value === "string") return withoutNonce(value, nonce);
  if (Array.isArray(value)) return value.map((one) => textsWithout(one, nonce));
  if (!isFields(value) || value["type"] === "base64") return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, textsWithout(field, nonce)]));
}
