import { pricesOf } from "../config/index.ts";
import { billError, type Money, measuredInput, moneyOf } from "../policy/index.ts";
import type { RequestDetail, RequestRow, RequestsPage, RewriteRow } from "../queries/answers/index.ts";

/** The expected and the measured cost of a rewrite, in input tokens and dollars. */
export type PricedRewrite = Omit<RewriteRow, "predicted"> & {
  readonly predicted: {
    readonly rewritten: Money;
    readonly unchanged: Money;
    readonly savedEach: Money;
  } | null;
  /** The measured cost of the prompt, from the usage of its answer; null if there is none yet. */
  readonly measured: Money | null;
  /** The extra cost as a share of the expected one; null if one of them is not known. */
  readonly error: number | null;
};
export type PricedRequest = Omit<RequestRow, "rewrite"> & { readonly rewrite: PricedRewrite | null };
export type PricedRequests = Omit<RequestsPage, "rows"> & { readonly rows: readonly PricedRequest[] };
export type PricedRequestDetail = Omit<RequestDetail, "request"> & { readonly request: PricedRequest };

/** Prices come from the settings, which queries do not know, so requests are priced here. */
export function priceRequests(page: RequestsPage): PricedRequests {
  return { ...page, rows: page.rows.map(priceRequest) };
}

export function priceRequestDetail(detail: RequestDetail): PricedRequestDetail {
  return { ...detail, request: priceRequest(detail.request) };
}

export function priceRequest(row: RequestRow): PricedRequest {
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
