import { spawn } from "node:child_process";
import { constants } from "node:os";
import type { Environment } from "../../config/index.ts";

export type ChildOptions = {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Environment;
  /** At a terminal, Ctrl-C reaches the child directly. */
  readonly isTerminal: boolean;
};

/** The exit code of the child, or the error code if it could not be started. */
export type ChildEnd = { readonly exit: number } | { readonly error: string };

const forwardedSignals = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const;
const keyboardSignals: readonly string[] = ["SIGINT", "SIGQUIT"];

/** Runs a program in our place: it gets our terminal and our signals, and we exit with its code. */
export function runChild({ file, args, env, isTerminal }: ChildOptions): Promise<ChildEnd> {
  const child = spawn(file, [...args], { env: { ...env }, stdio: "inherit" });
  const pass = (signal: NodeJS.Signals): void => {
    if (isForwarded(signal, isTerminal)) child.kill(signal);
  };
  for (const signal of forwardedSignals) process.on(signal, pass);
  return new Promise<ChildEnd>((done) => {
    child.once("error", (error) => done({ error: "code" in error ? `${error.code}` : error.message }));
    child.once("exit", (code, signal) => done({ exit: code ?? 128 + numberOf(signal) }));
  }).finally(() => {
    for (const signal of forwardedSignals) process.off(signal, pass);
  });
}

/**
 * A key at the terminal signals every process there. Forwarding it would send it twice, and clients that exit
 * on the second Ctrl-C would exit on the first.
 */
export function isForwarded(signal: NodeJS.Signals, isTerminal: boolean): boolean {
  return !(isTerminal && keyboardSignals.includes(signal));
}

/** Shells use 128 plus the number of the signal. */
function numberOf(signal: NodeJS.Signals | null): number {
  return signal === null ? 0 : constants.signals[signal];
}
