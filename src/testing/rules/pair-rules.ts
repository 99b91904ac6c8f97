import {
  blockPath,
  type ParsedRequest,
  type PlacedBlock,
  type SpeakerTurn,
  speakerTurns,
} from "../parsed-request.ts";
import { invalid, type RequestProblem } from "../request-problem.ts";

const idPattern = /^[a-zA-Z0-9_-]+$/;

/** Every call is answered once, by id, in the next user turn, before all other content of that turn. */
export function* pairProblems(request: ParsedRequest): Generator<RequestProblem> {
  const turns = speakerTurns(request.messages).filter(({ role }) => role !== "system");
  const seen = new Set<string>();
  for (const [at, turn] of turns.entries()) {
    const calls = turn.role === "assistant" ? ofType(turn, "tool_use") : [];
    yield* callIdProblems(calls, seen);
    const answers = turns[at + 1];
    if (calls.length > 0) yield* answerProblems({ turn, calls, answers });
    if (turn.role === "user") yield* resultProblems({ turn, before: turns[at - 1] });
  }
}

function* callIdProblems(calls: readonly PlacedBlock[], seen: Set<string>): Generator<RequestProblem> {
  for (const call of calls) {
    const id = idOf(call, "id");
    const path = `${pathOf(call)}.id`;
    if (!idPattern.test(id)) yield invalid(path, "an id consists of letters, digits, _ and -");
    if (seen.has(id)) yield invalid(path, "`tool_use` ids must be unique");
    seen.add(id);
  }
}

type CallsWithAnswers = {
  readonly turn: SpeakerTurn;
  readonly calls: readonly PlacedBlock[];
  readonly answers: SpeakerTurn | undefined;
};

function* answerProblems({ turn, calls, answers }: CallsWithAnswers): Generator<RequestProblem> {
  const answered = new Set(answers === undefined ? [] : ofType(answers, "tool_result").map(answerId));
  const open = calls.map((call) => idOf(call, "id")).filter((id) => !answered.has(id));
  if (open.length === 0) return;
  const ids = open.join(", ");
  yield invalid(
    `messages.${turn.first}`,
    `\`tool_use\` ids without \`tool_result\` in the next turn: ${ids}`,
  );
}

type ResultTurn = { readonly turn: SpeakerTurn; readonly before: SpeakerTurn | undefined };

function* resultProblems({ turn, before }: ResultTurn): Generator<RequestProblem> {
  const called = new Set(
    (before === undefined ? [] : ofType(before, "tool_use")).map((call) => idOf(call, "id")),
  );
  const answered = new Set<string>();
  let hasOther = false;
  for (const placed of turn.blocks) {
    if (placed.block.type !== "tool_result") {
      hasOther = true;
      continue;
    }
    const id = answerId(placed);
    const path = pathOf(placed);
    if (!called.has(id)) {
      yield invalid(
        path,
        `unexpected \`tool_use_id\` in a \`tool_result\`: ${id} was not called just before`,
      );
    }
    if (answered.has(id)) yield invalid(path, `a second \`tool_result\` for ${id}`);
    if (hasOther) yield invalid(path, "`tool_result` blocks come before everything else in their turn");
    answered.add(id);
  }
}

function ofType(turn: SpeakerTurn, type: string): readonly PlacedBlock[] {
  return turn.blocks.filter(({ block }) => block.type === type);
}

function answerId(placed: PlacedBlock): string {
  return idOf(placed, "tool_use_id");
}

function idOf({ block }: PlacedBlock, field: string): string {
  return String(block[field]);
}

function pathOf({ message, index }: PlacedBlock): string {
  return blockPath({ message, block: index });
}
