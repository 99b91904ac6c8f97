import { useEffect, useRef, useState } from "react";
import type { PricedApproval, PricedApprovals } from "../api/contract.ts";
import { useResource } from "../api/resource.ts";
import { ApprovalCard, subjectText } from "../approvals/approval-card.tsx";
import { type Decision, decide } from "../approvals/decide.ts";
import { Rules } from "../approvals/rules.tsx";
import { useCommands } from "../base/commands.ts";
import { pluralText } from "../base/format.ts";
import { ErrorPage } from "../components/error-page.tsx";
import { sessionPath } from "../context/actions.ts";
import { actorName } from "../context/steps.ts";

/** The waiting commands, the rules, and the decided commands. */
export function ApprovalsScreen({ session }: { readonly session: string }) {
  const { data, error } = useResource<PricedApprovals>(`${sessionPath(session)}/approvals?all=1`);
  if (data === null)
    return error === null ? <p className="loading">Loading the approvals…</p> : <ErrorPage error={error} />;
  return <Approvals session={session} page={data} />;
}

type ApprovalsProps = { readonly session: string; readonly page: PricedApprovals };

function Approvals({ session, page: { rows, model } }: ApprovalsProps) {
  const waiting = rows.filter(({ stand }) => stand === "waiting");
  const decided = rows.filter(({ stand }) => stand !== "waiting");
  const { current, setCurrent, cardRef } = useCurrent(waiting);
  useDecisionCommands(session, current);
  return (
    <section className="approvals">
      <header className="screen-head">
        <h1>
          {waiting.length === 0
            ? "No command waits for you"
            : `${pluralText(waiting.length, "command")} waiting`}
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
          cardRef={row.approval === current ? cardRef : null}
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
      In mode <b>ask</b> every command of the model that changes something waits here, in mode <b>auto</b>{" "}
      only risky ones. The model’s response is never delayed. A command without a decision expires after 20
      turns.
    </p>
  );
}

type DecidedListProps = { readonly rows: readonly PricedApproval[]; readonly model: string | null };

/** The decided commands, newest first. */
function DecidedList({ rows, model }: DecidedListProps) {
  return (
    <section>
      <h2>Decided</h2>
      <table className="table">
        <thead>
          <tr>
            <th>turn</th>
            <th>command</th>
            <th>decision</th>
            <th>reason</th>
          </tr>
        </thead>
        <tbody>
          {[...rows].reverse().map((row) => (
            <tr key={row.approval}>
              <td className="number">{row.turn}</td>
              <td>
                {actorName(row.actor, model)}: {row.verb} {subjectText(row)}
              </td>
              <td>
                <span className={`badge ${row.stand}`}>{row.stand}</span>
              </td>
              <td>{row.reason}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function once(decision: Decision["decision"]): Decision {
  return { decision, scope: "once", reason: "" };
}

/** The card the shortcuts act on: the first one until the user moves. */
function useCurrent(waiting: readonly PricedApproval[]) {
  const [chosen, setCurrent] = useState<number | null>(null);
  const cardRef = useRef<HTMLElement>(null);
  const isWaiting = waiting.some(({ approval }) => approval === chosen);
  const current = isWaiting ? chosen : (waiting[0]?.approval ?? null);
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
    if (chosen !== null) cardRef.current?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  return { current, setCurrent, cardRef };
}

function useDecisionCommands(session: string, current: number | null): void {
  // The card holds scope and reason, so the shortcut presses its button.
  const press = (selector: string) => () =>
    document.querySelector<HTMLElement>(`[data-approval="${current}"] ${selector}`)?.click();
  const all = (decision: Decision["decision"]) => () => void decide(session, null, once(decision));
  const commands = [
    { id: "approve", title: "Approve", keys: ["y"], group, run: press(".button.primary") },
    { id: "deny", title: "Deny", keys: ["n"], group, run: press(".button.danger") },
    { id: "approve-all", title: "Approve all waiting", keys: ["Shift+Y"], group, run: all("approve") },
    { id: "deny-all", title: "Deny all waiting", keys: ["Shift+N"], group, run: all("deny") },
  ];
  useCommands(current === null ? [] : commands);
}

const group = "Approvals";
