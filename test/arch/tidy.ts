import { isCode } from "./files.ts";
import { type FileMap, lineAt } from "./imports.ts";
import { type Masked, mask } from "./mask.ts";

type TidyRule = {
  readonly name: string;
  readonly why: string;
  readonly applies: (path: string) => boolean;
  /** Which layer of a source to look at; `all` is the text as it stands. */
  readonly layer: keyof Masked | "all";
  readonly pattern: RegExp;
};

const isTest = (path: string) => path.endsWith(".test.ts");
const isProduct = (path: string) => path.startsWith("src/") && !isTest(path);
const isLockFile = (path: string) => path === "package-lock.json";

// Spelled in pieces so that this file does not break its own rules.
const unfinished = ["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"].join("|");
const registryHost = ["registry", "artifactory", "nexus", "verdaccio"].join("|");

export const tidyRules: readonly TidyRule[] = [
  {
    name: "unfinished work",
    why: "a marker in the code is a plan nobody sees; finish it or write it down where plans are kept",
    applies: (path) => !isLockFile(path),
    layer: "all",
    pattern: new RegExp(`\\b(?:${unfinished})\\b`, "g"),
  },
  {
    name: "any",
    why: "it switches the compiler off where it matters; use unknown and parse once",
    applies: isCode,
    layer: "code",
    pattern: /(?:[:<|&,(=]\s*|\bas\s+|\bextends\s+)any\b(?!\s*[:(.])/g,
  },
  {
    name: "silenced without a reason",
    why: "the next reader must be able to judge whether it still holds",
    applies: isCode,
    layer: "comments",
    // A reason is at least two words after the directive.
    pattern:
      /(?:@ts-(?:ignore|expect-error|nocheck)|biome-ignore(?:-\w+)?\s+[\w/]+)(?![\w/])(?![ \t]*:?[ \t]*\w+[ \t]+\w)/g,
  },
  {
    name: "default export",
    why: "a name that each importer chooses cannot be searched for",
    applies: isProduct,
    layer: "code",
    pattern: /\bexport\s+default\b|\bexport\s*\{[^}]*\bas\s+default\b/g,
  },
  {
    name: "focused or switched-off test",
    why: "a test that does not run passes for the wrong reason; context.skip(reason) says so in the report",
    applies: isTest,
    layer: "code",
    pattern:
      /\b(?:test|it|describe|suite|bench)(?:\.\w+)*\.(?:only|skip|todo|fails)\b|\b(?:xit|fit|xdescribe|fdescribe)\(/g,
  },
  {
    name: "machine path",
    why: "it is true on one machine only",
    applies: () => true,
    layer: "all",
    pattern: /(?<![\w.~)\]}*-])\/(?:work|root|home|Users)\/[\w.-]|\b[A-Z]:\\Users\\/g,
  },
  {
    name: "registry address",
    why: "every machine has its own registry; the lock file pins versions and hashes, not places",
    applies: () => true,
    layer: "all",
    pattern: new RegExp(
      `https?://[^\\s"'<>]*(?:${registryHost})[^\\s"'<>]*|\\b(?:${registryHost})\\.[\\w-]+\\.\\w+`,
      "gi",
    ),
  },
  {
    name: "resolved address in the lock file",
    why: "see .npmrc: omit-lockfile-registry-resolved",
    applies: isLockFile,
    layer: "all",
    pattern: /"resolved":/g,
  },
];

export function tidyProblems(files: FileMap): string[] {
  return [...files].flatMap(([path, source]) => {
    const masked = isCode(path) ? mask(source) : undefined;
    return tidyRules
      .filter((rule) => rule.applies(path))
      .flatMap((rule) => {
        const text = rule.layer === "all" ? source : (masked?.[rule.layer] ?? "");
        return [...text.matchAll(rule.pattern)].map(
          (match) => `${path}:${lineAt(text, match.index)}: ${rule.name}: ${match[0].trim()} (${rule.why})`,
        );
      });
  });
}
