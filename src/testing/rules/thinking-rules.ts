import { betaFor } from "../betas.ts";
import { isObject } from "../json-text.ts";
import { blockPath, isThinking, type ParsedRequest, speakerTurns } from "../parsed-request.ts";
import { invalid, type RequestProblem } from "../request-problem.ts";

const displays = ["summarized", "omitted", "updates"];
const behaviours = ["error", "drop_block"];

export function* thinkingConfigProblems(request: ParsedRequest): Generator<RequestProblem> {
  const { thinking, rules } = request;
  if (thinking === null) return;
  const type = String(thinking["type"]);
  if (!["enabled", "adaptive", "disabled", "between_tools"].includes(type)) {
    yield invalid("thinking.type", "expected enabled, adaptive, disabled or between_tools");
    return;
  }
  if (!rules.thinking.some((known) => known === type)) {
    yield invalid(
      "thinking.type",
      `this model does not support "${type}", only ${rules.thinking.join(", ")}`,
    );
  }
  if (type === "enabled") yield* budgetProblems(request);
  const display = thinking["display"] ?? null;
  if (display !== null && !displays.includes(String(display))) {
    yield invalid("thinking.display", `expected ${displays.join(", ")}`);
  }
  yield* bindingControlProblems(request);
}

function* budgetProblems({ thinking, maxTokens }: ParsedRequest): Generator<RequestProblem> {
  const budget = thinking?.["budget_tokens"];
  if (typeof budget !== "number" || !Number.isSafeInteger(budget) || budget < 1024) {
    yield invalid("thinking.budget_tokens", "expected a whole number of at least 1024");
  } else if (maxTokens !== null && budget >= maxTokens) {
    yield invalid("thinking.budget_tokens", "must be smaller than max_tokens");
  }
}

function* bindingControlProblems({ thinking, betas }: ParsedRequest): Generator<RequestProblem> {
  const binding = thinking?.["block_binding"] ?? null;
  if (binding === null) return;
  if (!betas.has(betaFor.bindingControls)) {
    yield invalid("thinking.block_binding", `needs the beta ${betaFor.bindingControls}`);
    return;
  }
  const behaviour = isObject(binding) ? (binding["prefix_mismatch_behavior"] ?? "error") : "";
  if (!behaviours.includes(String(behaviour))) {
    yield invalid("thinking.block_binding.prefix_mismatch_behavior", `expected ${behaviours.join(" or ")}`);
  }
}

export function* thinkingPositionProblems(request: ParsedRequest): Generator<RequestProblem> {
  for (const [number, message] of request.messages.entries()) {
    const last = message.content.at(-1);
    if (message.role === "assistant" && last !== undefined && isThinking(last)) {
      const path = blockPath({ message: number, block: message.content.length - 1 });
      yield invalid(path, "the final block of an assistant message cannot be `thinking`");
    }
  }
  yield* runningLoopProblems(request);
}

/** Manual mode requires the reasoning that led to the call whose result it gets. */
function* runningLoopProblems(request: ParsedRequest): Generator<RequestProblem> {
  if (request.thinking?.["type"] !== "enabled") return;
  const turns = speakerTurns(request.messages).filter(({ role }) => role !== "system");
  const results = turns.at(-1);
  const calls = turns.at(-2);
  if (results?.role !== "user" || calls?.role !== "assistant") return;
  if (!results.blocks.some(({ block }) => block.type === "tool_result")) return;
  const opening = calls.blocks[0];
  if (opening === undefined || isThinking(opening.block)) return;
  const path = blockPath({ message: opening.message, block: opening.index });
  yield invalid(
    `${path}.type`,
    `Expected \`thinking\` or \`redacted_thinking\` first while tools run, found \`${opening.block.type}\``,
  );
}
