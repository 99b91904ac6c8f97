import { type RefObject, useId, useState } from "react";
import type { PricedApproval } from "../api/contract.ts";
import { manyText, tokensText } from "../base/words.ts";
import { actorName } from "../context/steps.ts";
import { BlockLinks } from "../parts/block-links.tsx";
import { Fact } from "../parts/fact.tsx";
import { PriceFacts } from "../parts/price-facts.tsx";
import { ScrollText } from "../parts/scroll-text.tsx";
import { type Decision, decide, type Scope, scopes } from "./decide.ts";

export type CardProps = {
  readonly session: string;
  readonly row: PricedApproval;
  readonly model: string | null;
  readonly isCurrent: boolean;
  readonly onFocus: () => void;
  readonly place: RefObject<HTMLElement | null> | null;
};

/** One thing that wants to happen: who, what, why, what it costs, and the words that made somebody ask. */
export function ApprovalCard({ session, row, model, isCurrent, onFocus, place }: CardProps) {
  const [scope, setScope] = useState<Scope>("once");
  const [reason, setReason] = useState("");
  const name = actorName(row.actor, model);
  const title = `${name} wants to ${row.verb} ${aboutText(row)}`;
  const choose = (decision: Decision["decision"]) => () =>
    void decide(session, row.approval, { decision, scope, reason });
  return (
    <article
      ref={place}
      className={isCurrent ? "card current" : "card"}
      aria-label={title}
      data-approval={row.approval}
      onFocus={onFocus}
    >
      <header>
        <h2>{title}</h2>
        <span className="dim">
          turn {row.turn} · waits {manyText(row.turnsLeft, "more turn")}
        </span>
      </header>
      <p className="card-why">{row.why}</p>
      <dl className="facts">
        <Fact name="command">
          <code>{row.command}</code>
        </Fact>
        {row.blocks.length === 0 ? null : (
          <Fact name="blocks">
            <BlockLinks session={session} blocks={row.blocks} />
          </Fact>
        )}
        <Fact name="size">~{tokensText(row.tokens)} tokens</Fact>
        <PriceFacts cut={row.cut} bill={row.bill} />
      </dl>
      {row.text === null ? null : <Excerpt title="It would write" text={row.text} />}
      {row.source === null ? null : (
        <Excerpt title={`The words in #${row.source.block} that made it ask`} text={row.source.text} />
      )}
      <Deciding
        {...{ scope, setScope, reason, setReason, name, verb: row.verb }}
        onApprove={choose("approve")}
        onDeny={choose("deny")}
      />
    </article>
  );
}

export function aboutText({ blocks }: PricedApproval): string {
  const [single] = blocks;
  if (single === undefined) return "a memory";
  return blocks.length === 1 ? `#${single}` : manyText(blocks.length, "block");
}

function Excerpt({ title, text }: { readonly title: string; readonly text: string }) {
  return (
    <figure>
      <figcaption className="label">{title}</figcaption>
      <ScrollText label={title} className="short">
        {text}
      </ScrollText>
    </figure>
  );
}

type DecidingProps = {
  readonly scope: Scope;
  readonly setScope: (scope: Scope) => void;
  readonly reason: string;
  readonly setReason: (reason: string) => void;
  readonly name: string;
  readonly verb: string;
  readonly onApprove: () => void;
  readonly onDeny: () => void;
};

/** For how long it holds is chosen, and can be read, before the click. */
function Deciding({ scope, setScope, reason, setReason, name, verb, onApprove, onDeny }: DecidingProps) {
  const group = useId();
  return (
    <div className="deciding">
      <fieldset className="scopes">
        <legend>Your answer holds</legend>
        {scopes.map((each) => (
          <label key={each}>
            <input type="radio" name={group} checked={each === scope} onChange={() => setScope(each)} />
            {scopeTitles[each]}
          </label>
        ))}
        <span className="dim">{scopeAbout(scope, { name, verb })}</span>
      </fieldset>
      <div className="field-row">
        <input
          className="input"
          aria-label={`Why not: ${name} reads it if you deny`}
          placeholder={`Why not: ${name} reads it if you deny`}
          maxLength={500}
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
        <button type="button" className="button danger" onClick={onDeny}>
          Deny <kbd>n</kbd>
        </button>
        <button type="button" className="button primary" onClick={onApprove}>
          Approve <kbd>y</kbd>
        </button>
      </div>
    </div>
  );
}

const scopeTitles: Readonly<Record<Scope, string>> = {
  once: "once",
  turn: "this turn",
  session: "this session",
  always: "always",
};

function scopeAbout(scope: Scope, { name, verb }: { readonly name: string; readonly verb: string }): string {
  if (scope === "once") return "for this command alone";
  if (scope === "always") return `for every ${verb} of ${name} on blocks of this zone, in every session`;
  const span = scope === "turn" ? "until the turn ends" : "as long as the session lasts";
  return `for every ${verb} of ${name}, ${span}`;
}
