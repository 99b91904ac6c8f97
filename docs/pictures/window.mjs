// Takes the picture at the top of README.md: the window of the demo's session when its day is over.
// Usage: npm run build && node docs/pictures/window.mjs
import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const folder = dirname(fileURLToPath(import.meta.url));
const program = join(folder, "..", "..", "dist", "cli", "main.cjs");
const size = { width: 1120, height: 900 };
const clipHeight = 534;
/** Rows worth a look: the large blocks, which are the ones that get shorter. */
const filter = "tokens:>1k";

const demo = spawn(process.execPath, [program, "demo", "--pace", "100", "--port", `${await freePort()}`], {
  stdio: ["ignore", "pipe", "inherit"],
});
const browser = await chromium.launch({
  executablePath: process.env.APERTURE_CHROMIUM ?? "/usr/bin/chromium",
});
try {
  const link = await lastLink(demo);
  const page = await openPanel(link);
  for (const theme of ["light", "dark"]) await shoot(page, theme);
} finally {
  await browser.close();
  demo.kill("SIGINT");
}

/** A port that is free now, so that the demo never meets an Aperture of the user. */
async function freePort() {
  const server = createServer();
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

/** The login link that the demo prints after its last answer. */
async function lastLink({ stdout }) {
  let text = "";
  for await (const piece of stdout.setEncoding("utf8")) {
    text += piece;
    const link = /The day is over[\s\S]*?(http:\S+)\n/.exec(text)?.[1];
    if (link !== undefined) return link;
  }
  throw new Error(`The demo ended early:\n${text}`);
}

async function openPanel(link) {
  const page = await browser.newPage({ viewport: size, deviceScaleFactor: 1.4 });
  await page.goto(link);
  await page.getByRole("row").nth(5).waitFor();
  await page.getByRole("searchbox").fill(filter);
  await page.getByRole("searchbox").blur();
  await page.waitForTimeout(1_000);
  return page;
}

/** Keeps the strip and the first rows of the list. */
async function shoot(page, theme) {
  await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
  await page.screenshot({
    path: join(folder, `window-${theme}.png`),
    animations: "disabled",
    clip: { x: 0, y: 0, width: size.width, height: clipHeight },
  });
}
