import { spawn } from "node:child_process";
import { constants } from "node:os";
import type { Environment } from "../../config/index.ts";

export type ChildOptions = {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Environment;
  /** At a terminal, Ctrl-C reaches the child without us. */
  readonly isTerminal: boolean;
};

/** The exit code of the child, or the code of the error that kept it from starting. */
export type ChildEnd = { readonly exit: number } | { readonly error: string };

const passedOn = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const;
const fromKeys: readonly string[] = ["SIGINT", "SIGQUIT"];

/** Runs a program in our place: it has our terminal, gets our signals, and its end is ours. */
export function runChild({ file, args, env, isTerminal }: ChildOptions): Promise<ChildEnd> {
  const child = spawn(file, [...args], { env: { ...env }, stdio: "inherit" });
  const pass = (signal: NodeJS.Signals): void => {
    if (isPassedOn(signal, isTerminal)) child.kill(signal);
  };
  for (const signal of passedOn) process.on(signal, pass);
  return new Promise<ChildEnd>((done) => {
    child.once("error", (error) => done({ error: "code" in error ? `${error.code}` : error.message }));
    child.once("exit", (code, signal) => done({ exit: code ?? 128 + numberOf(signal) }));
  }).finally(() => {
    for (const signal of passedOn) process.off(signal, pass);
  });
}

/**
 * A key at the terminal signals every process there. Passing it on would make it two, and clients that ask
 * for a second Ctrl-C before they end would end at the first.
 */
export function isPassedOn(signal: NodeJS.Signals, isTerminal: boolean): boolean {
  return !(isTerminal && fromKeys.includes(signal));
}

/** Shells say 128 and the number of the signal. */
function numberOf(signal: NodeJS.Signals | null): number {
  return signal === null ? 0 : constants.signals[signal];
}
