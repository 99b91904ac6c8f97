import type { SessionId } from "../../base/index.ts";
import type { AddedBlock, Delta, Frame } from "../../engine/frames/index.ts";
import type { State, View } from "../../engine/index.ts";
import { blockOf, blockViewOf, isWithheld, now, viewBlocks } from "../../engine/moment/index.ts";
import { fingerprintOf, type TextFingerprint, type WithheldSession } from "../../exchange/index.ts";
import { clientSessionName } from "../../log/index.ts";
import { memoryText, recalledBlocks } from "../../notes/index.ts";
import { contentText } from "../../protocols/index.ts";
import type { Store } from "../../store/index.ts";

type ContentStore = Pick<Store, "content">;

/** True if the delta may change which content is withheld. */
function mayChangeWithheld({ type }: Delta): boolean {
  return type === "withhold-set" || type === "block-purged";
}

/**
 * Keys of the units that must not be sent in a view. A result of our tools that contains withheld text counts
 * too.
 */
export async function withheldKeys(
  state: State,
  view: View,
  store: ContentStore,
): Promise<readonly string[]> {
  return (await withheldBlocks(state, view, store)).map(({ anchor }) => anchor);
}

function withholdsAny(state: State): boolean {
  return [...state.views.entries()].some(([, view]) => withheldBlocksOf(state, view).length > 0);
}

/** Withheld units of all views of a session, with fingerprints of their texts; null without an identity. */
async function withheldInSession(state: State, store: ContentStore): Promise<WithheldSession | null> {
  const { identity, session } = state;
  if (identity === null) return null;
  const fingerprints = new Map<string, TextFingerprint | null>();
  for (const [, view] of state.views.entries()) {
    for (const block of await withheldBlocks(state, view, store))
      if ((fingerprints.get(block.anchor) ?? null) === null)
        fingerprints.set(block.anchor, await fingerprintIn(block, store));
  }
  const units = [...fingerprints].map(([key, print]) => ({ key, print }));
  const { owner, upstream, client, key } = identity;
  return { session, owner, upstream, client, name: clientSessionName(key), units };
}

async function withheldBlocks(state: State, view: View, store: ContentStore): Promise<readonly AddedBlock[]> {
  const withheld = withheldBlocksOf(state, view);
  const copies = await blockCopies(
    state,
    withheld.map(({ id }) => id),
    store,
  );
  return [...withheld, ...copies];
}

function withheldBlocksOf(state: State, view: View): readonly AddedBlock[] {
  const moment = now(state);
  return [...viewBlocks(moment, view)].filter(({ id }) => {
    const blockView = blockViewOf(moment, view, id);
    return blockView !== null && isWithheld(blockView);
  });
}

/**
 * A fingerprint is needed only for texts that occur inside others: clients join user and assistant texts, and
 * our lines contain memories. Other blocks are recognised by their key in any form.
 */
async function fingerprintIn(block: AddedBlock, store: ContentStore): Promise<TextFingerprint | null> {
  const { kind, content } = block;
  if (kind !== "user" && kind !== "assistant" && kind !== "memory") return null;
  const stored = await store.content(content);
  const text = stored.ok ? (contentText(stored.value, block) ?? "") : "";
  return fingerprintOf(kind === "memory" ? memoryText(text) : text);
}

/**
 * Blocks that contain a copy of these blocks: results of our tools that showed them, and calls that created
 * them as memories. If a block must not be sent or kept, its copies must not either. A result may contain an
 * earlier one, so they are searched in order.
 */
export async function blockCopies(
  state: State,
  blocks: readonly number[],
  store: ContentStore,
): Promise<readonly AddedBlock[]> {
  const wanted = new Set(blocks);
  const copies = new Map<number, AddedBlock>();
  for (const block of await callsThatNoted(state, wanted, store)) copies.set(block.id, block);
  for (const [, { origin, shows }] of blocks.length === 0 ? [] : state.units.entries()) {
    for (const { block: id } of origin === "aperture" ? shows : []) {
      const block = copies.has(id) || wanted.has(id) ? null : blockOf(now(state), id);
      const stored = block === null ? null : await store.content(block.content);
      if (block === null || stored?.ok !== true) continue;
      if (!recalledBlocks(contentText(stored.value, block) ?? "").some((one) => wanted.has(one))) continue;
      copies.set(id, block);
      wanted.add(id);
    }
  }
  return [...copies.values()];
}

/** The call that created a memory contains its text; it is in the same turn. */
async function callsThatNoted(
  state: State,
  wanted: ReadonlySet<number>,
  store: ContentStore,
): Promise<readonly AddedBlock[]> {
  const calls: AddedBlock[] = [];
  for (const memory of blocksOfKind(state, "memory").filter(({ id }) => wanted.has(id))) {
    const text = await copiedText(memory, store);
    if (text === null || text === "") continue;
    const escaped = JSON.stringify(text).slice(1, -1);
    const { stream, turn } = memory;
    const candidates = blocksOfKind(state, "tool-call").filter(
      (one) => one.stream === stream && one.turn === turn,
    );
    for (const call of candidates)
      if ((await copiedText(call, store))?.includes(escaped) === true) calls.push(call);
  }
  return calls.filter(({ id }) => !wanted.has(id));
}

function blocksOfKind(state: State, kind: AddedBlock["kind"]): readonly AddedBlock[] {
  return [...state.blocks.entries()].flatMap(([, { block }]) => (block.kind === kind ? [block] : []));
}

async function copiedText(block: AddedBlock, store: ContentStore): Promise<string | null> {
  const stored = await store.content(block.content);
  return stored.ok ? contentText(stored.value, block) : null;
}

type WithheldReporterDeps = {
  readonly store: ContentStore;
  /** Receives the withheld units of a session, for readers that cannot wait for the log. */
  readonly onWithheld?: (withheld: WithheldSession) => void;
};

/** Reports the withheld units of a session whenever they may have changed. */
export class WithheldReporter {
  readonly #deps: WithheldReporterDeps;
  readonly #changed = new Set<SessionId>();

  constructor(deps: WithheldReporterDeps) {
    this.#deps = deps;
  }

  noteFrame({ session, deltas }: Frame): void {
    if (deltas.some(mayChangeWithheld)) this.#changed.add(session);
  }

  /** For sessions of an earlier process. */
  async reportIfAny(state: State): Promise<void> {
    if (withholdsAny(state)) await this.report(state);
  }

  async reportIfChanged(state: State): Promise<void> {
    if (this.#changed.delete(state.session)) await this.report(state);
  }

  async report(state: State): Promise<void> {
    const { store, onWithheld } = this.#deps;
    const withheld = onWithheld === undefined ? null : await withheldInSession(state, store);
    if (withheld !== null) onWithheld?.(withheld);
  }
}
