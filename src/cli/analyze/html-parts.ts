import { printable } from "../format/printable.ts";

/** Text from sessions is written by anybody: it never becomes a part of the page. */
export function escaped(text: string): string {
  return printable(text, 400).replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

export type Tile = { readonly figure: string; readonly words: string; readonly mood?: "good" | "bad" };

export function tiles(all: readonly Tile[]): string {
  const each = all.map(
    ({ figure, words, mood }) =>
      `<div class="tile${mood === undefined ? "" : ` ${mood}`}"><b>${escaped(figure)}</b><span>${escaped(words)}</span></div>`,
  );
  return `<div class="tiles">${each.join("")}</div>`;
}

export function part(title: string, remark: string, inside: readonly string[]): string {
  const said = remark === "" ? "" : `<p class="remark">${escaped(remark)}</p>`;
  return `<section><h2>${escaped(title)}</h2>${said}${inside.join("")}</section>`;
}

export type Column = { readonly title: string; readonly isNumber?: true };

/** Rows are texts; they are escaped here. */
export function table(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  const head = columns.map(
    ({ title, isNumber }) => `<th scope="col"${isNumber ? ' class="n"' : ""}>${escaped(title)}</th>`,
  );
  const body = rows.map((row) => {
    const cells = row.map(
      (text, at) => `<td class="${columns[at]?.isNumber ? "n" : "name"}">${escaped(text)}</td>`,
    );
    return `<tr>${cells.join("")}</tr>`;
  });
  return `<div class="scroll"><table><thead><tr>${head.join("")}</tr></thead><tbody>${body.join("")}</tbody></table></div>`;
}

/** What a picture shows, for those who do not see it. */
export function asTable(words: string, inside: string): string {
  return `<details><summary>${escaped(words)}</summary>${inside}</details>`;
}

export type LegendRow = { readonly colour: string; readonly words: string };

export function legend(rows: readonly LegendRow[], more = ""): string {
  const each = rows.map(
    ({ colour, words }) => `<li><i style="background:${colour}"></i>${escaped(words)}</li>`,
  );
  return `<ul class="legend">${each.join("")}${more}</ul>`;
}
