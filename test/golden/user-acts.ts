import { must, type SessionId, unwrap } from "../../src/base/index.ts";
import type { Frame } from "../../src/engine/frames/index.ts";
import { answerQuestion } from "../../src/host/answer-question.ts";
import type { SessionRecorder } from "../../src/recorder/index.ts";
import type { Store } from "../../src/store/index.ts";
import { actDepsOver } from "../support/act-on-log.ts";
import type { GoldenAct } from "./session-file.ts";

export type UserActDeps = {
  readonly recorder: SessionRecorder;
  readonly store: Store;
  readonly session: SessionId;
};

/** Performs what the user does to the blocks that hold the words, as the control API does. */
export async function performAct(deps: UserActDeps, act: GoldenAct): Promise<void> {
  const { recorder, store, session } = deps;
  await store.flush();
  const frames = unwrap(await store.frames({ session, after: 0, limit: 1000 }));
  const found = await Promise.all(act.words.map((words) => blocksWith(store, frames, words)));
  const blocks = found.flat();
  const host = actDepsOver(recorder, store);
  const { skipped } =
    act.act === "select"
      ? unwrap(await answerQuestion(host, { type: "select", session, blocks }))
      : unwrap(
          await answerQuestion(host, { type: "act", session, dryRun: false, ...commandFor(act, blocks) }),
        );
  if (skipped.length > 0) throw new Error(`left alone: ${JSON.stringify(skipped)}`);
}

function commandFor({ act, words: _, when, ...fields }: GoldenAct, blocks: readonly number[]) {
  const command = { verb: act, target: blocks.map((block) => `#${block}`).join(", "), ...fields };
  return { command, ...(when === undefined ? {} : { when }) };
}

async function blocksWith(store: Store, frames: readonly Frame[], words: string): Promise<readonly number[]> {
  const found: number[] = [];
  for (const delta of frames.flatMap(({ deltas }) => deltas)) {
    if (delta.type !== "block-added") continue;
    const content = unwrap(await store.content(delta.block.content));
    if (Buffer.from(content).includes(words)) found.push(delta.block.id);
  }
  must(found[0], `a block says "${words}"`);
  return found;
}
