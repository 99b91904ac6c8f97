import { printable } from "../format/printable.ts";

/** Text from sessions is untrusted: it never becomes part of the page's markup. */
export function escapeHtml(text: string): string {
  return printable(text, 400).replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

export type HtmlTile = { readonly figure: string; readonly caption: string; readonly mood?: "good" | "bad" };

export function htmlTiles(all: readonly HtmlTile[]): string {
  const each = all.map(
    ({ figure, caption, mood }) =>
      `<div class="tile${mood === undefined ? "" : ` ${mood}`}"><b>${escapeHtml(figure)}</b><span>${escapeHtml(caption)}</span></div>`,
  );
  return `<div class="tiles">${each.join("")}</div>`;
}

export function htmlSection(title: string, remark: string, inside: readonly string[]): string {
  const text = remark === "" ? "" : `<p class="remark">${escapeHtml(remark)}</p>`;
  return `<section><h2>${escapeHtml(title)}</h2>${text}${inside.join("")}</section>`;
}

export type HtmlColumn = { readonly title: string; readonly isNumber?: true };

/** The cells are plain text and are escaped here. */
export function htmlTable(columns: readonly HtmlColumn[], rows: readonly (readonly string[])[]): string {
  const head = columns.map(
    ({ title, isNumber }) => `<th scope="col"${isNumber ? ' class="n"' : ""}>${escapeHtml(title)}</th>`,
  );
  const body = rows.map((row) => {
    const cells = row.map(
      (text, at) => `<td class="${columns[at]?.isNumber ? "n" : "name"}">${escapeHtml(text)}</td>`,
    );
    return `<tr>${cells.join("")}</tr>`;
  });
  return `<div class="scroll"><table><thead><tr>${head.join("")}</tr></thead><tbody>${body.join("")}</tbody></table></div>`;
}

/** A chart's data as a table, for readers who cannot see the chart. */
export function htmlDetails(caption: string, inside: string): string {
  return `<details><summary>${escapeHtml(caption)}</summary>${inside}</details>`;
}

export type LegendRow = { readonly colour: string; readonly caption: string };

export function htmlLegend(rows: readonly LegendRow[], more = ""): string {
  const each = rows.map(
    ({ colour, caption }) => `<li><i style="background:${colour}"></i>${escapeHtml(caption)}</li>`,
  );
  return `<ul class="legend">${each.join("")}${more}</ul>`;
}
