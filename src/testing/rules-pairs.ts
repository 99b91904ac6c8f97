import { invalid, type Problem } from "./problem.ts";
import { type ParsedRequest, type PlacedBlock, placeOf, type SpokenTurn, turnsOf } from "./request.ts";

const idPattern = /^[a-zA-Z0-9_-]+$/;

/** Every call is answered once, by id, in the very next user turn, before anything else is said there. */
export function* pairProblems(request: ParsedRequest): Generator<Problem> {
  const turns = turnsOf(request.messages).filter(({ role }) => role !== "system");
  const seen = new Set<string>();
  for (const [at, turn] of turns.entries()) {
    const calls = turn.role === "assistant" ? ofType(turn, "tool_use") : [];
    yield* callIdProblems(calls, seen);
    const answers = turns[at + 1];
    if (calls.length > 0) yield* answerProblems({ turn, calls, answers });
    if (turn.role === "user") yield* resultProblems({ turn, before: turns[at - 1] });
  }
}

function* callIdProblems(calls: readonly PlacedBlock[], seen: Set<string>): Generator<Problem> {
  for (const call of calls) {
    const id = idOf(call, "id");
    const place = `${placeFor(call)}.id`;
    if (!idPattern.test(id)) yield invalid(place, "an id consists of letters, digits, _ and -");
    if (seen.has(id)) yield invalid(place, "`tool_use` ids must be unique");
    seen.add(id);
  }
}

type AnswerQuestion = {
  readonly turn: SpokenTurn;
  readonly calls: readonly PlacedBlock[];
  readonly answers: SpokenTurn | undefined;
};

function* answerProblems({ turn, calls, answers }: AnswerQuestion): Generator<Problem> {
  const given = new Set(answers === undefined ? [] : ofType(answers, "tool_result").map(answerId));
  const open = calls.map((call) => idOf(call, "id")).filter((id) => !given.has(id));
  if (open.length === 0) return;
  const ids = open.join(", ");
  yield invalid(
    `messages.${turn.first}`,
    `\`tool_use\` ids without \`tool_result\` in the next turn: ${ids}`,
  );
}

type ResultQuestion = { readonly turn: SpokenTurn; readonly before: SpokenTurn | undefined };

function* resultProblems({ turn, before }: ResultQuestion): Generator<Problem> {
  const called = new Set(
    (before === undefined ? [] : ofType(before, "tool_use")).map((call) => idOf(call, "id")),
  );
  const answered = new Set<string>();
  let other = false;
  for (const placed of turn.blocks) {
    if (placed.block.type !== "tool_result") {
      other = true;
      continue;
    }
    const id = answerId(placed);
    const place = placeFor(placed);
    if (!called.has(id)) {
      yield invalid(
        place,
        `unexpected \`tool_use_id\` in a \`tool_result\`: ${id} was not called just before`,
      );
    }
    if (answered.has(id)) yield invalid(place, `a second \`tool_result\` for ${id}`);
    if (other) yield invalid(place, "`tool_result` blocks come before everything else in their turn");
    answered.add(id);
  }
}

function ofType(turn: SpokenTurn, type: string): readonly PlacedBlock[] {
  return turn.blocks.filter(({ block }) => block.type === type);
}

function answerId(placed: PlacedBlock): string {
  return idOf(placed, "tool_use_id");
}

function idOf({ block }: PlacedBlock, field: string): string {
  return String(block[field]);
}

function placeFor({ message, index }: PlacedBlock): string {
  return placeOf({ message, block: index });
}
