import { apertureError, type BlockId, fail, ok, type Result } from "../base/index.ts";
import {
  type Command,
  commandFromCall,
  noReason,
  parseCommand,
  parseTarget,
  type Target,
} from "../commands/index.ts";
import type { BlockAttributes, Delta } from "../engine/frames/index.ts";
import { type ChangeContext, changes, type Proposal } from "../engine/index.ts";
import { attributesOf, blockViewOf, streamOf } from "../engine/moment/index.ts";
import { streamModeOf } from "../queries/index.ts";

/** Verbs that only the user has. */
const userOnlyVerbs = ["restore", "withhold", "release", "purge", "scope"] as const;
export type UserOnlyVerb = (typeof userOnlyVerbs)[number];

export type UserOnlyCommand = {
  readonly verb: UserOnlyVerb;
  readonly target: Target;
  /** The new scope, for the verb `scope`. */
  readonly scope: BlockAttributes["scope"];
};

/** A command of the user: one that models have too, or one that only users have. */
export type UserCommand = Command | UserOnlyCommand;

/** A command as text, `@archive(1..10, "done")`, or as fields, `{ verb: "archive", target: "1..10" }`. */
export type CommandSource = string | Readonly<Record<string, unknown>>;

export function isUserOnlyCommand(command: UserCommand): command is UserOnlyCommand {
  return isUserOnlyVerb(command.verb);
}

export function parseUserCommand(source: CommandSource): Result<UserCommand> {
  if (typeof source !== "string") return fromFields(source);
  const [, word = "", inside = ""] = /^\s*@?([a-z]{1,20})\s*\((.*)\)\s*$/is.exec(source) ?? [];
  const verb = word.toLowerCase();
  if (!isUserOnlyVerb(verb)) return parseCommand(source);
  if (verb !== "scope") return userOnlyCommand({ verb, scope: "session" }, [inside]);
  const [scope = "", ...rest] = inside.split(",");
  return scopeCommand(scope.trim(), [rest.join(",")]);
}

function fromFields(fields: Readonly<Record<string, unknown>>): Result<UserCommand> {
  const { verb, ...input } = fields;
  if (typeof verb !== "string")
    return invalid(`a verb is missing: use archive, pin, ${userOnlyVerbs.join(", ")}`);
  if (!isUserOnlyVerb(verb)) return commandFromCall(`aperture_${verb}`, { reason: noReason, ...input });
  const { target } = input;
  const targets = Array.isArray(target) ? target : [target];
  const pointers = targets.filter((each) => typeof each === "string" || typeof each === "number").map(String);
  if (pointers.length !== targets.length) return invalid(`${verb} needs a target, such as "12..18"`);
  return verb === "scope"
    ? scopeCommand(String(input["scope"] ?? ""), pointers)
    : userOnlyCommand({ verb, scope: "session" }, pointers);
}

function scopeCommand(scope: string, targets: readonly string[]): Result<UserOnlyCommand> {
  return scope === "session" || scope === "project"
    ? userOnlyCommand({ verb: "scope", scope }, targets)
    : invalid("a scope is session or project, for example @scope(project, 27)");
}

function userOnlyCommand(
  command: Omit<UserOnlyCommand, "target">,
  targets: readonly string[],
): Result<UserOnlyCommand> {
  const target = parseTarget(targets.join(", "));
  if (!target.ok) return target;
  const isWordless = target.value.some((pointer) => pointer.by === "topic" && pointer.words.trim() === "");
  if (target.value.length === 0 || isWordless)
    return invalid(`${command.verb} needs a target, such as 12..18`);
  return ok({ ...command, target: target.value });
}

/** The deltas that a user-only command would append. */
export function proposeUserOnly(
  change: ChangeContext,
  { verb, scope }: UserOnlyCommand,
  blocks: readonly BlockId[],
): Result<Proposal> {
  switch (verb) {
    case "restore":
      return ok(changes.restore(change, blocks));
    case "withhold":
      return proposeWithhold(change, blocks);
    case "release":
      return changes.withhold(change, blocks, false);
    case "purge":
      return proposePurge(change, blocks);
    case "scope":
      return ok(proposeEach(blocks, (block) => changes.setScope(change, block, scope)));
  }
}

/** System texts and reasoning cannot be withheld: no other text may stand in their place. */
function proposeWithhold(change: ChangeContext, blocks: readonly BlockId[]): Result<Proposal> {
  const kindOf = (block: BlockId) => blockViewOf(change.moment, change.view, block)?.block.kind;
  const isFixed = (block: BlockId) => kindOf(block) === "system" || kindOf(block) === "reasoning";
  const proposal = changes.withhold(
    change,
    blocks.filter((block) => !isFixed(block)),
    true,
  );
  if (!proposal.ok) return proposal;
  const refused = blocks.filter(isFixed).map((block) => {
    const why = `nothing can stand in the place of its ${kindOf(block)}`;
    const error = apertureError("AP_COMMAND_REFUSED", { verb: "withhold", what: `#${block}`, why });
    return { block, error };
  });
  return ok({ ...proposal.value, skipped: [...refused, ...proposal.value.skipped] });
}

/**
 * A purged block is also withheld, because the client still has it and sends it. In an observed session it
 * cannot be withheld: requests are sent unchanged.
 */
function proposePurge(change: ChangeContext, blocks: readonly BlockId[]): Result<Proposal> {
  const purged = proposeEach(blocks, (block) => purgeDeltas(change, block));
  const stream = streamOf(change.moment, change.view.stream);
  if (streamModeOf(change.moment, stream) === "observe") return ok(purged);
  const withheld = proposeWithhold(change, blocks);
  if (!withheld.ok) return withheld;
  // A block that cannot be withheld is still erased; `skipped` tells that the client keeps sending it.
  const { deltas, skipped } = withheld.value;
  return ok({ deltas: [...deltas, ...purged.deltas], skipped: [...skipped, ...purged.skipped] });
}

function proposeEach(
  blocks: readonly BlockId[],
  propose: (block: BlockId) => Result<readonly Delta[]>,
): Proposal {
  const results = blocks.map((block) => ({ block, result: propose(block) }));
  return {
    deltas: results.flatMap(({ result }) => (result.ok ? result.value : [])),
    skipped: results.flatMap(({ block, result }) => (result.ok ? [] : [{ block, error: result.error }])),
  };
}

function purgeDeltas({ moment, view }: ChangeContext, block: BlockId): Result<readonly Delta[]> {
  if (blockViewOf(moment, view, block) === null) return fail("AP_BLOCK_UNKNOWN", { block });
  return ok(attributesOf(moment, block)?.purged ? [] : [{ type: "block-purged", block }]);
}

function isUserOnlyVerb(word: string): word is UserOnlyVerb {
  return userOnlyVerbs.some((verb) => verb === word);
}

function invalid(problem: string): Result<never> {
  return { ok: false, error: apertureError("AP_COMMAND_INVALID", { problem }) };
}
