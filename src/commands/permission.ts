import type { Actor, Zone } from "../engine/index.ts";
import type { Command, Verb } from "./command.ts";

/** How long the user's word holds: for one command, for the turn it was given in, or on. */
export type Lasting = "once" | "turn" | "session" | "always";

/** What the user has decided about a verb in advance. It never lifts what is never allowed. */
export type Permission = {
  readonly verb: Verb | "all";
  readonly actor: Actor;
  /** Only for blocks that belong there; all: wherever they are, and where there are none. */
  readonly zone: Zone | "all";
  readonly answer: "allow" | "ask" | "deny";
  readonly lasts: Lasting;
};

type Matter = { readonly actor: Actor; readonly command: Command; readonly zone: Zone | null };

/**
 * The one that decides. A word for this session comes before one that holds always, and what was said about
 * less before what was said about more; of two alike, the latest.
 */
export function permissionFor(permissions: readonly Permission[], matter: Matter): Permission | null {
  let best: Permission | null = null;
  for (const each of permissions) {
    if (fits(each, matter) && (best === null || nearness(each) >= nearness(best))) best = each;
  }
  return best;
}

/**
 * A standing permission was given without knowing what this turn would bring: where content speaks in
 * commands, only a word given for this turn counts.
 */
export function allows(permission: Permission, { tainted }: { readonly tainted: boolean }): boolean {
  const isStanding = permission.lasts === "session" || permission.lasts === "always";
  return permission.answer === "allow" && !(tainted && isStanding);
}

function nearness({ lasts, verb, zone }: Permission): number {
  return (lasts === "always" ? 0 : 4) + (verb === "all" ? 0 : 2) + (zone === "all" ? 0 : 1);
}

function fits({ verb, actor, zone }: Permission, matter: Matter): boolean {
  const isAbout = verb === "all" || verb === matter.command.verb;
  return actor === matter.actor && isAbout && (zone === "all" || zone === matter.zone);
}
