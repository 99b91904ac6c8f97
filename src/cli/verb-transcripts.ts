import type { VerbShape } from "./verb-shape.ts";

const files = { name: "FILE", isRequired: false, isRepeated: true } as const;

/** What can be done with the transcripts that clients leave. */
export const transcripts = [
  {
    name: "analyze",
    about:
      "what your own transcripts hold, repeat and cost, and what Aperture would have saved; writes nothing",
    operands: [files],
    flags: [
      { name: "html", value: "FILE", about: "also write one page with pictures that loads nothing" },
      { name: "limit", value: "N", isCount: true, about: "the newest so many sessions; without it, 50" },
      { name: "json", about: "print all figures, one JSON value" },
    ],
    examples: [
      "aperture analyze",
      "aperture analyze --html report.html",
      "aperture analyze ~/.codex/sessions",
    ],
  },
  {
    name: "import",
    about:
      "write your transcripts into the log, to be looked at like any session; again adds only what is new",
    operands: [files],
    flags: [
      { name: "limit", value: "N", isCount: true, about: "the newest so many sessions; without it, all" },
      { name: "json", about: "print what was done, one JSON value" },
    ],
    examples: ["aperture import", "aperture import ~/.claude/projects", "aperture import talk.jsonl"],
  },
] as const satisfies readonly VerbShape[];
