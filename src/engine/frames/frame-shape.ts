import {
  canonicalJson,
  fail,
  isCount,
  isHash,
  isSessionId,
  limits,
  ok,
  type Result,
} from "../../base/index.ts";
import { approvalStatuses, modes, permissionRules, permissionScopes } from "./approval.ts";
import { blockKinds, levels, scopes, shownForms, taints } from "./block.ts";
import { type Delta, type DeltaType, deltaTypes, rewriteReasons, turnOutcomes } from "./delta.ts";
import {
  bodyForms,
  contentForms,
  exchangeOutcomes,
  exchangeRelations,
  exchangeRoles,
  protocolNames,
} from "./exchange.ts";
import { actors, type FactName, factNames } from "./facts.ts";
import { causeTypes, type Frame, type FrameDraft } from "./frame.ts";

/**
 * Turns a value read from a disk or a file into a frame, or says what is wrong with it. Everything the types
 * promise is checked here, once, with the limits; no later code checks shapes again.
 */
export function parseFrame(value: unknown): Result<Frame> {
  const problem = frameShape(value);
  return problem === null ? withinSize(value as Frame) : shapeError(problem);
}

/** The same check for a frame that is not sealed yet. */
export function checkDraft(draft: FrameDraft): Result<FrameDraft> {
  const problem = draftShape(draft);
  return problem === null ? withinSize(draft) : shapeError(problem);
}

function shapeError({ at, what }: ShapeProblem): Result<never> {
  return fail("AP_FRAME_SHAPE", { problem: `frame${at} ${what}` });
}

function withinSize<F extends FrameDraft>(frame: F): Result<F> {
  const bytes = frame.deltas.reduce((sum, delta) => sum + bytesAtMost(delta), 0);
  const exact = bytes <= limits.frameBytesMax ? bytes : Buffer.byteLength(canonicalJson(frame));
  if (exact <= limits.frameBytesMax) return ok(frame);
  return fail("AP_FRAME_LIMIT", { seq: frame.seq, limit: "frameBytesMax", actual: exact });
}

/**
 * A generous bound from the limits on its parts: nearly all frames are far too small to be worth serialising
 * for this. The deltas of a long conversation's first request get a closer bound, since they are many.
 */
function bytesAtMost(delta: Delta): number {
  switch (delta.type) {
    case "unit-sent":
      return 1_024 + escapedBytesMax(delta.unit.anchor) + delta.unit.shows.length * 64;
    case "block-added":
      return 1_024 + escapedBytesMax(delta.block.anchor) + escapedBytesMax(delta.block.speaker);
    case "approval-asked":
      return 8_192 + escapedBytesMax(delta.approval.command) + delta.approval.blocks.length * 16;
    case "tokens-counted":
      return 256;
    case "topics-set":
      return 32_768;
    case "exchange-opened":
    case "session-identified":
      return 16_384;
    default:
      return 8_192;
  }
}

/** An escaped character takes up to six bytes. */
function escapedBytesMax(text: string): number {
  return text.length * 6;
}

/** The problem with a value; `at` is the path below it. */
type ShapeProblem = { readonly at: string; readonly what: string };

/** Null if the value has the shape. The path is built only when something is wrong, which is rare. */
type ShapeCheck = (value: unknown) => ShapeProblem | null;

function is(name: string, test: (value: unknown) => boolean): ShapeCheck {
  const problem: ShapeProblem = { at: "", what: `is not ${name}` };
  return (value) => (test(value) ? null : problem);
}

function oneOf(choices: readonly unknown[]): ShapeCheck {
  const allowed = new Set(choices);
  return is(`one of ${choices.join(", ")}`, (value) => allowed.has(value));
}

function text(charsMax: number): ShapeCheck {
  return is(
    `a text of up to ${charsMax} characters`,
    (value) => typeof value === "string" && value.length <= charsMax,
  );
}

function orNull(shape: ShapeCheck): ShapeCheck {
  return (value) => (value === null ? null : shape(value));
}

/** For fields that older frames do not have. */
function orMissing(shape: ShapeCheck): ShapeCheck {
  return (value) => (value === undefined ? null : shape(value));
}

function list(shape: ShapeCheck, itemsMax: number): ShapeCheck {
  return (value) => {
    if (!Array.isArray(value) || value.length > itemsMax)
      return { at: "", what: `is not a list of up to ${itemsMax}` };
    for (let index = 0; index < value.length; index += 1) {
      const problem = shape(value[index]);
      if (problem !== null) return { ...problem, at: `[${index}]${problem.at}` };
    }
    return null;
  };
}

type FieldChecks = Readonly<Record<string, ShapeCheck>>;

/** Exactly these fields. */
function fields(shapes: FieldChecks): ShapeCheck {
  const names = Object.keys(shapes);
  const checks = Object.values(shapes);
  return (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return notAnObject;
    const record = value as Readonly<Record<string, unknown>>;
    let present = 0;
    let problem: ShapeProblem | null = null;
    for (let at = 0; at < names.length && problem === null; at += 1) {
      const name = names[at] as string;
      const field = record[name];
      if (field !== undefined) present += 1;
      const inside = (checks[at] as ShapeCheck)(field);
      if (inside !== null) problem = { ...inside, at: `.${name}${inside.at}` };
    }
    // Every known field was counted, so an equal count means that there are no others.
    const isExact = problem === null && Object.keys(value).length === present;
    return isExact ? null : (unknownField(value, shapes) ?? problem);
  };
}

function unknownField(value: object, shapes: FieldChecks): ShapeProblem | null {
  const unknown = Object.keys(value).find((key) => !Object.hasOwn(shapes, key));
  return unknown === undefined ? null : { at: "", what: `has an unknown field ${unknown.slice(0, 40)}` };
}

const notAnObject: ShapeProblem = { at: "", what: "is not an object" };

const count = is("a whole number from 0", isCount);
const flag = is("true or false", (value) => typeof value === "boolean");
const hash = is("a hash", isHash);
const name = text(limits.nameCharsMax);
const reason = text(limits.reasonCharsMax);
const anchor = text(limits.anchorCharsMax);
const tokens = fields({
  count: is("a number of tokens", (n) => isCount(n) && n <= limits.tokensMax),
  exact: flag,
});
const span = is("a span of turns", (n) => isCount(n) && n <= limits.ttlTurnsMax);
const turn = is("a turn", (n) => isCount(n) && n <= limits.turnsMax * 2);
const ttl = orNull(fields({ at: turn, spanTurns: span }));
const rendition = orNull(fields({ content: hash, tokens }));
const topics = list(text(limits.topicCharsMax), limits.topicsMax);

const block = fields({
  id: count,
  kind: oneOf(blockKinds),
  stream: count,
  message: count,
  turn: count,
  speaker: name,
  content: hash,
  form: orMissing(oneOf(contentForms)),
  anchor,
  pair: orNull(count),
  taint: oneOf(taints),
  supersedes: orNull(count),
  ttl,
  ephemeral: orMissing(oneOf([true])),
  during: orMissing(name),
});

const unit = fields({
  id: count,
  stream: count,
  parent: orNull(count),
  message: orNull(count),
  origin: oneOf(["client", "model", "aperture"]),
  anchor,
  bytes: hash,
  shows: list(fields({ block: count, as: oneOf(shownForms) }), limits.blocksPerUnitMax),
  cleared: orMissing(oneOf([true])),
});

const factValues: Readonly<Record<FactName, ShapeCheck>> = {
  level: oneOf(levels),
  pin: oneOf(["none", "top", "bottom"]),
  ttl,
  focus: orNull(fields({ run: count, until: count })),
  selection: flag,
  archive: orNull(fields({ reason })),
  withhold: flag,
  reference: fields({ turn: count, count }),
  supersession: orNull(count),
};

function factSetFields(fact: FactName): FieldChecks {
  const value = fields({ value: factValues[fact], by: oneOf(actors) });
  return { view: count, block: count, from: value, to: value };
}

const protocol = orMissing(oneOf(protocolNames));
const identity = fields({
  owner: name,
  upstream: name,
  protocol,
  client: name,
  key: anchor,
  project: orNull(name),
});

const exchange = fields({
  id: count,
  request: name,
  stream: orNull(count),
  role: oneOf(exchangeRoles),
  relation: oneOf(exchangeRelations),
  of: orNull(count),
  model: orNull(name),
  protocol,
  target: text(limits.targetCharsMax),
  bytes: count,
  rendering: orMissing(oneOf(bodyForms)),
});

const usage = orNull(fields({ input: count, cacheRead: count, cacheWrite: count, output: count }));
const exchangeEnd = fields({
  exchange: count,
  outcome: oneOf(exchangeOutcomes),
  status: orNull(count),
  usage,
  bytes: count,
  firstByteMs: orNull(count),
  totalMs: count,
  addedMicros: orMissing(count),
  stop: orNull(name),
  problem: orNull(reason),
});

const approval = fields({
  id: count,
  view: count,
  actor: oneOf(actors),
  verb: name,
  command: text(limits.commandCharsMax),
  text: orNull(hash),
  blocks: list(count, limits.blocksPerApprovalMax),
  why: reason,
  tokens,
  source: orNull(
    fields({
      block: count,
      start: count,
      length: is("the length of an excerpt", (n) => isCount(n) && n <= limits.excerptCharsMax),
    }),
  ),
  turn,
  until: turn,
});
const stand = oneOf(approvalStatuses);
const permission = orNull(
  fields({ rule: oneOf(permissionRules), scope: oneOf(permissionScopes), until: orNull(turn) }),
);
const mode = orNull(oneOf(modes));

type FactSetType = `${FactName}-set`;
const factShapes = Object.fromEntries(
  factNames.map((fact) => [`${fact}-set`, factSetFields(fact)]),
) as Readonly<Record<FactSetType, FieldChecks>>;

/** A delta type without a shape does not compile. */
const deltaShapes: Readonly<Record<DeltaType, FieldChecks>> = {
  "stream-opened": { stream: count, name, parent: orNull(fields({ stream: count, seq: count })) },
  "view-opened": {
    view: count,
    stream: count,
    agent: name,
    parent: orNull(fields({ view: count, seq: count })),
  },
  "ids-reserved": { stream: count, of: oneOf(["block", "message"]), from: count, to: count },
  "run-started": { stream: count, from: count, to: count },
  "block-added": { block },
  "block-removed": { block },
  "block-purged": { block: count },
  "tokens-counted": { block: count, tokens },
  "topics-set": { block: count, from: topics, to: topics },
  "scope-set": { block: count, from: oneOf(scopes), to: oneOf(scopes) },
  "rendition-set": { block: count, level: oneOf(levels), from: rendition, to: rendition },
  "unit-sent": { unit },
  "turn-sent": { view: count, turn: count, leaf: count, exchange: count },
  "turn-answered": { view: count, turn: count, outcome: oneOf(turnOutcomes), usage },
  "epoch-started": {
    view: count,
    epoch: count,
    cut: orNull(count),
    reason: oneOf(rewriteReasons),
    means: oneOf(["own", "provider"]),
    predicted: orMissing(fields({ rewritten: count, unchanged: count, savedEach: count })),
  },
  "session-identified": { identity },
  "exchange-opened": { exchange },
  "exchange-closed": { end: exchangeEnd },
  "approval-asked": { approval },
  "approval-decided": { approval: count, from: stand, to: stand, by: oneOf(actors), reason },
  "permission-set": { view: count, actor: oneOf(actors), verb: name, from: permission, to: permission },
  "mode-set": { from: mode, to: mode },
  "name-set": { from: orNull(name), to: orNull(name) },
  ...factShapes,
};

const deltas = new Map<unknown, ShapeCheck>(
  deltaTypes.map((type) => [type, fields({ ...deltaShapes[type], type: oneOf(deltaTypes) })]),
);

const delta: ShapeCheck = (value) => {
  const shape = deltas.get((value as { readonly type?: unknown } | null)?.type);
  return shape === undefined ? { at: "", what: "has no known type" } : shape(value);
};

const cause = fields({ type: oneOf(causeTypes), step: orNull(count), reason });

const draft = {
  session: is("a session id", isSessionId),
  seq: count,
  stream: orNull(count),
  turn: count,
  time: is("a time", (value) => Number.isSafeInteger(value)),
  actor: oneOf(actors),
  cause,
  deltas: list(delta, limits.deltasPerFrameMax),
};

const draftShape = fields(draft);
const frameShape = fields({ ...draft, prevHash: hash, hash });
