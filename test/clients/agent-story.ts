import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeFolders } from "./agent-folders.ts";

/** A session of a client program: where it lives, whom it talks to, and what it is told. */
export type AgentRun = {
  readonly home: string;
  readonly project: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly prompts: readonly string[];
};
export type AgentStory = {
  /** What each prompt came to. */
  readonly said: readonly string[];
  /** What the client has kept of the session. */
  readonly transcript: string;
};
export type Agent = (run: AgentRun) => Promise<AgentStory>;

type Play = Pick<AgentRun, "url" | "headers"> & {
  readonly files: Readonly<Record<string, string>>;
  /** Told the folder the client works in, which only now exists. */
  readonly prompts: (project: string) => readonly string[];
};

/** Plays a session in a home and a project of its own. */
export async function playAgent(agent: Agent, { files, prompts, ...rest }: Play): Promise<AgentStory> {
  const { home, project, remove } = makeFolders();
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(project, name), text);
    return await agent({ ...rest, home, project, prompts: prompts(project) });
  } finally {
    remove();
  }
}
