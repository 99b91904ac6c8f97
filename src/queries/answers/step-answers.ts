import type { Actor } from "../../engine/frames/index.ts";

/** One step: the changes of a user, a model or policy that are undone together. */
export type StepRow = {
  readonly step: number;
  readonly actor: Actor;
  /** The reason its actor gave: `not used for a while`. May be empty. */
  readonly reason: string;
  /** The changes in words: `trimmed #18 #20`. Null while its frames cannot be read. */
  readonly did: string | null;
  /** The same, shorter, with blocks counted: `archived 3 blocks and pinned #31`. */
  readonly said: string | null;
  /** Estimated tokens by which the wanted sizes shrank; negative if they grew. */
  readonly frees: number;
  readonly blocks: readonly number[];
  /** False while it is undone. */
  readonly done: boolean;
  /** The actor of its last undo or redo, else of the step itself. */
  readonly by: Actor;
  /** The seq of its first frame. `lastSeq`: the frame that last did, undid or redid it. */
  readonly seq: number;
  readonly lastSeq: number;
  /** The time of its first frame; null while that is not on disk. */
  readonly time: number | null;
};

export type StepsPage = {
  readonly session: string;
  readonly seq: number;
  readonly total: number;
  /** The newest last. */
  readonly rows: readonly StepRow[];
  /** The `below` of the next page; null if there are no older steps. */
  readonly next: number | null;
};
