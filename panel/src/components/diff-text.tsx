import { ScrollText } from "./scroll-text.tsx";
import type { DiffSpan } from "./word-diff.ts";

/** Shows two texts as one, with removed and added spans marked. */
export function DiffText({ spans }: { readonly spans: readonly DiffSpan[] }) {
  return (
    <ScrollText label="Differences">
      {spans.map((span, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the spans of one diff keep their order.
        <DiffSpanView key={at} span={span} />
      ))}
    </ScrollText>
  );
}

function DiffSpanView({ span: { type, text } }: { readonly span: DiffSpan }) {
  if (type === "added") return <ins>{text}</ins>;
  return type === "removed" ? <del>{text}</del> : <span>{text}</span>;
}
