import type { BrowserContext, Page } from "playwright-core";

/** What went wrong in a page, in the order it did. */
export type Troubles = {
  readonly all: () => readonly string[];
  /** Whatever fits is awaited by the test and does not count. */
  readonly expects: (pattern: RegExp) => void;
};

/** The page tells of what its policy has refused; the name is nothing a page of ours would have. */
const refusedBy = () => {
  addEventListener("securitypolicyviolation", (event) => {
    console.error(`policy: ${event.violatedDirective} refused ${event.blockedURI}`);
  });
};

/**
 * Listens to everything a page of ours must never do: say an error, fail, be refused something by its policy,
 * or ask for anything that is not of its own origin.
 */
export async function watchTroubles(context: BrowserContext, origin: string): Promise<Troubles> {
  const seen: string[] = [];
  const expected: RegExp[] = [];
  await context.addInitScript(refusedBy);
  context.on("request", (request) => {
    const url = request.url();
    const isOwn = url.startsWith(`${origin}/`) || url.startsWith("data:") || url.startsWith("blob:");
    if (!isOwn) seen.push(`external request: ${url}`);
  });
  context.on("page", (page) => listen(page, seen));
  return {
    all: () => seen.filter((line) => !expected.some((pattern) => pattern.test(line))),
    expects: (pattern) => expected.push(pattern),
  };
}

function listen(page: Page, seen: string[]): void {
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) seen.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => seen.push(`error: ${error.stack ?? error.message}`));
  page.on("crash", () => seen.push("the page crashed"));
}
