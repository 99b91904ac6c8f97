import { betaFor } from "./betas.ts";
import { isObject } from "./json-text.ts";
import { invalid, type Problem } from "./problem.ts";
import { type ParsedRequest, placeOf } from "./request.ts";

/** Fields that exclude each other, and features that are asked for by name. */
export function* featureProblems(request: ParsedRequest): Generator<Problem> {
  const { body } = request;
  if ((body["thread"] ?? null) !== null) {
    const problem = invalid("thread", "threads are not supported here; send the whole conversation");
    yield { ...problem, code: "thread_unsupported_request" };
  }
  if (request.maxTokens === 0 && request.stream) yield invalid("max_tokens", "0 excludes streaming");
  yield* compactionProblems(request);
  yield* compactionPlaceProblems(request);
}

function* compactionProblems(request: ParsedRequest): Generator<Problem> {
  const { body } = request;
  const compaction = body["compaction"] ?? null;
  if (!isObject(compaction)) return;
  if (!request.betas.has(betaFor.compaction))
    yield invalid("compaction", `needs the beta ${betaFor.compaction}`);
  if (compaction["type"] !== "summarize") yield invalid("compaction.type", "expected summarize");
  if (request.endpoint === "count_tokens") yield invalid("compaction", "cannot be counted");
  for (const name of ["context_management", "stop_sequences", "output_format"]) {
    if ((body[name] ?? null) !== null) yield invalid("compaction", `excludes ${name}`);
  }
  const output = isObject(body["output_config"]) ? body["output_config"] : {};
  const budget = isObject(output["task_budget"]) ? output["task_budget"] : {};
  if ((output["format"] ?? null) !== null) yield invalid("compaction", "excludes output_config.format");
  if ((budget["remaining"] ?? null) !== null) yield invalid("compaction", "excludes task_budget.remaining");
  const choice = isObject(body["tool_choice"]) ? body["tool_choice"]["type"] : "auto";
  if (choice === "any" || choice === "tool") yield invalid("compaction", "excludes forced tools");
}

/** A signed summary stands for everything before it, so nothing can stand before or beside it. */
function* compactionPlaceProblems(request: ParsedRequest): Generator<Problem> {
  for (const [number, message] of request.messages.entries()) {
    for (const [index, block] of message.content.entries()) {
      if (block.type !== "compaction") continue;
      const signed = (block["signature"] ?? null) !== null;
      if (signed && (number > 0 || message.content.length > 1)) {
        const place = placeOf({ message: number, block: index });
        yield invalid(place, "a signed compaction block is the first message, and alone in it");
      }
    }
  }
}
