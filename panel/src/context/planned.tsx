import { type ReactNode, useEffect, useState } from "react";
import { wordsOf } from "../api/client.ts";
import type { PricedCommand } from "../api/contract.ts";
import { moneyText } from "../base/words.ts";
import { Dialog } from "../parts/dialog.tsx";
import { act, plan, type Wanted, type When } from "./acts.ts";
import { PlanView } from "./plan-view.tsx";

export type PlannedProps = {
  readonly session: string;
  readonly title: string;
  readonly wanted: Wanted;
  readonly onClose: () => void;
  readonly children?: ReactNode;
  /** Null: it may be done. */
  readonly obstacle?: string | null;
  /** Cannot be taken back, and does not wait for anything. */
  readonly isLasting?: boolean;
};

/** A command with its price, and the buttons that do it or leave it. */
export function Planned({
  session,
  title,
  wanted,
  onClose,
  children,
  obstacle = null,
  isLasting = false,
}: PlannedProps) {
  const { planned, problem } = usePlan(session, wanted);
  const isEmpty = planned !== null && planned.blocks.length === 0;
  const apply = (when: When) => () => {
    void act(session, wanted, when);
    onClose();
  };
  const isBarred = planned === null || isEmpty || obstacle !== null;
  return (
    <Dialog title={title} onClose={onClose}>
      <h2>{title}</h2>
      {children}
      {planned === null && problem === null ? (
        <p className="dim">Working out what it would come to…</p>
      ) : null}
      {problem === null ? null : (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      {planned === null ? null : <PlanView plan={planned} />}
      <div className="buttons">
        <button type="button" className="button" onClick={onClose}>
          Cancel
        </button>
        {planned === null || planned.cut === null || isLasting ? null : (
          <button type="button" className="button" disabled={isBarred} onClick={apply("now")}>
            Apply now{planned.bill === null ? "" : ` (${moneyText(planned.bill.costNow)})`}
          </button>
        )}
        <button
          type="button"
          className={isLasting ? "button danger" : "button primary"}
          disabled={isBarred}
          title={obstacle ?? ""}
          onClick={apply("cache-break")}
        >
          {isLasting ? title : planned?.cut === null ? "Apply" : "At the next cache break"}
        </button>
      </div>
    </Dialog>
  );
}

/** What a command would come to; null: there is none yet. While it is typed, it is asked for in pauses. */
export function usePlan(session: string, wanted: Wanted | null, pauseMs = 0) {
  const [planned, setPlanned] = useState<PricedCommand | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const asked = wanted === null ? null : JSON.stringify(wanted);
  useEffect(() => {
    let isCurrent = true;
    const show = (answer: PricedCommand | null, words: string | null): void => {
      if (!isCurrent) return;
      setPlanned(answer);
      setProblem(words);
    };
    const ask = (): void => {
      if (asked === null) show(null, null);
      else
        plan(session, JSON.parse(asked) as Wanted)
          .then((answer) => show(answer, null))
          .catch((error: unknown) => show(null, wordsOf(error)));
    };
    const timer = setTimeout(ask, pauseMs);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [session, asked, pauseMs]);
  return { planned, problem };
}
