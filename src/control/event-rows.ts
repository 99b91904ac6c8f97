import type { EngineEvent } from "../session/index.ts";

/** Sent when events were left out: what was read before must be read again. */
export type ResyncEvent = {
  readonly type: "resync";
  readonly session: string | null;
  readonly seq: number | null;
};
/** Sent last: Aperture is being ended, and nothing comes until it is started again. */
export type EndedEvent = { readonly type: "ended" };
export type ViewerEvent = EngineEvent | ResyncEvent | EndedEvent;
