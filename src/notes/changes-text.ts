import type { Change, ChangeWord } from "../awareness/index.ts";
import type { Actor } from "../engine/frames/index.ts";
import { safeText, shortened, splitUnquoted } from "./safe-text.ts";
import { type IdList, idList, readIds, readSize, roundTokens, shortSize, writeIds } from "./sizes-and-ids.ts";

export type ChangesOptions = {
  readonly nonce: string;
  /** The most changes that are listed; changes of the user are left out last. */
  readonly max: number;
  readonly reasonChars?: number;
};

/** Changes as a note lists them, and how many more there were. */
export type ChangeList = { readonly changes: readonly ShownChange[]; readonly more: number };

export type ShownChange = {
  /** `user`, `client`, `you` or `aperture`; null if the text does not name one. */
  readonly actor: string | null;
  readonly what: ChangeWord;
  readonly blocks: IdList;
  /** Tokens freed, rounded; 0 if the text gives none. */
  readonly freed: number;
  readonly reason: string;
  /** The block that supersedes. */
  readonly by: number | null;
  /** The verb of a command that waited for the user. */
  readonly verb: string | null;
};

/** `you archived #3..#9 (-6.2k, "setup done"); user pinned #31; #29 superseded by #41` */
export function changesText(changes: readonly Change[], options: ChangesOptions): string {
  return writeChanges(changeList(changes, options));
}

export function changeList(changes: readonly Change[], options: ChangesOptions): ChangeList {
  const kept = mostImportant(changes, options.max);
  return {
    changes: kept.map((change) => shownChange(change, options)),
    more: changes.length - kept.length,
  };
}

const names: Readonly<Record<Actor, string>> = {
  user: "user",
  client: "client",
  model: "you",
  sidecar: "aperture",
  policy: "aperture",
};
/** The model's own changes come last, because it knows them already. */
const actorOrder: readonly string[] = ["user", "client", "aperture", "you"];

function mostImportant(changes: readonly Change[], max: number): readonly Change[] {
  if (changes.length <= max) return changes;
  const rank = (change: Change): number =>
    isDecision(change) ? -1 : actorOrder.indexOf(names[change.actor]);
  const chosen = new Set([...changes].sort((a, b) => rank(a) - rank(b)).slice(0, Math.max(0, max)));
  return changes.filter((change) => chosen.has(change));
}

/** A decision that the model waits for is reported once, so it is left out last. */
export function isDecision({ what }: Pick<Change, "what">): boolean {
  return what === "approved" || what === "denied" || what === "expired";
}

function isOfCommand({ what }: Pick<Change, "what">): boolean {
  return isDecision({ what }) || what === "waiting";
}

function shownChange(change: Change, { nonce, reasonChars = 60 }: ChangesOptions): ShownChange {
  const { what, actor, tokens, by, verb } = change;
  const blocks = idList(change.blocks, 3);
  const named = !isUnsigned(what);
  return {
    actor: named ? names[actor] : null,
    what,
    blocks,
    freed: named && tokens > 0 ? roundTokens(tokens) : 0,
    reason: named ? shortened(safeText(change.reason, nonce), reasonChars) : "",
    by: what === "superseded" ? (by ?? 0) : null,
    verb: isOfCommand(change) ? `${verb}` : null,
  };
}

function isUnsigned(what: ChangeWord): boolean {
  return what === "superseded" || what === "waiting" || what === "expired";
}

export function writeChanges({ changes, more }: ChangeList): string {
  if (changes.length === 0) return more === 0 ? "" : `${more} ${more === 1 ? "change" : "changes"}`;
  return [...changes.map(writeChange), ...(more > 0 ? [`+${more} more`] : [])].join("; ");
}

function writeChange(change: ShownChange): string {
  const { actor, what, blocks, freed, reason, by, verb } = change;
  const ids = writeIds(blocks);
  const subject = verb === null ? ids : ids === "" ? `your ${verb}` : `your ${verb} of ${ids}`;
  if (what === "superseded") return `${ids} superseded by #${by}`;
  if (what === "waiting") return `${subject} waits for the user`;
  if (what === "expired") return `${subject} expired: nobody decided`;
  const notes = [...(freed > 0 ? [`-${shortSize(freed)}`] : []), ...(reason === "" ? [] : [`"${reason}"`])];
  return `${actor} ${what} ${subject}${notes.length === 0 ? "" : ` (${notes.join(", ")})`}`;
}

export function readChanges(text: string): ChangeList | null {
  const [, all] = /^(\d+) changes?$/.exec(text) ?? [];
  if (text === "" || all !== undefined) return { changes: [], more: Number(all ?? 0) };
  const parts = splitUnquoted(text, "; ");
  const [, more] = /^\+(\d+) more$/.exec(parts.at(-1) ?? "") ?? [];
  const changes = (more === undefined ? parts : parts.slice(0, -1)).map(readChange);
  if (changes.some((change) => change === null)) return null;
  return { changes: changes.flatMap((change) => change ?? []), more: Number(more ?? 0) };
}

function readChange(text: string): ShownChange | null {
  return readSuperseded(text) ?? readUndecided(text) ?? readSigned(text);
}

const unsigned = { actor: null, freed: 0, reason: "", by: null, verb: null } as const;

function readSuperseded(text: string): ShownChange | null {
  const [, ids = "", by] = /^(.*) superseded by #(\d+)$/.exec(text) ?? [];
  const blocks = by === undefined ? null : readIds(ids);
  return blocks === null ? null : { ...unsigned, what: "superseded", blocks, by: Number(by) };
}

function readUndecided(text: string): ShownChange | null {
  const [, subject = "", end] = /^(your .*) (waits for the user|expired: nobody decided)$/.exec(text) ?? [];
  const read = readSubject(subject);
  if (end === undefined || read === null || read.verb === null) return null;
  return { ...unsigned, ...read, what: end.startsWith("waits") ? "waiting" : "expired" };
}

function readSigned(text: string): ShownChange | null {
  const found = signedForm.exec(text);
  if (found === null) return null;
  const [, actor = "", what, subject = "", freed = null, only = "", beside = ""] = found;
  const read = readSubject(subject);
  if (read === null) return null;
  const tokens = freed === null ? 0 : (readSize(freed)?.tokens ?? 0);
  return { actor, what: what as ChangeWord, ...read, freed: tokens, reason: only || beside, by: null };
}

const signedForm =
  /^(user|client|you|aperture) ([a-z]+) ([^("]*?)(?: \((?:-([\d.]+[kM]?)(?:, "([^"]*)")?|"([^"]*)")\))?$/;

/** `#3..#9`, or `your archive of #3..#9`. */
function readSubject(text: string): Pick<ShownChange, "blocks" | "verb"> | null {
  const [, verb = null, list] = /^your (\w+)(?: of (.*))?$/.exec(text) ?? [null, null, text];
  const blocks = readIds(list ?? "");
  return blocks === null ? null : { blocks, verb };
}
