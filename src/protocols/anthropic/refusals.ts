import type { RefusalReason } from "../protocol.ts";

const reasoningRefusal =
  /bound to a different conversation|invalid `?signature`? in `?thinking|blocks[^"]* cannot be modified/i;
const editRefusal = /context[_-]management|clear_tool_uses/i;

/**
 * Why the provider refused a request: reasoning that was changed or follows another prefix than it was made
 * for, or the edit it was asked for, or the field or beta that asks for one.
 */
export function refusalReason(body: Uint8Array): RefusalReason {
  const text = Buffer.from(body).toString("utf8");
  if (editRefusal.test(text)) return "edit";
  return reasoningRefusal.test(text) ? "reasoning" : "other";
}
