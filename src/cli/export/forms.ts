import type { ExportFormat } from "../../control/index.ts";
import type { Collected } from "./collected.ts";
import { har } from "./har.ts";
import { html } from "./html.ts";
import { jsonLines, type Written } from "./jsonl.ts";
import { markdown } from "./markdown.ts";

type Form = (all: Collected, written: Written) => string;

const forms: Readonly<Record<ExportFormat, Form>> = {
  jsonl: (all, written) => [...jsonLines(all, written)].join("\n"),
  md: markdown,
  html,
  har,
};

export const formNames: readonly string[] = Object.keys(forms);

/** Undefined: there is no such form. */
export function formOf(format: string): Form | undefined {
  return Object.hasOwn(forms, format) ? forms[format as ExportFormat] : undefined; // it is one of its own
}
