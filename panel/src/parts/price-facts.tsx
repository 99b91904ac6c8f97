import type { PricedCommand } from "../api/contract.ts";
import { manyText, moneyText, tokensText } from "../base/words.ts";
import { Fact } from "./fact.tsx";

export type PriceFactsProps = Pick<PricedCommand, "cut" | "bill">;

/** What a rewrite for a command alone would come to. All numbers are the server's. */
export function PriceFacts({ cut, bill }: PriceFactsProps) {
  if (cut === null) return <Fact name="price">free: nothing that is shown now changes</Fact>;
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
            : `, pays back after ~${manyText(bill.paysAfter, "request")}`}
        </Fact>
      )}
    </>
  );
}
