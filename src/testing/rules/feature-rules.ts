import { betaFor } from "../betas.ts";
import { isObject } from "../json-text.ts";
import { blockPath, type ParsedRequest } from "../parsed-request.ts";
import { invalid, type RequestProblem } from "../request-problem.ts";

/** Checks fields that exclude each other, and features that need a beta. */
export function* featureProblems(request: ParsedRequest): Generator<RequestProblem> {
  const { body } = request;
  if ((body["thread"] ?? null) !== null) {
    const problem = invalid("thread", "threads are not supported here; send the whole conversation");
    yield { ...problem, code: "thread_unsupported_request" };
  }
  if (request.maxTokens === 0 && request.stream) yield invalid("max_tokens", "0 excludes streaming");
  yield* compactionProblems(request);
  yield* compactionPositionProblems(request);
}

function* compactionProblems(request: ParsedRequest): Generator<RequestProblem> {
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

/** A signed summary replaces everything before it, so nothing may come before or beside it. */
function* compactionPositionProblems(request: ParsedRequest): Generator<RequestProblem> {
  for (const [number, message] of request.messages.entries()) {
    for (const [index, block] of message.content.entries()) {
      if (block.type !== "compaction") continue;
      const isSigned = (block["signature"] ?? null) !== null;
      if (isSigned && (number > 0 || message.content.length > 1)) {
        const path = blockPath({ message: number, block: index });
        yield invalid(path, "a signed compaction block is the first message, and alone in it");
      }
    }
  }
}
