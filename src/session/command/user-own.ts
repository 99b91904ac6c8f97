import { apertureError, type BlockId, fail, ok, type Result } from "../../base/index.ts";
import {
  type Command,
  commandOf,
  noReason,
  parseCommand,
  parseTarget,
  type Target,
} from "../../commands/index.ts";
import {
  type Change,
  type Delta,
  notesOf,
  type Proposal,
  placeOf,
  restore,
  type Scope,
  setScope,
  streamOf,
  withhold,
} from "../../engine/index.ts";
import { modeIn } from "../read/look.ts";

/** What nobody but the user can ask for. */
export const ownVerbs = ["restore", "withhold", "release", "purge", "scope"] as const;
export type OwnVerb = (typeof ownVerbs)[number];

export type OwnCommand = {
  readonly verb: OwnVerb;
  readonly target: Target;
  /** For `scope`: how far it is to be known. */
  readonly scope: Scope;
};

/** A command of the user: one that models have too, or one of the user's own. */
export type UserCommand = Command | OwnCommand;

/** As a person writes it, `@archive(1..10, "done")`, or as fields, `{ verb: "archive", target: "1..10" }`. */
export type WrittenCommand = string | Readonly<Record<string, unknown>>;

export function isOwnCommand(command: UserCommand): command is OwnCommand {
  return isOwnVerb(command.verb);
}

export function readUserCommand(written: WrittenCommand): Result<UserCommand> {
  if (typeof written !== "string") return fromFields(written);
  const [, word = "", inside = ""] = /^\s*@?([a-z]{1,20})\s*\((.*)\)\s*$/is.exec(written) ?? [];
  const verb = word.toLowerCase();
  if (!isOwnVerb(verb)) return parseCommand(written);
  if (verb !== "scope") return ownCommand({ verb, scope: "session" }, [inside]);
  const [scope = "", ...rest] = inside.split(",");
  return scoped(scope.trim(), [rest.join(",")]);
}

function fromFields(fields: Readonly<Record<string, unknown>>): Result<UserCommand> {
  const { verb, ...input } = fields;
  if (typeof verb !== "string") return invalid(`a verb is missing: use archive, pin, ${ownVerbs.join(", ")}`);
  if (!isOwnVerb(verb)) return commandOf(`aperture_${verb}`, { reason: noReason, ...input });
  const { target } = input;
  const targets = Array.isArray(target) ? target : [target];
  const words = targets.filter((one) => typeof one === "string" || typeof one === "number").map(String);
  if (words.length !== targets.length) return invalid(`${verb} needs a target, such as "12..18"`);
  return verb === "scope"
    ? scoped(String(input["scope"] ?? ""), words)
    : ownCommand({ verb, scope: "session" }, words);
}

function scoped(scope: string, targets: readonly string[]): Result<OwnCommand> {
  return scope === "session" || scope === "project"
    ? ownCommand({ verb: "scope", scope }, targets)
    : invalid("a scope is session or project, for example @scope(project, 27)");
}

function ownCommand(command: Omit<OwnCommand, "target">, targets: readonly string[]): Result<OwnCommand> {
  const target = parseTarget(targets.join(", "));
  if (!target.ok) return target;
  const isWordless = target.value.some((pointer) => pointer.by === "topic" && pointer.words.trim() === "");
  if (target.value.length === 0 || isWordless)
    return invalid(`${command.verb} needs a target, such as 12..18`);
  return ok({ ...command, target: target.value });
}

/** What a command of the user's own does to blocks. */
export function ownProposal(
  change: Change,
  { verb, scope }: OwnCommand,
  blocks: readonly BlockId[],
): Result<Proposal> {
  switch (verb) {
    case "restore":
      return ok(restore(change, blocks));
    case "withhold":
      return withheldProposal(change, blocks);
    case "release":
      return withhold(change, blocks, false);
    case "purge":
      return purgedProposal(change, blocks);
    case "scope":
      return ok(eachAlone(blocks, (block) => setScope(change, block, scope)));
  }
}

/** What stands in front of a talk, and reasoning, has no other words that could stand in its place. */
function withheldProposal(change: Change, blocks: readonly BlockId[]): Result<Proposal> {
  const kindOf = (block: BlockId) => placeOf(change.moment, change.view, block)?.block.kind;
  const isFixed = (block: BlockId) => kindOf(block) === "system" || kindOf(block) === "reasoning";
  const proposal = withhold(
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
 * What is erased here must not leave either: the client still has it, and sends it. Where a session is only
 * observed, what its client sends goes up as it is.
 */
function purgedProposal(change: Change, blocks: readonly BlockId[]): Result<Proposal> {
  const purged = eachAlone(blocks, (block) => purgeOf(change, block));
  const stream = streamOf(change.moment, change.view.stream);
  if (modeIn(change.moment, stream) === "observe") return ok(purged);
  const withheld = withheldProposal(change, blocks);
  if (!withheld.ok) return withheld;
  // What cannot be withheld is erased here all the same; that its client goes on sending it has to be said.
  const { deltas, skipped } = withheld.value;
  return ok({ deltas: [...deltas, ...purged.deltas], skipped: [...skipped, ...purged.skipped] });
}

function eachAlone(
  blocks: readonly BlockId[],
  propose: (block: BlockId) => Result<readonly Delta[]>,
): Proposal {
  const made = blocks.map((block) => ({ block, result: propose(block) }));
  return {
    deltas: made.flatMap(({ result }) => (result.ok ? result.value : [])),
    skipped: made.flatMap(({ block, result }) => (result.ok ? [] : [{ block, error: result.error }])),
  };
}

function purgeOf({ moment, view }: Change, block: BlockId): Result<readonly Delta[]> {
  if (placeOf(moment, view, block) === null) return fail("AP_BLOCK_UNKNOWN", { block });
  return ok(notesOf(moment, block)?.purged ? [] : [{ type: "block-purged", block }]);
}

function isOwnVerb(word: string): word is OwnVerb {
  return ownVerbs.some((verb) => verb === word);
}

function invalid(problem: string): Result<never> {
  return { ok: false, error: apertureError("AP_COMMAND_INVALID", { problem }) };
}
