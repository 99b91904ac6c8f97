import { hashContent } from "../../base/index.ts";
import type { Body, Content, Side } from "../../store/index.ts";
import type { Attached } from "../outbox.ts";

type KeptResponse = { readonly contents: readonly Content[]; readonly body: Body };

/** What came back is one content, as it came. */
export function responseBody(
  { session, exchange }: Pick<Body, "session" | "exchange">,
  bytes: Uint8Array,
): KeptResponse {
  const hash = hashContent(bytes);
  const recipe = [{ from: "content", content: hash, start: 0, length: bytes.length }] as const;
  const side: Side = "upstream-response";
  return {
    contents: [{ hash, bytes }],
    body: { session, exchange, side, hash, length: bytes.length, recipe: bytes.length === 0 ? [] : recipe },
  };
}

/** Where one append takes several frames, contents go with the first and bodies with the last. */
export function attachedTo(attached: Attached, isFirst: boolean, isLast: boolean): Attached {
  if (isFirst && isLast) return attached;
  const { contents, bodies } = attached;
  if (isFirst) return contents === undefined ? {} : { contents };
  return isLast && bodies !== undefined ? { bodies } : {};
}
