/** An invented project with enough content for an agent to read. */

const nouns = [
  "token",
  "session",
  "cart",
  "order",
  "refund",
  "invoice",
  "address",
  "voucher",
  "courier",
  "stock",
];
const verbs = [
  "load",
  "check",
  "renew",
  "merge",
  "split",
  "price",
  "reserve",
  "release",
  "notify",
  "archive",
];
const traits = ["expired", "pending", "signed", "partial", "foreign", "doubled", "missing", "locked"];

/** The same word for the same numbers, and varied enough that no two lines repeat. */
function pick(words: readonly string[], ...by: readonly number[]): string {
  const mixed = by.reduce((sum, each) => (Math.imul(sum, 31) + each + 7) >>> 0, 17);
  return words[mixed % words.length] ?? "";
}

function name(seed: number, at: number): string {
  const noun = pick(nouns, seed, at, 1);
  return `${pick(verbs, seed, at, 2)}${noun.charAt(0).toUpperCase()}${noun.slice(1)}${at}`;
}

function code(seed: number, functions: number): string {
  const parts = Array.from({ length: functions }, (_, at) => [
    `/** A ${pick(traits, seed, at)} ${pick(nouns, seed, at, 1)} is left to whoever called. */`,
    `export async function ${name(seed, at)}(${pick(nouns, seed, at, 3)}: ${pick(nouns, seed, at, 4)}Row): Promise<boolean> {`,
    `  const found = await store.${name(seed + 3, at)}({ id: ${seed * 100 + at}, state: "${pick(traits, at, seed)}" });`,
    `  if (found === null) throw new ShopError("${pick(nouns, at, seed)} ${seed}-${at} is ${pick(traits, at, 5)}");`,
    `  return found.${pick(nouns, at, 6)}At + ${at * 45 + seed} > clock.now();`,
    "}",
    "",
  ]);
  return parts.flat().join("\n");
}

function testOutput(seed: number, cases: number, failing: readonly number[]): string {
  const lines = Array.from({ length: cases }, (_, at) => {
    const title = `${pick(nouns, seed, at)} ${pick(traits, seed, at, 2)}: ${name(seed, at)}`;
    return failing.includes(at)
      ? `  ✗ ${title}\n      expected 200, got 401: token mismatch in refresh() at src/auth/token.ts:${88 + at}`
      : `  ✓ ${title} (${(at * 7 + seed) % 40} ms)`;
  });
  return [
    `> vitest run --seed ${seed}`,
    ...lines,
    `${cases - failing.length} passed, ${failing.length} failed`,
  ].join("\n");
}

function serverLog(seed: number, count: number): string {
  return Array.from({ length: count }, (_, at) => {
    const time = new Date(Date.UTC(2026, 4, 4, 9, 0, at * 3 + seed)).toISOString().slice(11, 19);
    const status = at % 11 === 6 ? "401 token mismatch" : `200 in ${(at * 13 + seed) % 90} ms`;
    return `${time} POST /session/refresh user=${1_000 + ((at * 37 + seed) % 811)} trace=${(at * 7919 + seed).toString(16)} ${status}`;
  }).join("\n");
}

function page(seed: number, paragraphs: number): string {
  return Array.from({ length: paragraphs }, (_, at) => {
    const [one, two] = [pick(nouns, seed, at), pick(nouns, at, seed, 2)];
    const kept = `A ${pick(traits, seed, at)} ${one} keeps its ${two} until \`${name(seed, at)}\` was called`;
    return `## ${one} and ${two}\n\n${kept}; a ${pick(traits, at, seed)} one does not. See RFC-${seed * 10 + at}.`;
  }).join("\n\n");
}

export const files: Readonly<Record<string, string>> = {
  "src/auth/session.ts": code(1, 60),
  "src/auth/token.ts": code(2, 90),
  "src/auth/refresh.ts": code(3, 70),
  "src/routes/session.ts": code(4, 75),
  "src/routes/limits.ts": code(5, 60),
  "src/store/schema.sql": code(6, 70),
  "src/store/migrate.ts": code(7, 60),
  "test/auth.test.ts": code(8, 110),
  "test/refresh.test.ts": code(9, 80),
  "docs/auth.md": page(10, 90),
  "docs/sessions.md": page(11, 80),
  "CHANGELOG.md": page(12, 50),
};

/** The output of a command, different for each run. */
export function runCommand(command: string, times: number): string {
  if (command.startsWith("npm test"))
    return testOutput(20 + times, 180, times < 2 ? [12, 31, 47] : times < 4 ? [31] : []);
  if (command.startsWith("tail")) return serverLog(times, 160);
  if (command.startsWith("git diff")) return code(30 + times, 80);
  if (command.startsWith("grep"))
    return Object.keys(files)
      .flatMap((file, at) =>
        [12, 57, 93].map((line) => `${file}:${line + at}: await ${name(times, at + line)}(refresh)`),
      )
      .join("\n");
  return Object.entries(files)
    .map(([file, text]) => `${`${text.length}`.padStart(6)} ${file}`)
    .join("\n");
}
