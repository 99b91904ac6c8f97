import { pricesOf } from "../config/index.ts";
import type { ApprovalRow, ApprovalsPage, CommandAnswer, CutRow } from "../execute/index.ts";
import type { Durability } from "../log/index.ts";
import { idsText } from "../notes/index.ts";
import { type Money, requestsExpected, rewriteBill } from "../policy/index.ts";

/** The cost of a rewrite for one command while the cache is warm, in input tokens and dollars. */
export type CutBill = {
  /** The extra cost of the next request; negative if the rewrite pays off at once. */
  readonly costNow: Money;
  /** The saving of every later request. */
  readonly savedEach: Money;
  /** Requests until it has paid off; null if it never does. */
  readonly paysAfter: number | null;
};
export type PricedCommand = CommandAnswer &
  Durability & {
    /** The reasons why blocks were skipped, one line each. */
    readonly leftAlone: readonly string[];
    readonly bill: CutBill | null;
  };
export type PricedApproval = ApprovalRow & { readonly bill: CutBill | null };
export type PricedApprovals = Omit<ApprovalsPage, "rows"> & { readonly rows: readonly PricedApproval[] };

export function priceCommand(answer: CommandAnswer & Durability): PricedCommand {
  return { ...answer, leftAlone: skipReasons(answer.skipped), bill: billOf(answer.cut, answer.model) };
}

export function priceApprovals(page: ApprovalsPage): PricedApprovals {
  return { ...page, rows: page.rows.map((row) => ({ ...row, bill: billOf(row.cut, page.model) })) };
}

function billOf(cut: CutRow | null, model: string | null): CutBill | null {
  if (cut === null) return null;
  const sizes = { kept: cut.kept, behind: cut.rewritten, removed: cut.freed };
  const billInput = { ...sizes, isCold: false, requestsLeft: requestsExpected };
  const { costNow, savedEach, breakEven } = rewriteBill(billInput, pricesOf(model));
  return { costNow, savedEach, paysAfter: Number.isFinite(breakEven) ? Math.ceil(breakEven) : null };
}

/** The reasons why blocks were skipped; blocks with the same reason share a line that names them. */
export function skipReasons(skipped: CommandAnswer["skipped"]): readonly string[] {
  const blocksByReason = new Map<string, number[]>();
  const times = countsOf(skipped.map(({ message }) => message));
  for (const { block, message } of skipped) {
    // A message shared by several blocks to the letter names the one block that is the reason for all.
    const isShared = (times.get(message) ?? 0) > 1;
    const reason = isShared ? message : message.replace(new RegExp(`#${block}(?!\\d)`), blocksSlot);
    blocksByReason.set(reason, [...(blocksByReason.get(reason) ?? []), block]);
  }
  return [...blocksByReason].map(([reason, blocks]) =>
    reason.includes(blocksSlot)
      ? reason.replace(blocksSlot, idsText(blocks, rangesMax))
      : `${idsText(blocks, rangesMax)}: ${reason}`,
  );
}

/** A stand-in for block numbers that occurs in no message. */
const blocksSlot = "\u0000";
const rangesMax = 8;

function countsOf(texts: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}
