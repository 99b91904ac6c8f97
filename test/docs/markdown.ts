import { existsSync, readFileSync } from "node:fs";
import { posix } from "node:path";

/** A missing page reads as empty, so that the test names every heading it lacks instead of crashing. */
export function page(path: string): string {
  return existsSync(path) ? readFileSync(path, "utf8") : "";
}

/** Fenced code shows examples; what stands in it is neither a heading nor a link. */
export function withoutCode(markdown: string): string {
  return markdown.replace(/^(```|~~~)[\s\S]*?^\1[^\S\n]*$/gm, "").replace(/`[^`\n]*`/g, "``");
}

/** The texts of all headings of one depth, with code marks removed. */
export function headings(markdown: string, depth: number): string[] {
  const prose = markdown.replace(/^(```|~~~)[\s\S]*?^\1[^\S\n]*$/gm, "");
  return [...prose.matchAll(new RegExp(`^#{${depth}} +(.+?) *#*$`, "gm"))].map((match) =>
    (match[1] ?? "").replaceAll("`", ""),
  );
}

/** First cells of all table rows, split at commas: a row may define several words. `\\|` is a pipe. */
export function tableWords(markdown: string): string[] {
  return [...markdown.matchAll(/^\|((?:\\\||[^|])+)\|/gm)]
    .flatMap((match) => (match[1] ?? "").replaceAll("\\|", "|").replaceAll(/[*`]/g, "").split(","))
    .map((word) => word.trim())
    .filter((word) => word !== "" && !/^[-: ]+$/.test(word));
}

/** Anchors as GitHub and most hosts make them from headings. */
function anchors(markdown: string): Set<string> {
  const all = [1, 2, 3, 4, 5, 6].flatMap((depth) => headings(markdown, depth));
  return new Set(
    all.map((text) =>
      text
        .toLowerCase()
        .replaceAll(/[^\w\- ]/g, "")
        .replaceAll(" ", "-"),
    ),
  );
}

/** Relative links of one page whose file or heading does not exist. */
export function brokenLinks(path: string, files: ReadonlyMap<string, string>): string[] {
  const targets = [...withoutCode(files.get(path) ?? "").matchAll(/\]\(\s*<?([^)\s>]+)/g)].map(
    (m) => m[1] ?? "",
  );
  return targets
    .filter((target) => !/^[a-z][a-z0-9+.-]*:/i.test(target))
    .filter((target) => {
      const [file = "", anchor] = target.split("#");
      const resolved =
        file === "" ? path : posix.join(posix.dirname(path), decodeURI(file)).replace(/\/$/, "");
      const isFolder = [...files.keys()].some((known) => known.startsWith(`${resolved}/`));
      if (!files.has(resolved) && !isFolder) return true;
      return anchor !== undefined && !anchors(files.get(resolved) ?? "").has(anchor);
    })
    .map((target) => `${path}: ${target}`);
}
