import { spawn } from "node:child_process";

export type Program = {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly limitMs: number;
};

/** Runs one process and returns its output. If it fails, the error holds everything it printed. */
export function runProgram({ program, args, cwd, env, limitMs }: Program): Promise<string> {
  const child = spawn(program, args, {
    cwd,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    timeout: limitMs,
    killSignal: "SIGKILL",
  });
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => {
      const output = Buffer.concat(out).toString("utf8");
      if (code === 0) resolve(output);
      else reject(new Error(`${program} ended with ${code ?? signal}: ${output}\n${Buffer.concat(err)}`));
    });
  });
}
