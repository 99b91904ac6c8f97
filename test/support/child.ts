import { type ChildProcess, spawn } from "node:child_process";

/** What a child said and how it ended. */
export type Ended = {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
};
export type Child = {
  readonly process: ChildProcess;
  readonly lines: readonly string[];
  /** Resolves with the first line that passes, or null if the child ends without one. */
  readonly said: (test: (line: string) => boolean) => Promise<string | null>;
  readonly ended: Promise<Ended>;
};

/** Starts a Node program. Lines cut off by a kill do not count as said. */
export function startChild(
  script: string,
  args: readonly string[],
  stdin: "ignore" | "pipe" = "ignore",
): Child {
  return startNode([script, ...args], stdin);
}

/** The same with everything that stands behind `node`. */
export function startNode(words: readonly string[], stdin: "ignore" | "pipe"): Child {
  const child = spawn(process.execPath, words, { stdio: [stdin, "pipe", "pipe"] });
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  let rest = "";
  let stderr = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    const parts = (rest + chunk.toString("utf8")).split("\n");
    rest = parts.pop() ?? "";
    lines.push(...parts);
    for (const look of waiting) look();
  });
  child.stderr?.on("data", (chunk: Buffer) => {
    stderr += chunk.toString("utf8");
  });
  const ended = new Promise<Ended>((resolve) => {
    child.on("close", (code, signal) => resolve({ code, signal, stderr }));
  });
  return { process: child, lines, ended, said: (test) => said(test) };

  function said(test: (line: string) => boolean): Promise<string | null> {
    return new Promise((resolve) => {
      const look = (): void => {
        const line = lines.find(test);
        if (line === undefined) return;
        waiting.delete(look);
        resolve(line);
      };
      waiting.add(look);
      void ended.then(() => resolve(lines.find(test) ?? null));
      look();
    });
  }
}
