import type { Json } from "../base/index.ts";

/** The commands of one answer. */
export type CommandBatch = {
  /** The request that the answer belongs to. */
  readonly requestId: string;
  readonly calls: readonly CommandCall[];
  /** The nonce of our notes. */
  readonly nonce: string;
  /** The configured mode. The user may have set another one for the session. */
  readonly mode: "observe" | "ask" | "auto";
  /** Whether new content from outside looks like commands. */
  readonly isTainted: boolean;
};

/** A call of one of our tools, or a command line as such a call. */
export type CommandCall = {
  readonly id: string;
  readonly name: string;
  readonly input: { readonly [key: string]: Json };
};

/** The result of a command call as a text for the model. */
export type CommandResult = { readonly id: string; readonly text: string; readonly isError: boolean };
