import type { ViewId } from "../base/index.ts";
import type { Frame } from "../engine/frames/index.ts";
import { type ApprovalState, approvalOf, type Moment } from "../engine/moment/index.ts";
import type { Change } from "./change.ts";

/** What the frames say about commands that wait for the user, each once and as it stands now. */
export function approvalChanges(frames: readonly Frame[], moment: Moment, view: ViewId): readonly Change[] {
  const ids = frames.flatMap(({ deltas }) =>
    deltas.flatMap((delta) => {
      if (delta.type === "approval-asked") return [delta.approval.id];
      return delta.type === "approval-decided" ? [delta.approval] : [];
    }),
  );
  const known = [...new Set(ids)].flatMap((id) => approvalOf(moment, id) ?? []);
  return known.filter((approval) => approval.view === view).map(changeOf);
}

function changeOf({ stand, verb, blocks, reason, by }: ApprovalState): Change {
  const isAnswer = stand === "approved" || stand === "denied";
  const ids = blocks.map(Number).sort((a, b) => a - b);
  return { actor: by, what: stand, blocks: ids, tokens: 0, reason: isAnswer ? reason : "", verb };
}
