import { isConstraint, rankConstraints } from "./acceptance-constraints.ts";
import { flatText, indexText, type OriginalIndex } from "./acceptance-index.ts";
import { type ReadText, readText, type Statement } from "./acceptance-text.ts";

/** A text that summaries are judged against. It is read once. */
export class Original {
  readonly read: ReadText;
  /** The constraints that every summary must repeat. */
  readonly critical: readonly Statement[];
  /** The names that the original repeats most. */
  readonly mainNames: readonly string[];
  #texts: ReadonlySet<string> | null = null;
  #index: OriginalIndex | null = null;

  constructor(text: string) {
    this.read = readText(text);
    const { statements } = this.read;
    this.critical = rankConstraints(statements.filter(isConstraint), text.length);
    this.mainNames = mainNamesOf(statements);
  }

  /** Whether the original has this statement verbatim. */
  has({ text }: Statement): boolean {
    this.#texts ??= new Set(this.read.statements.map((statement) => statement.text));
    return this.#texts.has(text) || this.index.exact.has(flatText(text));
  }

  /** Built on first use: judging an extract does not need it. */
  get index(): OriginalIndex {
    this.#index ??= indexText(this.read);
    return this.#index;
  }
}

const [mainNamesMax, repeatedMin] = [3, 5] as const;

function mainNamesOf(statements: readonly Statement[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { names } of statements) for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  const repeated = [...counts].filter(([name, count]) => count >= repeatedMin && !/^[\d:TZ.-]+$/.test(name));
  repeated.sort(([, a], [, b]) => b - a);
  return repeated.slice(0, mainNamesMax).map(([name]) => name);
}
