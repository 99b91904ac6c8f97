import type { JsonObject } from "../../testing/index.ts";

/** The numbers of large tool results that the model was told, oldest first. */
export type SeenResults = { readonly results: readonly number[] };
export type StoryCall = { readonly name: string; readonly input: (seen: SeenResults) => JsonObject };

/** One answer: a text, then tool calls. The last answer of a run has only a text. */
export type StoryStep = { readonly say: string; readonly calls: readonly StoryCall[] };
export type StoryRun = {
  readonly prompt: string;
  readonly steps: readonly StoryStep[];
  /** The user's act after the run. */
  readonly afterwards?: "undo";
};

const read = (path: string): StoryCall => ({ name: "read", input: () => ({ path }) });
const run = (command: string): StoryCall => ({ name: "run", input: () => ({ command }) });
const edit = (path: string): StoryCall => ({
  name: "edit",
  input: () => ({ path, change: `see the plan for ${path}` }),
});
const ours = (tool: string, input: (seen: SeenResults) => JsonObject): StoryCall => ({
  name: `aperture_${tool}`,
  input,
});
/** The nth large result, or the last one. */
const nth =
  (n: number) =>
  ({ results }: SeenResults): string =>
    `#${results[Math.min(n, results.length - 1)] ?? 1}`;
const pin = (n: number): StoryCall => ours("manage", (seen) => ({ verb: "pin", target: nth(n)(seen) }));
const compress = (n: number, level: string): StoryCall =>
  ours("manage", (seen) => ({ verb: "compress", target: nth(n)(seen), level }));
const archive = (numbers: readonly number[], reason: string): StoryCall =>
  ours("archive", (seen) => ({ target: numbers.map((n) => nth(n)(seen)).join(", "), reason }));
const note = (topic: string, text: string): StoryCall =>
  ours("note", () => ({ verb: "create", topic, text }));
const recall = (words: string): StoryCall => ours("read", () => ({ verb: "recall", target: words }));
const expand = (n: number): StoryCall => ours("read", (seen) => ({ verb: "expand", target: nth(n)(seen) }));
const step = (say: string, ...calls: readonly StoryCall[]): StoryStep => ({ say, calls });

/** A day's work in ten prompts and some sixty answers, with every act of a model and its user. */
export const story: readonly StoryRun[] = [
  {
    prompt: "Users are logged out when their token is refreshed. Find out why.",
    steps: [
      step("I look around first.", run("ls -R")),
      step("Both sides of the session.", read("src/auth/session.ts"), read("src/auth/token.ts")),
      step("Who calls it?", run("grep -rn refresh src")),
      step("The refresh itself.", read("src/auth/refresh.ts")),
      step("What does the server say?", run("tail -n 90 server.log")),
      step("refresh() compares the encoded token with the decoded one, so the second refresh always fails."),
    ],
  },
  {
    prompt: "Why did no test find it?",
    steps: [
      step("I run them.", run("npm test")),
      step("The tests of the token.", read("test/auth.test.ts")),
      step("And those of the refresh.", read("test/refresh.test.ts")),
      step(
        "token.ts is what everything turns on: I keep it in sight, and write down what is certain.",
        pin(1),
        note(
          "refresh bug",
          "src/auth/token.ts compares an encoded with a decoded token: the second refresh fails.",
        ),
      ),
      step("No test refreshes twice in a row."),
    ],
  },
  {
    prompt: "Fix it, with a test.",
    steps: [
      step("The comparison first.", edit("src/auth/token.ts")),
      step("Does it hold?", run("npm test -- auth")),
      step("One is left: the route keeps a copy.", read("src/routes/session.ts")),
      step("There too.", edit("src/routes/session.ts")),
      step("A test that refreshes twice.", edit("test/refresh.test.ts")),
      step("Again.", run("npm test")),
      step(
        "What I read first is done with.",
        archive([0], "the cause is found, the rest of the file is not needed"),
      ),
      step("All of the refresh tests pass now."),
    ],
  },
  {
    prompt: "The documentation should say so.",
    steps: [
      step("What it says today.", read("docs/auth.md")),
      step("And the page on sessions.", read("docs/sessions.md")),
      step("One paragraph each.", edit("docs/auth.md"), edit("docs/sessions.md")),
      step("The old test runs need not stand here in full.", compress(2, "trimmed")),
      step("Do the examples still run?", run("npm test -- docs")),
      step("Both pages say when a token may be used twice."),
    ],
  },
  {
    prompt: "Refresh tokens need a table of their own.",
    steps: [
      step("The schema.", read("src/store/schema.sql")),
      step("How migrations run.", read("src/store/migrate.ts")),
      step("The new table.", edit("src/store/schema.sql")),
      step("And its migration.", edit("src/store/migrate.ts")),
      step("Try it.", run("npm test -- store")),
      step("Once more from nothing.", run("npm test")),
      step("The table is there, and empty databases get it, too."),
    ],
  },
  {
    prompt: "What exactly did the log say about the mismatch, back then?",
    steps: [
      step("That is archived; I look it up by name.", recall("token mismatch refresh log")),
      step("And the code it came from.", run("grep -rn mismatch src")),
      step("401 token mismatch, every eleventh refresh: always a second one by the same user."),
    ],
  },
  {
    prompt: "Limit how often one user may refresh.",
    steps: [
      step("The limits we have.", read("src/routes/limits.ts")),
      step("A limit for this route.", edit("src/routes/limits.ts")),
      step("Use it.", edit("src/routes/session.ts")),
      step("Test it.", run("npm test -- limits")),
      step("Look at what the server does with it.", run("tail -n 90 server.log")),
      step("The pages are written; they can go.", archive([3, 4], "both pages are written")),
      step("One user may refresh ten times a minute."),
    ],
    afterwards: "undo",
  },
  {
    prompt: "Review the whole change.",
    steps: [
      step("All of it.", run("git diff")),
      step("token.ts as it is now.", read("src/auth/token.ts")),
      step("And refresh.ts.", read("src/auth/refresh.ts")),
      step("What the first test run said, to be sure.", expand(2)),
      step("The migration, line by line.", read("src/store/migrate.ts")),
      step("The limits.", read("src/routes/limits.ts")),
      step("The rest of the diff.", run("git diff --stat src test")),
      step("Tests, a last time.", run("npm test")),
      step("It is small, it is tested, and it does what the notes say."),
    ],
  },
  {
    prompt: "Is there anything in your context that we no longer need?",
    steps: [
      step(
        "Your first question is answered; those are your words, so I ask.",
        ours("archive", () => ({ target: '"Users are logged out"', reason: "the question is answered" })),
      ),
      step("I asked whether your first question may go. It waits for you in the panel."),
    ],
  },
  {
    prompt: "Write the release notes.",
    steps: [
      step("What stands there.", read("CHANGELOG.md")),
      step("What changed.", run("git diff --stat")),
      step("The routes once more, for the names.", read("src/routes/session.ts")),
      step("Written.", edit("CHANGELOG.md")),
      step("A look at the whole.", run("git diff CHANGELOG.md")),
      step("Does it all still pass?", run("npm test")),
      step("Released notes: logged-out users, one table, one limit. That was the day."),
    ],
  },
];

/** The answers that the client sees. Steps that call only Aperture's tools never reach it. */
export const storyAnswers = story.reduce((sum, { steps }) => sum + steps.filter(isSeen).length, 0);

function isSeen({ calls }: StoryStep): boolean {
  return calls.length === 0 || calls.some(({ name }) => !name.startsWith("aperture_"));
}
