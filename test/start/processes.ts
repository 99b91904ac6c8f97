import { type ChildProcess, spawn } from "node:child_process";
import { type AddressInfo, createServer } from "node:net";

export type Running = {
  readonly pid: number;
  readonly output: () => string;
  /** Resolves when the pattern shows up in the output; rejects if the process or the time ends first. */
  readonly waitFor: (pattern: RegExp, withinMs: number) => Promise<void>;
  readonly signal: (name: NodeJS.Signals) => void;
  readonly exited: Promise<number | null>;
  /** Ends the process and all its children, whatever state they are in. For clean-up: it never fails. */
  readonly kill: () => void;
};

type Options = { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> };

/** A process group of its own (`detached`): ending npm must end the server that npm started. */
export function start(command: readonly string[], { cwd, env }: Options = {}): Running {
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
    waitFor: (pattern, withinMs) => waitFor({ pattern, withinMs, output: () => output, listeners, exited }),
    signal: (name) => {
      child.kill(name);
    },
    exited,
    kill: () => killGroup(child),
  };
}

/** What the test runner sets for itself must not reach the processes under test. */
function cleanEnvironment(extra: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(?:APERTURE_|VITEST|NODE_ENV$)/.test(name));
  return { ...Object.fromEntries(kept), ...extra };
}

type Wait = {
  readonly pattern: RegExp;
  readonly withinMs: number;
  readonly output: () => string;
  readonly listeners: Set<() => void>;
  readonly exited: Promise<number | null>;
};

function waitFor({ pattern, withinMs, output, listeners, exited }: Wait): Promise<void> {
  return new Promise((resolve, reject) => {
    const giveUp = (why: string) => {
      finish();
      reject(new Error(`${why} before ${pattern} was printed. Output:\n${output()}`));
    };
    const timer = setTimeout(() => giveUp(`${withinMs} ms passed`), withinMs);
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
    exited.then((code) => giveUp(`the process ended with ${code}`), reject);
  });
}

function killGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  } catch {
    // Already gone, which is what was wanted.
  }
}

/** Free at the time of asking. Good enough: nothing else on a test machine takes ports at that moment. */
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
