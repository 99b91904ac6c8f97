import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeFolders } from "./agent-folders.ts";

/** A session of a client program: its folders, the address it uses, and its prompts. */
export type AgentRun = {
  readonly home: string;
  readonly project: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly prompts: readonly string[];
};
export type AgentStory = {
  /** The answer to each prompt. */
  readonly answers: readonly string[];
  /** The client's own transcript of the session. */
  readonly transcript: string;
};
export type Agent = (run: AgentRun) => Promise<AgentStory>;

type AgentPlay = Pick<AgentRun, "url" | "headers"> & {
  readonly files: Readonly<Record<string, string>>;
  /** Gets the folder the client works in, which exists only when the session is played. */
  readonly prompts: (project: string) => readonly string[];
};

/** Plays a session in a home and a project of its own. */
export async function playAgent(agent: Agent, { files, prompts, ...rest }: AgentPlay): Promise<AgentStory> {
  const { home, project, remove } = makeFolders();
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(project, name), text);
    return await agent({ ...rest, home, project, prompts: prompts(project) });
  } finally {
    remove();
  }
}
