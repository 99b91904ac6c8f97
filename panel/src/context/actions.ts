import { errorText, write } from "../api/client.ts";
import type { PricedCommand, RouteAnswers } from "../api/contract.ts";
import { refresh } from "../api/resource.ts";
import { pluralText } from "../base/format.ts";
import { currentRoute } from "../base/navigation.ts";
import { showError, showToast } from "../components/toasts.tsx";

export const modes = ["observe", "ask", "auto"] as const;
export type Mode = (typeof modes)[number];

/** Each completes the sentence "In this mode ...". */
export const modeDescriptions: Readonly<Record<Mode, string>> = {
  observe: "requests pass unchanged, and the model is told nothing",
  ask: "every command of the model that changes something waits for you",
  auto: "commands that can be undone run and are announced; the others wait for you",
};

/** A command as the API takes it: a verb and its arguments. */
export type CommandFields = Readonly<Record<string, unknown>> & { readonly verb: string };

export function sessionPath(session: string): string {
  return `/sessions/${encodeURIComponent(session)}`;
}

/** The query that names the stream of the current route; empty for the main stream. */
export function streamQuery(): string {
  const route = currentRoute();
  return route.screen === "context" && route.stream !== null ? `?stream=${route.stream}` : "";
}

/** Blocks as a target: `12,27,31`. */
export function targetOf(blocks: Iterable<number>): string {
  return [...blocks].sort((a, b) => a - b).join(",");
}

export function commandOn(verb: string, blocks: readonly number[]): CommandFields {
  return { verb, target: targetOf(blocks) };
}

/** Asks the server for the effect and the cost of a command, without running it. */
export async function previewCommand(session: string, command: CommandFields): Promise<PricedCommand> {
  return await write<PricedCommand>("POST", `${sessionPath(session)}/plan${streamQuery()}`, { command });
}

/** `now`: with the next request, at any cost. `cache-break`: when it costs least. */
export type When = "now" | "cache-break";

/** Runs a command. Null if it failed; the user has been told why. */
export async function runCommand(
  session: string,
  command: CommandFields,
  when: When = "cache-break",
): Promise<PricedCommand | null> {
  const body = { command, when, key: idempotencyKey() };
  return await attempt(session, async () => {
    const answer = await write<PricedCommand>("POST", `${sessionPath(session)}/ops${streamQuery()}`, body);
    // `useStepToasts` announces steps; a command without a step is announced here.
    if (answer.step === null) showToast(firstLine(answer.text));
    return answer;
  });
}

/** Prevents a repeated request from running twice. `crypto.randomUUID` does not exist on plain http. */
function idempotencyKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}

export async function undo(session: string, step?: number): Promise<void> {
  await reverse(session, "undo", step);
}

export async function redo(session: string, step?: number): Promise<void> {
  await reverse(session, "redo", step);
}

/** Undoes every step after a seq, up to the first one that cannot be undone. */
export async function restoreTo(session: string, seq: number): Promise<void> {
  await attempt(session, async () => {
    const path = `${sessionPath(session)}/undo`;
    const { steps, problem } = await write<RouteAnswers["ReverseAnswer"]>("POST", path, { to: seq });
    showToast(`Restored seq ${seq}: ${pluralText(steps.length, "step")} reversed`);
    if (problem !== null) showError(`The other steps were not reversed: ${problem.message}`);
  });
}

async function reverse(session: string, verb: "undo" | "redo", step?: number): Promise<void> {
  const body = step === undefined ? {} : { step };
  await attempt(session, async () => {
    const path = `${sessionPath(session)}/${verb}`;
    const answer = await write<RouteAnswers["ReverseAnswer"]>("POST", path, body);
    const { did, step: number } = answer.step;
    const other = verb === "undo" ? "redo" : "undo";
    const button = {
      title: other === "redo" ? "Redo" : "Undo",
      run: () => void reverse(session, other, number),
    };
    showToast(`${verb === "undo" ? "Undone" : "Redone"}: ${did ?? `step ${number}`}`, { button });
    return answer;
  });
}

/** Sets the selection: the blocks the model is pointed at with the next prompt. */
export async function selectForModel(session: string, blocks: readonly number[]): Promise<void> {
  await attempt(session, async () => {
    const path = `${sessionPath(session)}/selection${streamQuery()}`;
    const answer = await write<RouteAnswers["SelectAnswer"]>("PUT", path, { blocks });
    showToast(blocks.length === 0 ? "Selection cleared" : `The model will read: ${answer.told ?? ""}`);
    return answer;
  });
}

export async function setMode(session: string, mode: Mode): Promise<void> {
  await attempt(session, async () => {
    const answer = await write<RouteAnswers["ModeAnswer"]>("PUT", `${sessionPath(session)}/mode`, { mode });
    showToast(`Mode ${mode} from the next request on: ${modeDescriptions[mode]}`);
    return answer;
  });
}

/** Runs a write, shows its error as a toast, and reads the session again in either case. */
export async function attempt<T>(session: string, run: () => Promise<T>): Promise<T | null> {
  try {
    return await run();
  } catch (error) {
    showError(errorText(error));
    return null;
  } finally {
    refresh(sessionPath(session));
  }
}

function firstLine(text: string): string {
  const line = text.split("\n", 1)[0] ?? "";
  return line.length > 160 ? `${line.slice(0, 159)}…` : line;
}
