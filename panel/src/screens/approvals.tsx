import { useEffect, useRef, useState } from "react";
import type { PricedApproval, PricedApprovals } from "../api/contract.ts";
import { useResource } from "../api/resource.ts";
import { ApprovalCard } from "../approvals/card.tsx";
import { type Decision, decide } from "../approvals/decide.ts";
import { DecidedList } from "../approvals/decided.tsx";
import { Rules } from "../approvals/rules.tsx";
import { useCommands } from "../base/commands.ts";
import { manyText } from "../base/words.ts";
import { sessionPath } from "../context/acts.ts";
import { Problem } from "../parts/problem.tsx";

/** What wants to happen, and what was decided. */
export function ApprovalsScreen({ session }: { readonly session: string }) {
  const { data, error } = useResource<PricedApprovals>(`${sessionPath(session)}/approvals?all=1`);
  if (data === null)
    return error === null ? <p className="loading">Reading what waits…</p> : <Problem error={error} />;
  return <Approvals session={session} page={data} />;
}

type ApprovalsProps = { readonly session: string; readonly page: PricedApprovals };

function Approvals({ session, page: { rows, model } }: ApprovalsProps) {
  const waiting = rows.filter(({ stand }) => stand === "waiting");
  const decided = rows.filter(({ stand }) => stand !== "waiting");
  const { current, setCurrent, place } = useCurrent(waiting);
  useDecisionCommands(session, current);
  return (
    <section className="approvals">
      <header className="screen-head">
        <h1>
          {waiting.length === 0 ? "Nothing waits for you" : `${manyText(waiting.length, "command")} waiting`}
        </h1>
        {waiting.length < 2 ? null : (
          <>
            <span className="spring" />
            <button type="button" className="button" onClick={() => void decide(session, null, once("deny"))}>
              Deny all <kbd>N</kbd>
            </button>
            <button
              type="button"
              className="button"
              onClick={() => void decide(session, null, once("approve"))}
            >
              Approve all <kbd>Y</kbd>
            </button>
          </>
        )}
      </header>
      {waiting.length === 0 ? <Empty /> : null}
      {waiting.map((row) => (
        <ApprovalCard
          key={row.approval}
          session={session}
          row={row}
          model={model}
          isCurrent={row.approval === current}
          onFocus={() => setCurrent(row.approval)}
          place={row.approval === current ? place : null}
        />
      ))}
      <Rules session={session} model={model} />
      {decided.length === 0 ? null : <DecidedList rows={decided} model={model} />}
    </section>
  );
}

function Empty() {
  return (
    <p className="dim">
      What the model may not do alone waits here: in mode <b>ask</b> every command that changes something, in
      mode <b>auto</b> what is risky. An answer of the model is never held up, and what nobody decides expires
      after 20 turns.
    </p>
  );
}

function once(decision: Decision["decision"]): Decision {
  return { decision, scope: "once", reason: "" };
}

/** The card that keys are about: the first one until another is moved to. */
function useCurrent(waiting: readonly PricedApproval[]) {
  const [chosen, setCurrent] = useState<number | null>(null);
  const place = useRef<HTMLElement>(null);
  const isThere = waiting.some(({ approval }) => approval === chosen);
  const current = isThere ? chosen : (waiting[0]?.approval ?? null);
  const list = waiting.map(({ approval }) => approval);
  const move = (by: number) => () => {
    const next = list[list.indexOf(current ?? 0) + by];
    if (next !== undefined) setCurrent(next);
  };
  useCommands([
    { id: "next-card", title: "Next approval", keys: ["j", "ArrowDown"], group, run: move(1) },
    { id: "previous-card", title: "Previous approval", keys: ["k", "ArrowUp"], group, run: move(-1) },
  ]);
  useEffect(() => {
    if (chosen !== null) place.current?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  return { current, setCurrent, place };
}

function useDecisionCommands(session: string, current: number | null): void {
  // The card knows the scope and the reason: its own buttons are pressed.
  const press = (place: string) => () =>
    document.querySelector<HTMLElement>(`[data-approval="${current}"] ${place}`)?.click();
  const all = (decision: Decision["decision"]) => () => void decide(session, null, once(decision));
  const commands = [
    { id: "approve", title: "Approve", keys: ["y"], group, run: press(".button.primary") },
    { id: "deny", title: "Deny", keys: ["n"], group, run: press(".button.danger") },
    { id: "approve-all", title: "Approve all that wait", keys: ["Shift+Y"], group, run: all("approve") },
    { id: "deny-all", title: "Deny all that wait", keys: ["Shift+N"], group, run: all("deny") },
  ];
  useCommands(current === null ? [] : commands);
}

const group = "Approvals";
