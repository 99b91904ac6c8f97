/** How a client writes its requests: the part that recordings lack. */
export type ClientShape = {
  /** Characters of system text and tools together. */
  readonly overheadChars: number;
  readonly toolsChars: number;
  /** How many of its system texts, and of its last messages, have a cache mark. */
  readonly systemMarks: number;
  readonly messageMarks: number;
  readonly userAgent: string;
  readonly source: string;
};

type SourcedValue<T> = { readonly value: T; readonly source: string };

/** Everything the figures are based on that is not in the recordings, each with its source. */
export type Assumptions = {
  readonly clients: Readonly<Record<string, ClientShape>>;
  readonly otherClient: ClientShape;
  readonly ownTokens: SourcedValue<number>;
  readonly prices: SourcedValue<string>;
  readonly readPrices: SourcedValue<readonly number[]>;
  readonly excerptChars: SourcedValue<number>;
  readonly placeholderChars: SourcedValue<number>;
  readonly gaps: SourcedValue<string>;
  readonly tokens: SourcedValue<string>;
};

export const assumptions: Assumptions = {
  clients: {
    "claude-code": {
      overheadChars: 47000,
      toolsChars: 30000,
      systemMarks: 2,
      messageMarks: 1,
      userAgent: "claude-cli/2.1.325",
      source:
        "seen on the wire: a first request of Claude Code 2.1.325 has 47k characters, 30k of them tools; marks on two system texts and on the last block of the last message",
    },
    codex: {
      overheadChars: 39000,
      toolsChars: 24000,
      systemMarks: 1,
      messageMarks: 1,
      userAgent: "codex_cli_rs/0.166.0",
      source:
        "seen on the wire: 39k characters; recordings have their own system text, so only the rest is added, as tools; it sets no marks: those are for prices that need them",
    },
    "gemini-cli": {
      overheadChars: 48000,
      toolsChars: 30000,
      systemMarks: 1,
      messageMarks: 1,
      userAgent: "GeminiCLI/0.61.0",
      source:
        "seen on the wire: 48k characters; how many of them are tools is assumed; it sets no marks: those are for prices that need them",
    },
    opencode: {
      overheadChars: 31000,
      toolsChars: 20000,
      systemMarks: 1,
      messageMarks: 2,
      userAgent: "opencode/1.18.4",
      source:
        "seen on the wire: 31k characters, marks on the system text and on the last two messages; how many of them are tools is assumed",
    },
    pi: {
      overheadChars: 6000,
      toolsChars: 4000,
      systemMarks: 1,
      messageMarks: 1,
      userAgent: "pi/1.0.0",
      source:
        "seen on the wire: 6k characters, marks on the system text and on the last message; how many of them are tools is assumed",
    },
  },
  otherClient: {
    overheadChars: 0,
    toolsChars: 0,
    systemMarks: 1,
    messageMarks: 1,
    userAgent: "other/1.0",
    source:
      "a client nobody has looked at adds nothing that is not recorded; marks are for prices that need them",
  },
  ownTokens: {
    value: 900,
    source:
      "the most that instructions and tools of ours may have, in o200k tokens; today's are smaller and are filled up",
  },
  prices: {
    value: "those of the recorded model",
    source:
      "the product's own table, see docs/reference/prices.md: prices, lifetimes (five minutes for the models in the recordings, a day for gpt-5.5), smallest prompts, and how far a mark looks back",
  },
  readPrices: {
    value: [0.1, 0.05, 0.025],
    source: "the three that Claude models have; a row for each, all else being equal",
  },
  excerptChars: {
    value: 3000,
    source: "assumed: what is shown when the model asks for something that was left out",
  },
  placeholderChars: {
    value: 160,
    source: "assumed for the rows that leave results out without the product",
  },
  gaps: {
    value: "recorded",
    source: "the times in the recordings; one second where they have none",
  },
  tokens: {
    value: "estimated by model, once for each unit",
    source:
      "the product's estimates by what a text is made of, over the whole text; what is filled up has as many characters to a token as was measured in sessions: 2.8 for Claude before 4.7, 2.1 from then on, 3.3 for GPT",
  },
};
