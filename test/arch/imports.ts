import { posix } from "node:path";
import { mask } from "./mask.ts";

/** Paths are relative to the repository, with forward slashes. */
export type FileMap = ReadonlyMap<string, string>;

export type Import = {
  readonly line: number;
  /** As written, except that a relative one is resolved to a path in the repository. */
  readonly target: string;
  readonly relative: boolean;
  /** Types are gone when the code runs; a lazy import happens when its line is reached, if ever. */
  readonly when: "start" | "lazy" | "never";
  /** Names between the braces; empty for other forms. */
  readonly names: readonly string[];
};

export type SourceFile = {
  readonly path: string;
  /** The folder below src, or undefined for a file directly in src. */
  readonly folder: string | undefined;
  readonly isTest: boolean;
  readonly code: string;
  readonly imports: readonly Import[];
  /** Lines with an import whose target is computed, so that no rule can see it. */
  readonly computedImports: readonly number[];
};

export function readSources(files: FileMap): SourceFile[] {
  return [...files]
    .filter(([path]) => path.startsWith("src/") && /\.[cm]?[jt]s$/.test(path))
    .map(([path, source]) => readSource(path, source));
}

function readSource(path: string, source: string): SourceFile {
  const { code } = mask(source);
  const [, folder, ...rest] = path.split("/");
  return {
    path,
    folder: rest.length === 0 ? undefined : folder,
    isTest: path.endsWith(".test.ts"),
    code,
    imports: findImports(path, source, code),
    computedImports: [...code.matchAll(/(?<![.\w$])(?:import|require)\s*\(\s*(?!["'`\s])/g)].map((match) =>
      lineAt(code, match.index),
    ),
  };
}

// Matched against code whose strings are blank: the quote at the end of a match is where the target begins.
const importForms: readonly RegExp[] = [
  /(?<![.\w$])(?:import|export)\s+(?:type\s+)?([\w$\s{},*]+?)\s*from\s*(["'])/g,
  /(?<![.\w$])import\s*(["'])/g,
  /(?<![.\w$])(?:import|require)\s*\(\s*(["'`])/g,
];

function findImports(path: string, source: string, code: string): Import[] {
  return importForms.flatMap((form) =>
    [...code.matchAll(form)].map((match) => {
      const start = match.index + match[0].length;
      const quote = match.at(-1) ?? '"';
      const written = source.slice(start, source.indexOf(quote, start));
      const relative = written.startsWith(".");
      return {
        line: lineAt(code, match.index),
        target: relative ? posix.join(posix.dirname(path), written) : written,
        relative,
        when: whenOf(match[0]),
        names: match.length > 2 ? namesIn(match[1] ?? "") : [],
      };
    }),
  );
}

function whenOf(written: string): Import["when"] {
  if (/^(?:import|export)\s+type\b/.test(written)) return "never";
  return /^(?:import|require)\s*\(/.test(written) ? "lazy" : "start";
}

function namesIn(clause: string): string[] {
  const inside = /\{([^}]*)\}/.exec(clause)?.[1] ?? clause;
  return inside
    .split(",")
    .map((part) =>
      part
        .trim()
        .replace(/^type\s+/, "")
        .replace(/\s+as\s+.*$/, ""),
    )
    .filter((name) => name !== "");
}

export function lineAt(text: string, position: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < position; at = text.indexOf("\n", at + 1)) line += 1;
  return line;
}
