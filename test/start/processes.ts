import { type ChildProcess, spawn } from "node:child_process";
import { type AddressInfo, createServer } from "node:net";

export type Running = {
  readonly pid: number;
  readonly output: () => string;
  /** Resolves when the output matches; rejects if the process or the time ends first. */
  readonly waitFor: (pattern: RegExp, withinMs?: number) => Promise<void>;
  readonly signal: (name: NodeJS.Signals) => void;
  readonly exited: Promise<number | null>;
  /** Kills the process and its children in any state. For clean-up: it never fails. */
  readonly kill: () => void;
};

type StartOptions = { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> };

/** Starts a process group (`detached`), so that killing npm also kills the server that npm started. */
export function start(command: readonly string[], { cwd, env }: StartOptions = {}): Running {
  const [program = "", ...args] = command;
  const child = spawn(program, args, {
    cwd,
    env: cleanEnvironment(env),
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const listeners = new Set<() => void>();
  const onText = (text: string) => {
    output += text;
    for (const listener of listeners) listener();
  };
  child.stdout.setEncoding("utf8").on("data", onText);
  child.stderr.setEncoding("utf8").on("data", onText);
  const exited = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve(code));
  });
  return {
    pid: child.pid ?? 0,
    output: () => output,
    waitFor: (pattern, withinMs = 150_000) =>
      waitFor({ pattern, withinMs, output: () => output, listeners, exited }),
    signal: (name) => {
      child.kill(name);
    },
    exited,
    kill: () => killGroup(child),
  };
}

/** Removes variables of the test runner from the environment. */
function cleanEnvironment(extra: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(?:APERTURE_|VITEST|NODE_ENV$)/.test(name));
  return { ...Object.fromEntries(kept), ...extra };
}

type WaitInput = {
  readonly pattern: RegExp;
  readonly withinMs: number;
  readonly output: () => string;
  readonly listeners: Set<() => void>;
  readonly exited: Promise<number | null>;
};

function waitFor({ pattern, withinMs, output, listeners, exited }: WaitInput): Promise<void> {
  return new Promise((resolve, reject) => {
    const failWait = (why: string) => {
      finish();
      reject(new Error(`${why} before ${pattern} was printed. Output:\n${output()}`));
    };
    const timer = setTimeout(() => failWait(`${withinMs} ms passed`), withinMs);
    const look = () => {
      if (!pattern.test(output())) return;
      finish();
      resolve();
    };
    const finish = () => {
      clearTimeout(timer);
      listeners.delete(look);
    };
    listeners.add(look);
    look();
    exited.then((code) => failWait(`the process ended with ${code}`), reject);
  });
}

function killGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  } catch {
    // It has already ended.
  }
}

/** A port that is free now. Nothing else on a test machine takes ports in between. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen({ host: "127.0.0.1", port: 0 }, () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
