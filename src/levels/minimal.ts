import type { Json } from "../base/index.ts";
import type { Source } from "./source.ts";

/** One line: what it was, how long, and how it ended. */
export function minimal({ kind, text, tool, input }: Source): string {
  const lines = text === "" ? 0 : text.split("\n").length;
  const what = [tool ?? kind, subjectOf(input)].filter((word) => word !== "").join(" ");
  return `${shortened(what)}: ${lines} ${lines === 1 ? "line" : "lines"}`;
}

const subjectKeys = ["file_path", "path", "filePath", "command", "cmd", "pattern", "query", "url"];

function subjectOf(input: Json | null): string {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return "";
  const fields = input as { readonly [key: string]: Json };
  const value = subjectKeys.map((key) => fields[key]).find((one) => typeof one === "string");
  return typeof value === "string" ? (value.trim().split("\n")[0] ?? "") : "";
}

const charsMax = 22;

function shortened(what: string): string {
  return what.length <= charsMax ? what : `${what.slice(0, charsMax)}…`;
}
