import type { PricedCommand } from "../api/contract.ts";
import { blockList, manyText, tokensText } from "../base/words.ts";
import { Fact } from "../parts/fact.tsx";
import { Lock } from "../parts/lock.tsx";
import { PriceFacts } from "../parts/price-facts.tsx";

/** What a command would come to, before it is done. All numbers are the server's. */
export function PlanView({ plan }: { readonly plan: PricedCommand }) {
  const { verb, blocks, freed, cut, bill, leftAlone, conflicts, stays, unsized } = plan;
  return (
    <div className="plan" aria-live="polite">
      <dl className="facts">
        <Fact name="changes">
          {blocks.length === 0
            ? nothingBut(verb)
            : `${manyText(blocks.length, "block")}: ${blockList(blocks)}`}
        </Fact>
        {freed === 0 && blocks.length === 0 ? null : (
          <Fact name={freed < 0 ? "takes" : "frees"}>~{tokensText(Math.abs(freed))} tokens</Fact>
        )}
        <PriceFacts cut={cut} bill={bill} />
        {unsized.length === 0 ? null : <Fact name="size unknown">{blockList(unsized)}</Fact>}
        {stays.length === 0 ? null : (
          <Fact name="sent as before">{blockList(stays)}: the model’s own words</Fact>
        )}
        {groupsOf(conflicts).map(({ fact, by, blocks: set }) => (
          <Fact key={`${fact}-${by}`} name="set anew">
            {fact} of {blockList(set)}, set by {by === "user" ? "you" : by}
          </Fact>
        ))}
      </dl>
      {leftAlone.length === 0 ? null : (
        <ul className="locks" aria-label="Left alone">
          {leftAlone.slice(0, reasonsMax).map((reason) => (
            <li key={reason}>
              <Lock /> {reason}
            </li>
          ))}
          {leftAlone.length > reasonsMax ? <li>and {leftAlone.length - reasonsMax} more</li> : null}
        </ul>
      )}
    </div>
  );
}

/** What it comes to where no block there is changes. */
function nothingBut(verb: string): string {
  return verb === "create" || verb === "update" ? "nothing; a memory is added" : "nothing";
}

const reasonsMax = 8;

type Conflict = PricedCommand["conflicts"][number];

/** One line for what one hand has set, however many blocks it is about. */
function groupsOf(conflicts: readonly Conflict[]) {
  const keys = [...new Set(conflicts.map(({ fact, by }) => `${fact} ${by}`))];
  return keys.map((key) => {
    const own = conflicts.filter(({ fact, by }) => `${fact} ${by}` === key);
    const [first] = own as [Conflict];
    return { fact: first.fact, by: first.by, blocks: own.map(({ block }) => block) };
  });
}
