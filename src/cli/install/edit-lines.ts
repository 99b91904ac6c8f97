/** Files of lines `name = "value"`: the top of a TOML file, and files of variables. */
export type LineForm = "toml" | "env";
type Setting = { readonly name: string; readonly value: string | null };

export function readLineValue(text: string, name: string, form: LineForm): string | null {
  const { top } = split(text, form);
  const found = top.map((line) => lineOf(name).exec(line)).findLast((match) => match !== null);
  return found?.[1] === undefined ? null : unquoted(found[1]);
}

/** One line is replaced, added or taken out; every other stays as it is, remarks and line ends included. */
export function editLines(text: string, { name, value }: Setting, form: LineForm): string {
  const { top, rest } = split(text, form);
  const end = text.includes("\r\n") ? "\r\n" : "\n";
  const others = top.filter((line) => !lineOf(name).test(line));
  if (value === null) return [...others, ...rest].join("");
  const written = `${form === "toml" ? `${name} = ${JSON.stringify(value)}` : `${name}=${value}`}${end}`;
  const at = top.findIndex((line) => lineOf(name).test(line));
  if (at >= 0) return [...top.map((line, index) => (index === at ? written : line)), ...rest].join("");
  // In front: a line behind a table would belong to that table.
  if (form === "toml") return [written, ...top, ...rest].join("");
  const last = top.at(-1);
  const closed = last === undefined || /\n$/.test(last) ? top : [...top.slice(0, -1), `${last}${end}`];
  return [...closed, written].join("");
}

/** Lines with their ends. What stands behind the first table is not at the top of the file. */
function split(text: string, form: LineForm) {
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const table = form === "toml" ? lines.findIndex((line) => /^\s*\[/.test(line)) : -1;
  return table < 0 ? { top: lines, rest: [] } : { top: lines.slice(0, table), rest: lines.slice(table) };
}

function lineOf(name: string): RegExp {
  return new RegExp(`^\\s*(?:export\\s+)?${name}\\s*=\\s*(.*?)\\s*$`);
}

function unquoted(value: string): string {
  return /^(["'])(.*)\1/.exec(value)?.[2] ?? value.replace(/\s+#.*$/, "");
}
