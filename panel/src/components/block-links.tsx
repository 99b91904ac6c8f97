import { useLabels } from "../api/labels.ts";
import { linkTo } from "../base/link.ts";
import { contextRoute } from "../base/routes.ts";

export type BlockLinksProps = { readonly session: string; readonly blocks: readonly number[] };

const shownMax = 12;

/** Links to blocks, each with its label. */
export function BlockLinks({ session, blocks }: BlockLinksProps) {
  const some = blocks.slice(0, shownMax);
  const labels = useLabels(session, some);
  return (
    <ul className="block-links">
      {some.map((block) => (
        <li key={block}>
          <a {...linkTo({ ...contextRoute(session), block })}>#{block}</a>{" "}
          <span className="dim">{labels.get(block) ?? ""}</span>
        </li>
      ))}
      {blocks.length > shownMax ? <li className="dim">and {blocks.length - shownMax} more</li> : null}
    </ul>
  );
}
