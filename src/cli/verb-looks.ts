import { at, type Flag, json, limit, stream, type VerbShape, watch } from "./verb-shape.ts";

/** Verbs that look at many things at once. */

const days: readonly Flag[] = [
  { name: "since", value: "DAY", about: "from this day on: 2026-11-17, or today" },
  { name: "until", value: "DAY", about: "up to this day, which counts too" },
];

export const looking = [
  {
    name: "blocks",
    about: "the blocks of a session, all or those that fit every word you give",
    operands: [{ name: "FILTER", isRequired: false, isRepeated: true }],
    flags: [
      {
        name: "sort",
        value: "ORDER",
        choices: ["request", "tokens", "used"],
        about: "request (the default), tokens or used",
      },
      limit,
      at,
      stream,
      watch,
      json,
    ],
    examples: [
      "aperture blocks",
      "aperture blocks zone:middle kind:tool-result 'tokens:>2k'",
      "aperture blocks pinned:no --sort tokens --limit 10",
      "aperture blocks auth --at 1",
    ],
  },
  {
    name: "cost",
    about: "what was used and what it cost: by day, by session or by model",
    operands: [{ name: "BY", isRequired: false, choices: ["daily", "session", "model"] }],
    flags: [
      ...days,
      { name: "no-cost", about: "tokens only" },
      { name: "offline", about: "fetch no prices; they come with Aperture, so this changes nothing" },
      json,
    ],
    examples: [
      "aperture cost",
      "aperture cost session --since today",
      "aperture cost model --since 2026-11-01 --until 2026-11-30",
      "aperture cost daily --no-cost --json",
    ],
  },
] as const satisfies readonly VerbShape[];
