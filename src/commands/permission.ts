import type { Actor } from "../engine/index.ts";
import type { Command, Verb } from "./command.ts";

/** How long the user's word holds: for one command, for the turn it was given in, or on. */
export type Lasting = "once" | "turn" | "session" | "always";

/** What the user has decided about a verb in advance. It never lifts what is never allowed. */
export type Permission = {
  readonly verb: Verb | "all";
  readonly actor: Actor;
  readonly answer: "allow" | "ask" | "deny";
  readonly lasts: Lasting;
  /** The turn it was given in: one that lasts a turn ends with it. */
  readonly turn: number;
};

type Matter = { readonly actor: Actor; readonly command: Command };

/** The one that decides: what was said about the verb itself, else about all; of two alike, the latest. */
export function permissionFor(permissions: readonly Permission[], matter: Matter): Permission | null {
  const fitting = permissions.filter((each) => fits(each, matter));
  return fitting.findLast(({ verb }) => verb !== "all") ?? fitting.at(-1) ?? null;
}

/**
 * A standing permission was given without knowing what this turn would bring: where content speaks in
 * commands, only a word given for this turn counts.
 */
export function allows(permission: Permission, { tainted }: { readonly tainted: boolean }): boolean {
  const isStanding = permission.lasts === "session" || permission.lasts === "always";
  return permission.answer === "allow" && !(tainted && isStanding);
}

/** Those that still hold in a turn. */
export function inForce(permissions: readonly Permission[], turn: number): readonly Permission[] {
  return permissions.filter(({ lasts, turn: given }) => lasts !== "turn" || given === turn);
}

/** What is left after a command was done: a word for one command is used up by it. */
export function afterUse(permissions: readonly Permission[], matter: Matter): readonly Permission[] {
  const used = permissionFor(permissions, matter);
  return used?.lasts === "once" ? permissions.filter((each) => each !== used) : permissions;
}

function fits({ verb, actor }: Permission, matter: Matter): boolean {
  return actor === matter.actor && (verb === "all" || verb === matter.command.verb);
}
