import { pricesOf } from "../config/index.ts";
import { billError, type Money, measuredInput, moneyOf } from "../render/index.ts";
import type { RequestDetail, RequestRow, RequestsPage, RewriteRow } from "../session/index.ts";

/** What a rewrite was expected to cost and what it did cost, in input tokens and dollars. */
export type PricedRewrite = Omit<RewriteRow, "predicted"> & {
  readonly predicted: {
    readonly rewritten: Money;
    readonly unchanged: Money;
    readonly savedEach: Money;
  } | null;
  /** What the prompt did cost, by the usage of its answer; null while there is none. */
  readonly measured: Money | null;
  /** How much more it did cost than expected, as a part of that; null where one of them is not known. */
  readonly error: number | null;
};
export type PricedRow = Omit<RequestRow, "rewrite"> & { readonly rewrite: PricedRewrite | null };
export type PricedPage = Omit<RequestsPage, "rows"> & { readonly rows: readonly PricedRow[] };
export type PricedDetail = Omit<RequestDetail, "request"> & { readonly request: PricedRow };

/** Prices are data of the settings, which what records knows nothing of: bills are made here. */
export function pricedPage(page: RequestsPage): PricedPage {
  return { ...page, rows: page.rows.map(pricedRow) };
}

export function pricedDetail(detail: RequestDetail): PricedDetail {
  return { ...detail, request: pricedRow(detail.request) };
}

export function pricedRow(row: RequestRow): PricedRow {
  const { rewrite, usage, model } = row;
  if (rewrite === null) return { ...row, rewrite };
  const prices = pricesOf(model);
  const { predicted: expected } = rewrite;
  const measured = usage === null ? null : measuredInput(usage, prices);
  const predicted =
    expected === null
      ? null
      : {
          rewritten: moneyOf(expected.rewritten, prices),
          unchanged: moneyOf(expected.unchanged, prices),
          savedEach: moneyOf(expected.savedEach, prices),
        };
  const error =
    predicted === null || measured === null ? null : billError(predicted.rewritten, measured).ratio;
  return { ...row, rewrite: { ...rewrite, predicted, measured, error } };
}
