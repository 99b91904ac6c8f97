import { createInterface } from "node:readline/promises";
import type { Call } from "./call.ts";

/** Asks at the terminal and gives the answer in lower case; null where nobody can be asked. */
export async function ask({ screen }: Pick<Call, "screen">, question: string): Promise<string | null> {
  if (!screen.isAsking) return null;
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    // Ctrl-D or Ctrl-C is an answer too: nothing was agreed to.
    const closed = new Promise<string>((done) => lines.once("close", () => done("")));
    return (await Promise.race([lines.question(question), closed])).trim().toLowerCase();
  } finally {
    lines.close();
  }
}

/** Whether something may be done that cannot be taken back: `--yes` says so, else a person does. */
export async function isConfirmed(call: Pick<Call, "screen" | "flags">, question: string): Promise<boolean> {
  if (call.flags.has("yes")) return true;
  const answer = await ask(call, `${question} [y/N] `);
  return answer === "y" || answer === "yes";
}
