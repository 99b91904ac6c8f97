/** The rows a user has chosen, by block number, so that updates and filters keep them. */
export type Selection = {
  readonly chosen: ReadonlySet<number>;
  /** The start of a range. */
  readonly anchor: number | null;
  /** The row with the keyboard focus. */
  readonly cursor: number | null;
};

export const noSelection: Selection = { chosen: new Set(), anchor: null, cursor: null };

export type Click = { readonly n: number; readonly toggles: boolean; readonly extends: boolean };

/** `order`: the block numbers in the order of the list. */
export function clicked(before: Selection, order: readonly number[], click: Click): Selection {
  const { n } = click;
  if (click.extends) return extended(before, order, n);
  if (click.toggles) return toggled(before, n);
  return { chosen: new Set([n]), anchor: n, cursor: n };
}

export function toggled({ chosen }: Selection, n: number): Selection {
  const after = new Set(chosen);
  if (!after.delete(n)) after.add(n);
  return { chosen: after, anchor: n, cursor: n };
}

function extended({ anchor, cursor }: Selection, order: readonly number[], n: number): Selection {
  const from = anchor ?? cursor ?? n;
  const [one, other] = [order.indexOf(from), order.indexOf(n)];
  if (one === -1 || other === -1) return { chosen: new Set([n]), anchor: n, cursor: n };
  const between = order.slice(Math.min(one, other), Math.max(one, other) + 1);
  return { chosen: new Set(between), anchor: from, cursor: n };
}

export type Move = { readonly by: number; readonly extends: boolean };

/** Moves the cursor. Without `extends` the chosen rows stay. */
export function moved(
  before: Selection,
  order: readonly number[],
  { by, extends: isRange }: Move,
): Selection {
  if (order.length === 0) return before;
  const at = before.cursor === null ? -1 : order.indexOf(before.cursor);
  const next = at === -1 ? (by > 0 ? 0 : order.length - 1) : clamp(at + by, order.length);
  const n = order[next] ?? before.cursor;
  if (n === null) return before;
  return isRange ? extended(before, order, n) : { ...before, cursor: n };
}

function clamp(at: number, length: number): number {
  return Math.max(0, Math.min(length - 1, at));
}

export function allOf(order: readonly number[], { cursor }: Selection): Selection {
  return { chosen: new Set(order), anchor: order[0] ?? null, cursor: cursor ?? order[0] ?? null };
}

export function cleared({ cursor }: Selection): Selection {
  return { chosen: new Set(), anchor: null, cursor };
}

/** Drops blocks that no longer exist. */
export function kept(before: Selection, known: ReadonlySet<number>): Selection {
  const chosen = [...before.chosen].filter((n) => known.has(n));
  const cursor = before.cursor !== null && known.has(before.cursor) ? before.cursor : null;
  if (chosen.length === before.chosen.size && cursor === before.cursor) return before;
  return { chosen: new Set(chosen), anchor: null, cursor };
}
