import { expect, vi } from "vitest";
import type { StateRow } from "../../src/queries/answers/index.ts";
import { api, type Rig } from "../cli/rig.ts";

/** The seq once the answer after the tool result is recorded: the log may be a request behind the client. */
export async function answeredSeq(rig: Rig): Promise<number> {
  return await vi.waitFor(
    async () => {
      const { seq, blocks } = (await api(rig, "/api/v1/sessions/last/state")) as StateRow;
      const result = blocks.find(({ kind }) => kind === "tool-result");
      const answer = blocks.findLast(({ kind }) => kind === "assistant");
      expect(answer?.addedSeq).toBeGreaterThan(result?.addedSeq ?? seq);
      return seq;
    },
    { timeout: 20_000, interval: 100 },
  );
}
