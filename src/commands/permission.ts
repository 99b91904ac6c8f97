import type { Actor } from "../engine/frames/index.ts";
import type { Zone } from "../engine/moment/index.ts";
import type { Command, Verb } from "./command.ts";

/** How long a permission holds: one command, the turn it was given in, the session, or for good. */
export type PermissionDuration = "once" | "turn" | "session" | "always";

/** A decision about a verb that the user made in advance. It never lifts a prohibition. */
export type CommandPermission = {
  readonly verb: Verb | "all";
  readonly actor: Actor;
  /** A zone limits it to blocks there; "all" also covers commands about no block. */
  readonly zone: Zone | "all";
  readonly answer: "allow" | "ask" | "deny";
  readonly lasts: PermissionDuration;
};

type PermissionSubject = { readonly actor: Actor; readonly command: Command; readonly zone: Zone | null };

/**
 * The permission that decides. One for this session comes before one that holds always, a specific one before
 * a general one, and of two equally specific ones the latest counts.
 */
export function permissionFor(
  permissions: readonly CommandPermission[],
  subject: PermissionSubject,
): CommandPermission | null {
  let best: CommandPermission | null = null;
  for (const each of permissions) {
    if (fits(each, subject) && (best === null || rank(each) >= rank(best))) best = each;
  }
  return best;
}

/**
 * The user gave a lasting permission without knowing the content of this turn. In a tainted turn only a
 * permission for this command or this turn counts.
 */
export function isAllowedBy(
  permission: CommandPermission,
  { isTainted }: { readonly isTainted: boolean },
): boolean {
  const isLasting = permission.lasts === "session" || permission.lasts === "always";
  return permission.answer === "allow" && !(isTainted && isLasting);
}

function rank({ lasts, verb, zone }: CommandPermission): number {
  return (lasts === "always" ? 0 : 4) + (verb === "all" ? 0 : 2) + (zone === "all" ? 0 : 1);
}

function fits({ verb, actor, zone }: CommandPermission, subject: PermissionSubject): boolean {
  const fitsVerb = verb === "all" || verb === subject.command.verb;
  return actor === subject.actor && fitsVerb && (zone === "all" || zone === subject.zone);
}
