/** Languages that a file is known by its ending to be in. */
export const languages = [
  "bash",
  "c-sharp",
  "cpp",
  "css",
  "go",
  "java",
  "javascript",
  "php",
  "powershell",
  "python",
  "ruby",
  "rust",
  "tsx",
  "typescript",
] as const;
export type Language = (typeof languages)[number];

const byEnding: ReadonlyMap<string, Language> = new Map(
  (
    [
      ["bash", "sh bash zsh"],
      ["c-sharp", "cs"],
      ["cpp", "c cc cpp cxx h hh hpp hxx"],
      ["css", "css scss less"],
      ["go", "go"],
      ["java", "java"],
      ["javascript", "js mjs cjs jsx"],
      ["php", "php"],
      ["powershell", "ps1 psm1"],
      ["python", "py pyi"],
      ["ruby", "rb"],
      ["rust", "rs"],
      ["tsx", "tsx"],
      ["typescript", "ts mts cts"],
    ] as const
  ).flatMap(([language, endings]) => endings.split(" ").map((ending) => [ending, language] as const)),
);

/** Of a file, by the ending of its name. */
export function languageOf(path: string): Language | null {
  const ending = /\.(\w{1,5})$/.exec(path)?.[1] ?? "";
  return byEnding.get(ending.toLowerCase()) ?? null;
}
