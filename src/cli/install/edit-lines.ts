/** Files with lines `name = "value"`: the top of a TOML file, and env files. */
export type LineForm = "toml" | "env";
type LineSetting = { readonly name: string; readonly value: string | null };

export function readLineValue(text: string, name: string, form: LineForm): string | null {
  const { top } = splitTop(text, form);
  const found = top.map((line) => linePattern(name).exec(line)).findLast((match) => match !== null);
  return found?.[1] === undefined ? null : unquoted(found[1]);
}

/** Replaces, adds or removes one line. Every other line stays, with its comments and line end. */
export function editLines(text: string, { name, value }: LineSetting, form: LineForm): string {
  const { top, rest } = splitTop(text, form);
  const end = text.includes("\r\n") ? "\r\n" : "\n";
  const others = top.filter((line) => !linePattern(name).test(line));
  if (value === null) return [...others, ...rest].join("");
  const newLine = `${form === "toml" ? `${name} = ${JSON.stringify(value)}` : `${name}=${value}`}${end}`;
  const at = top.findIndex((line) => linePattern(name).test(line));
  if (at >= 0) return [...top.map((line, index) => (index === at ? newLine : line)), ...rest].join("");
  // At the start of the file: after a table header it would belong to that table.
  if (form === "toml") return [newLine, ...top, ...rest].join("");
  const last = top.at(-1);
  const closed = last === undefined || /\n$/.test(last) ? top : [...top.slice(0, -1), `${last}${end}`];
  return [...closed, newLine].join("");
}

/** Lines with their line ends. Lines after the first table header are not at the top of the file. */
function splitTop(text: string, form: LineForm) {
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const table = form === "toml" ? lines.findIndex((line) => /^\s*\[/.test(line)) : -1;
  return table < 0 ? { top: lines, rest: [] } : { top: lines.slice(0, table), rest: lines.slice(table) };
}

function linePattern(name: string): RegExp {
  return new RegExp(`^\\s*(?:export\\s+)?${name}\\s*=\\s*(.*?)\\s*$`);
}

function unquoted(value: string): string {
  return /^(["'])(.*)\1/.exec(value)?.[2] ?? value.replace(/\s+#.*$/, "");
}
