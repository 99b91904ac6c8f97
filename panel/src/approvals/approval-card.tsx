import { type RefObject, useId, useState } from "react";
import type { PricedApproval } from "../api/contract.ts";
import { pluralText, tokensText } from "../base/format.ts";
import { BlockLinks } from "../components/block-links.tsx";
import { Fact, PriceFacts } from "../components/facts.tsx";
import { ScrollText } from "../components/scroll-text.tsx";
import { actorName } from "../context/steps.ts";
import { type Decision, decide, type Scope, scopes } from "./decide.ts";

export type CardProps = {
  readonly session: string;
  readonly row: PricedApproval;
  readonly model: string | null;
  readonly isCurrent: boolean;
  readonly onFocus: () => void;
  readonly cardRef: RefObject<HTMLElement | null> | null;
};

/** A command that waits for approval: actor, blocks, reason, price, and the text that caused it. */
export function ApprovalCard({ session, row, model, isCurrent, onFocus, cardRef }: CardProps) {
  const [scope, setScope] = useState<Scope>("once");
  const [reason, setReason] = useState("");
  const name = actorName(row.actor, model);
  const title = `${name} wants to ${row.verb} ${subjectText(row)}`;
  const choose = (decision: Decision["decision"]) => () =>
    void decide(session, row.approval, { decision, scope, reason });
  return (
    <article
      ref={cardRef}
      className={isCurrent ? "card current" : "card"}
      aria-label={title}
      data-approval={row.approval}
      onFocus={onFocus}
    >
      <header>
        <h2>{title}</h2>
        <span className="dim">
          turn {row.turn} · waits for {pluralText(row.turnsLeft, "more turn")}
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
      {row.text === null ? null : <Excerpt title="Text of the memory" text={row.text} />}
      {row.source === null ? null : (
        <Excerpt title={`Text in #${row.source.block} that caused the command`} text={row.source.text} />
      )}
      <DecisionForm
        {...{ scope, setScope, reason, setReason, name, verb: row.verb }}
        onApprove={choose("approve")}
        onDeny={choose("deny")}
      />
    </article>
  );
}

export function subjectText({ blocks }: PricedApproval): string {
  const [single] = blocks;
  if (single === undefined) return "a memory";
  return blocks.length === 1 ? `#${single}` : pluralText(blocks.length, "block");
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

type DecisionFormProps = {
  readonly scope: Scope;
  readonly setScope: (scope: Scope) => void;
  readonly reason: string;
  readonly setReason: (reason: string) => void;
  readonly name: string;
  readonly verb: string;
  readonly onApprove: () => void;
  readonly onDeny: () => void;
};

/** The scope, the reason and the buttons of a decision. */
function DecisionForm({
  scope,
  setScope,
  reason,
  setReason,
  name,
  verb,
  onApprove,
  onDeny,
}: DecisionFormProps) {
  const group = useId();
  return (
    <div className="decision-form">
      <fieldset className="scopes">
        <legend>Apply the decision</legend>
        {scopes.map((each) => (
          <label key={each}>
            <input type="radio" name={group} checked={each === scope} onChange={() => setScope(each)} />
            {scopeTitles[each]}
          </label>
        ))}
        <span className="dim">{scopeText(scope, { name, verb })}</span>
      </fieldset>
      <div className="field-row">
        <input
          className="input"
          aria-label={`Reason for a denial (${name} reads it)`}
          placeholder={`Reason for a denial (${name} reads it)`}
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

function scopeText(scope: Scope, { name, verb }: { readonly name: string; readonly verb: string }): string {
  if (scope === "once") return "for this command only";
  if (scope === "always") return `for every ${verb} by ${name} on blocks of this zone, in every session`;
  const span = scope === "turn" ? "until the turn ends" : "until the session ends";
  return `for every ${verb} by ${name}, ${span}`;
}
