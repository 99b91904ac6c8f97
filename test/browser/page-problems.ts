import type { BrowserContext, Page } from "playwright-core";

/** The errors of a page, in order. */
export type PageProblems = {
  readonly all: () => readonly string[];
  /** Errors that match do not count. */
  readonly expects: (pattern: RegExp) => void;
};

/** Runs in the page: reports every violation of the content security policy. */
const reportViolations = () => {
  addEventListener("securitypolicyviolation", (event) => {
    console.error(`policy: ${event.violatedDirective} refused ${event.blockedURI}`);
  });
};

/**
 * Collects console errors, uncaught exceptions, policy violations, crashes and requests to other origins. The
 * panel must cause none of them.
 */
export async function watchPageProblems(context: BrowserContext, origin: string): Promise<PageProblems> {
  const seen: string[] = [];
  const expected: RegExp[] = [];
  await context.addInitScript(reportViolations);
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
