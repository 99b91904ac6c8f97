import { failLaw } from "./law-error.ts";
import type { Fields, SeenBody } from "./seen-body.ts";
import type { ShownUnit } from "./shown-units.ts";

/** What the log says is left out is what the provider leaves out, and the model can ask for it by number. */
export function checkCleared({ cleared, units }: SeenBody, shown: readonly ShownUnit[]): void {
  const told = shown.filter(({ report }) => report?.cleared === true);
  const calls = told.map(({ block }) => String((JSON.parse(block) as Fields)["tool_use_id"]));
  if (calls.length !== cleared.size || calls.some((call) => !cleared.has(call)))
    failLaw("log", "the provider leaves out other results", `${[...cleared].join()} and not ${calls.join()}`);
  for (const { report, block } of told) {
    const called = report?.numbered?.block ?? null;
    const isNamed = called !== null && units.some(({ isOwn, text }) => isOwn && names(text, called));
    if (!isNamed) failLaw("coverage", `#${called} is left out by the provider and not named`, block);
  }
}

function names(text: string, block: number): boolean {
  return [...text.matchAll(/#(\d+)(?:\.\.#(\d+))?/g)].some(
    ([, from, to = from]) => Number(from) <= block && block <= Number(to),
  );
}
