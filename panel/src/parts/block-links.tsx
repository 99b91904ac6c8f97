import { useLabels } from "../api/labels.ts";
import { contextRoute, pathOf } from "../base/paths.ts";
import { go } from "../base/route.ts";

export type BlockLinksProps = { readonly session: string; readonly blocks: readonly number[] };

const shownMax = 12;

/** Blocks with what they are about, each a way to look at it. */
export function BlockLinks({ session, blocks }: BlockLinksProps) {
  const some = blocks.slice(0, shownMax);
  const labels = useLabels(session, some);
  return (
    <ul className="block-links">
      {some.map((block) => {
        const route = { ...contextRoute(session), block };
        return (
          <li key={block}>
            <a
              href={pathOf(route)}
              onClick={(event) => {
                if (event.ctrlKey || event.metaKey || event.shiftKey) return;
                event.preventDefault();
                go(route);
              }}
            >
              #{block}
            </a>{" "}
            <span className="dim">{labels.get(block) ?? ""}</span>
          </li>
        );
      })}
      {blocks.length > shownMax ? <li className="dim">and {blocks.length - shownMax} more</li> : null}
    </ul>
  );
}
