import { pricesOf } from "../config/index.ts";
import { type Money, requestsExpected, rewriteBill } from "../render/index.ts";
import type { ApprovalRow, ApprovalsPage, CommandAnswer, CutRow, Durable } from "../session/index.ts";
import { leftAlone } from "./left-alone.ts";

/** What a rewrite for a command alone would cost while the cache is warm, in input tokens and dollars. */
export type CutBill = {
  /** More than leaving things alone, once; less than 0 where it pays at once. */
  readonly costNow: Money;
  /** What every later request saves. */
  readonly savedEach: Money;
  /** Requests until it has paid; null: it never does. */
  readonly paysAfter: number | null;
};
export type PricedCommand = CommandAnswer &
  Durable & {
    /** Why blocks were skipped, a line for each reason. */
    readonly leftAlone: readonly string[];
    readonly bill: CutBill | null;
  };
export type PricedApproval = ApprovalRow & { readonly bill: CutBill | null };
export type PricedApprovals = Omit<ApprovalsPage, "rows"> & { readonly rows: readonly PricedApproval[] };

export function pricedCommand(answer: CommandAnswer & Durable): PricedCommand {
  return { ...answer, leftAlone: leftAlone(answer.skipped), bill: billOf(answer.cut, answer.model) };
}

export function pricedApprovals(page: ApprovalsPage): PricedApprovals {
  return { ...page, rows: page.rows.map((row) => ({ ...row, bill: billOf(row.cut, page.model) })) };
}

function billOf(cut: CutRow | null, model: string | null): CutBill | null {
  if (cut === null) return null;
  const sizes = { kept: cut.kept, behind: cut.rewritten, removed: cut.freed };
  const asked = { ...sizes, isCold: false, requestsLeft: requestsExpected };
  const { costNow, savedEach, breakEven } = rewriteBill(asked, pricesOf(model));
  return { costNow, savedEach, paysAfter: Number.isFinite(breakEven) ? Math.ceil(breakEven) : null };
}
