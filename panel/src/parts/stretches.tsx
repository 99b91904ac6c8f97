import { ScrollText } from "./scroll-text.tsx";
import type { Stretch } from "./word-diff.ts";

/** Two texts as one: what is on both sides, what only the one has, what only the other. */
export function Stretches({ stretches }: { readonly stretches: readonly Stretch[] }) {
  return (
    <ScrollText label="What differs">
      {stretches.map((stretch, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: stretches of one text never change their places.
        <StretchView key={at} stretch={stretch} />
      ))}
    </ScrollText>
  );
}

function StretchView({ stretch: { type, text } }: { readonly stretch: Stretch }) {
  if (type === "added") return <ins>{text}</ins>;
  return type === "left" ? <del>{text}</del> : <span>{text}</span>;
}
