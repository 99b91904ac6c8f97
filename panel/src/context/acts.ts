import { wordsOf, write } from "../api/client.ts";
import type { PricedCommand, RouteAnswers } from "../api/contract.ts";
import { refresh } from "../api/resource.ts";
import { randomKey } from "../base/random-key.ts";
import { currentRoute } from "../base/route.ts";
import { manyText } from "../base/words.ts";
import { say, warn } from "../parts/toasts.tsx";

export const modes = ["observe", "ask", "auto"] as const;
export type Mode = (typeof modes)[number];

/** What a mode means, before it is chosen and after. */
export const modeAbout: Readonly<Record<Mode, string>> = {
  observe: "requests go up as the client sends them, and the model is told nothing",
  ask: "every command of the model that changes something waits for you",
  auto: "what can be taken back is done and announced; the rest waits for you",
};

/** A command as the server takes it in fields. */
export type Wanted = Readonly<Record<string, unknown>> & { readonly verb: string };

export function sessionPath(session: string): string {
  return `/sessions/${encodeURIComponent(session)}`;
}

/** The stream that the address names, as a query; empty for the main one. */
export function streamQuery(): string {
  const route = currentRoute();
  return route.screen === "context" && route.stream !== null ? `?stream=${route.stream}` : "";
}

/** Blocks as a target: `12,27,31`. */
export function targetOf(blocks: Iterable<number>): string {
  return [...blocks].sort((a, b) => a - b).join(",");
}

export function wantedFor(verb: string, blocks: readonly number[]): Wanted {
  return { verb, target: targetOf(blocks) };
}

/** What it would come to, from the code that would do it. */
export async function plan(session: string, wanted: Wanted): Promise<PricedCommand> {
  return await write<PricedCommand>("POST", `${sessionPath(session)}/plan${streamQuery()}`, {
    command: wanted,
  });
}

/** With the next request, whatever it costs; or when it costs least. */
export type When = "now" | "cache-break";

/** Null: it failed, and that was said. */
export async function act(
  session: string,
  wanted: Wanted,
  when: When = "cache-break",
): Promise<PricedCommand | null> {
  // Sent again after a broken connection, it is not done again.
  const body = { command: wanted, when, key: randomKey() };
  return await attempt(session, async () => {
    const answer = await write<PricedCommand>("POST", `${sessionPath(session)}/ops${streamQuery()}`, body);
    // A step is announced by what watches them, whoever made it.
    if (answer.step === null) say(firstLine(answer.text));
    return answer;
  });
}

export async function undo(session: string, step?: number): Promise<void> {
  await reverse(session, "undo", step);
}

export async function redo(session: string, step?: number): Promise<void> {
  await reverse(session, "redo", step);
}

/** Everything that was done to blocks since a seq is taken back, as far as nothing stands in the way. */
export async function restore(session: string, seq: number): Promise<void> {
  await attempt(session, async () => {
    const path = `${sessionPath(session)}/undo`;
    const { steps, problem } = await write<RouteAnswers["ReverseAnswer"]>("POST", path, { to: seq });
    say(`Restored what held at seq ${seq}: ${manyText(steps.length, "step")} reversed`);
    if (problem !== null) warn(`The rest stays as it is: ${problem.message}`);
  });
}

async function reverse(session: string, verb: "undo" | "redo", step?: number): Promise<void> {
  const body = step === undefined ? {} : { step };
  await attempt(session, async () => {
    const answer = await write<RouteAnswers["ReverseAnswer"]>(
      "POST",
      `${sessionPath(session)}/${verb}`,
      body,
    );
    const { did, step: number } = answer.step;
    const other = verb === "undo" ? "redo" : "undo";
    say(`${verb === "undo" ? "Taken back" : "Done again"}: ${did ?? `step ${number}`}`, {
      title: other === "redo" ? "Redo" : "Undo",
      run: () => void reverse(session, other, number),
    });
    return answer;
  });
}

/** The blocks the model is pointed at with the next prompt. */
export async function focusOn(session: string, blocks: readonly number[]): Promise<void> {
  await attempt(session, async () => {
    const path = `${sessionPath(session)}/selection${streamQuery()}`;
    const answer = await write<RouteAnswers["SelectAnswer"]>("PUT", path, { blocks });
    const words =
      blocks.length === 0 ? "No block is focused any more" : `The model will read: ${answer.told ?? ""}`;
    say(words);
    return answer;
  });
}

export async function setMode(session: string, mode: Mode): Promise<void> {
  await attempt(session, async () => {
    const answer = await write<RouteAnswers["ModeAnswer"]>("PUT", `${sessionPath(session)}/mode`, { mode });
    say(`Mode ${mode} from the next request on: ${modeAbout[mode]}`);
    return answer;
  });
}

/** Says what went wrong, and reads again what may have changed, whatever came of it. */
export async function attempt<T>(session: string, doing: () => Promise<T>): Promise<T | null> {
  try {
    return await doing();
  } catch (error) {
    warn(wordsOf(error));
    return null;
  } finally {
    refresh(sessionPath(session));
  }
}

function firstLine(text: string): string {
  const line = text.split("\n", 1)[0] ?? "";
  return line.length > 160 ? `${line.slice(0, 159)}…` : line;
}
