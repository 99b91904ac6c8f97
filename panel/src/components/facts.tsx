import type { ReactNode } from "react";
import type { PricedCommand } from "../api/contract.ts";
import { moneyText, pluralText, tokensText } from "../base/format.ts";

/** One row of a `<dl className="facts">`. */
export function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

export type PriceFactsProps = Pick<PricedCommand, "cut" | "bill">;

/** The cost of rewriting the request for one command now. The server computes every number. */
export function PriceFacts({ cut, bill }: PriceFactsProps) {
  if (cut === null) return <Fact name="price">free: the next request changes nothing already sent</Fact>;
  return (
    <>
      <Fact name="rewrites">
        ~{tokensText(cut.rewritten)} tokens from #{cut.block} on; ~{tokensText(cut.kept)} before it stay
        cached
      </Fact>
      {bill === null ? null : (
        <Fact name="price">
          {moneyText(bill.costNow)} once while the cache is warm
          {bill.paysAfter === null
            ? ", never pays back"
            : `, pays back after ~${pluralText(bill.paysAfter, "request")}`}
        </Fact>
      )}
    </>
  );
}
