import { type ReactNode, useEffect, useState } from "react";
import { errorText } from "../api/client.ts";
import type { PricedCommand } from "../api/contract.ts";
import { blockList, moneyText, pluralText, tokensText } from "../base/format.ts";
import { Dialog } from "../components/dialog.tsx";
import { Fact, PriceFacts } from "../components/facts.tsx";
import { LockIcon } from "../components/lock-icon.tsx";
import { type CommandFields, previewCommand, runCommand, type When } from "./actions.ts";

export type ChangeDialogProps = {
  readonly session: string;
  readonly title: string;
  readonly command: CommandFields;
  readonly onClose: () => void;
  readonly children?: ReactNode;
  /** Why the command may not run yet; null if it may. */
  readonly blockedBy?: string | null;
  /** The command cannot be undone and takes effect at once. */
  readonly isPermanent?: boolean;
};

/** Shows the effect and the price of a command, and runs it. */
export function ChangeDialog({
  session,
  title,
  command,
  onClose,
  children,
  blockedBy = null,
  isPermanent = false,
}: ChangeDialogProps) {
  const { preview, problem } = usePreview(session, command);
  const isEmpty = preview !== null && preview.blocks.length === 0;
  const apply = (when: When) => () => {
    void runCommand(session, command, when);
    onClose();
  };
  const isDisabled = preview === null || isEmpty || blockedBy !== null;
  return (
    <Dialog title={title} onClose={onClose}>
      <h2>{title}</h2>
      {children}
      {preview === null && problem === null ? <p className="dim">Calculating the effect…</p> : null}
      {problem === null ? null : (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      {preview === null ? null : <PreviewFacts preview={preview} />}
      <div className="buttons">
        <button type="button" className="button" onClick={onClose}>
          Cancel
        </button>
        {preview === null || preview.cut === null || isPermanent ? null : (
          <button type="button" className="button" disabled={isDisabled} onClick={apply("now")}>
            Apply now{preview.bill === null ? "" : ` (${moneyText(preview.bill.costNow)})`}
          </button>
        )}
        <button
          type="button"
          className={isPermanent ? "button danger" : "button primary"}
          disabled={isDisabled}
          title={blockedBy ?? ""}
          onClick={apply("cache-break")}
        >
          {isPermanent ? title : preview?.cut === null ? "Apply" : "Apply at the next cache break"}
        </button>
      </div>
    </Dialog>
  );
}

/** The preview of a command; null without a command. `pauseMs` waits until the user stops typing. */
export function usePreview(session: string, command: CommandFields | null, pauseMs = 0) {
  const [preview, setPreview] = useState<PricedCommand | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const json = command === null ? null : JSON.stringify(command);
  useEffect(() => {
    let isCurrent = true;
    const show = (answer: PricedCommand | null, message: string | null): void => {
      if (!isCurrent) return;
      setPreview(answer);
      setProblem(message);
    };
    const load = (): void => {
      if (json === null) show(null, null);
      else
        previewCommand(session, JSON.parse(json) as CommandFields)
          .then((answer) => show(answer, null))
          .catch((error: unknown) => show(null, errorText(error)));
    };
    const timer = setTimeout(load, pauseMs);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [session, json, pauseMs]);
  return { preview, problem };
}

const reasonsMax = 8;

/** The effect of a command as a list of facts. The server computes every number. */
export function PreviewFacts({ preview }: { readonly preview: PricedCommand }) {
  const { verb, blocks, freed, cut, bill, leftAlone, conflicts, stays, unsized } = preview;
  return (
    <div className="plan" aria-live="polite">
      <dl className="facts">
        <Fact name="changes">
          {blocks.length === 0
            ? emptyText(verb)
            : `${pluralText(blocks.length, "block")}: ${blockList(blocks)}`}
        </Fact>
        {freed === 0 && blocks.length === 0 ? null : (
          <Fact name={freed < 0 ? "adds" : "frees"}>~{tokensText(Math.abs(freed))} tokens</Fact>
        )}
        <PriceFacts cut={cut} bill={bill} />
        {unsized.length === 0 ? null : (
          <Fact name="not counted">{blockList(unsized)}: no token count yet, so not part of the sum</Fact>
        )}
        {stays.length === 0 ? null : (
          <Fact name="unchanged">{blockList(stays)}: the model’s own words are never shortened</Fact>
        )}
        {groupConflicts(conflicts).map(({ fact, by, blocks: group }) => (
          <Fact key={`${fact}-${by}`} name="replaces">
            the {fact} of {blockList(group)}, set by {by === "user" ? "you" : by}
          </Fact>
        ))}
      </dl>
      {leftAlone.length === 0 ? null : (
        <ul className="locks" aria-label="Not changed">
          {leftAlone.slice(0, reasonsMax).map((reason) => (
            <li key={reason}>
              <LockIcon /> {reason}
            </li>
          ))}
          {leftAlone.length > reasonsMax ? <li>and {leftAlone.length - reasonsMax} more</li> : null}
        </ul>
      )}
    </div>
  );
}

/** The effect of a command that changes no existing block. */
function emptyText(verb: string): string {
  return verb === "create" || verb === "update" ? "nothing; adds a memory" : "nothing";
}

type Conflict = PricedCommand["conflicts"][number];

/** One line per fact and actor, with all its blocks. */
function groupConflicts(conflicts: readonly Conflict[]) {
  const keys = [...new Set(conflicts.map(({ fact, by }) => `${fact} ${by}`))];
  return keys.map((key) => {
    const group = conflicts.filter(({ fact, by }) => `${fact} ${by}` === key);
    const [first] = group as [Conflict];
    return { fact: first.fact, by: first.by, blocks: group.map(({ block }) => block) };
  });
}
