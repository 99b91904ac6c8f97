import { createInterface } from "node:readline/promises";
import type { VerbCall } from "./verb-call.ts";

/** Prompts at the terminal and returns the answer in lower case, or null if the verb may not prompt. */
export async function promptUser(
  { screen }: Pick<VerbCall, "screen">,
  question: string,
): Promise<string | null> {
  if (!screen.mayPrompt) return null;
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    // Ctrl-D and Ctrl-C count as an empty answer: the user has agreed to nothing.
    const closed = new Promise<string>((done) => lines.once("close", () => done("")));
    return (await Promise.race([lines.question(question), closed])).trim().toLowerCase();
  } finally {
    lines.close();
  }
}

/** Confirms an act that cannot be undone: with `--yes`, or by asking the user. */
export async function isConfirmed(
  call: Pick<VerbCall, "screen" | "flags">,
  question: string,
): Promise<boolean> {
  if (call.flags.has("yes")) return true;
  const answer = await promptUser(call, `${question} [y/N] `);
  return answer === "y" || answer === "yes";
}
