import { readFileSync } from "node:fs";

/** A block of a page that is a line, or several, to be typed. */
export type Example = {
  readonly page: string;
  readonly line: number;
  readonly source: string;
  /** From `# exits: N`; nought where nothing is said. */
  readonly exits: number;
  /** From `# prints: WORDS`, each. */
  readonly prints: readonly string[];
};

/** The blocks of one language in a page; what they come to stands in them as comments. */
export function examplesIn(page: string, language: string): readonly Example[] {
  const found: Example[] = [];
  let block: { line: number; lines: string[] } | null = null;
  for (const [at, text] of readFileSync(page, "utf8").split("\n").entries()) {
    if (block === null && text === `\`\`\`${language}`) block = { line: at + 1, lines: [] };
    else if (block !== null && text === "```") {
      found.push(exampleOf(page, block.line, block.lines));
      block = null;
    } else block?.lines.push(text);
  }
  return found;
}

function exampleOf(page: string, line: number, lines: readonly string[]): Example {
  const said = (word: string) =>
    lines.flatMap((text) => (text.startsWith(`# ${word}: `) ? [text.slice(word.length + 4)] : []));
  const source = lines.filter((text) => !/^# (?:prints|exits): /.test(text)).join("\n");
  return { page, line, source, exits: Number(said("exits")[0] ?? 0), prints: said("prints") };
}
