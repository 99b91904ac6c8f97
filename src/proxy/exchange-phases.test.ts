import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { apertureError } from "../base/index.ts";
import { noOverlap, type PlannedRequest } from "../exchange/index.ts";
import {
  advance,
  type ExchangeState,
  newExchange,
  type RelayCommand,
  type RelayEvent,
} from "./exchange-phases.ts";
import type { Refusal } from "./failures.ts";
import { unscanned } from "./model-scan.ts";

// Playbooks: each step is an event and the commands that must follow it, in order.

function plan(name: string, more: Partial<PlannedRequest> = {}): PlannedRequest {
  const nothingHidden = { isOwnTool: null, commandNonce: null, ownLineFilter: null, needsAnswer: true };
  const body = {
    pieces: [],
    length: 0,
    clientBody: new Uint8Array(),
    betas: [],
    rendering: "managed",
  } as const;
  const overlap = noOverlap;
  return {
    ...{ requestId: name, ...body, ...nothingHidden, overlap },
    ...{ mayRetry: false, sent: null, refusal: null },
    ...more,
  };
}

const withTools = (name: string): PlannedRequest => plan(name, { isOwnTool: () => true });
const refusalOf = (status: number): Refusal => ({ status, error: apertureError("AP_CONTROL_FAULT") });

const arrived = (holding: "planner" | "model" | null): RelayEvent => ({
  type: "arrived",
  holding:
    holding === null ? null : holding === "model" ? { for: "model", scan: unscanned } : { for: holding },
  bytesMax: 100,
});
const body = (text: string): RelayEvent => ({ type: "body", chunk: Buffer.from(text) });
const bodyEnd: RelayEvent = { type: "body-end", isDemo: false };
const planned = (one: PlannedRequest): RelayEvent => ({ type: "planned", planned: one });
type Form = "events" | "message" | "other";
const head = (status: number, form: Form = "events"): RelayEvent => ({
  type: "head",
  head: { status, form, isEncoded: false },
});
const encodedHead: RelayEvent = { type: "head", head: { status: 200, form: "other", isEncoded: true } };
const answerEnd: RelayEvent = { type: "answer-end", isWaitingForUs: false, mayEndHere: false };
const onlyOurTools = (mayEndHere: boolean): RelayEvent => ({
  type: "answer-end",
  isWaitingForUs: true,
  mayEndHere,
});
const roundPlanned = (one: PlannedRequest | null): RelayEvent => ({ type: "round-planned", planned: one });
const retryPlanned = (one: PlannedRequest | null): RelayEvent => ({ type: "retry-planned", planned: one });
const upstreamFailed = (isStale = false): RelayEvent => ({
  type: "upstream-failed",
  refusal: refusalOf(502),
  isStale,
});
const broken: RelayEvent = { type: "answer-broken", refusal: refusalOf(502) };
const silence: RelayEvent = { type: "gave-up", refusal: refusalOf(504) };
const delivered: RelayEvent = { type: "client-closed", isDelivered: true };
const left: RelayEvent = { type: "client-closed", isDelivered: false };

/** A command as a test writes it. */
function textOf(command: RelayCommand): string {
  switch (command.type) {
    case "hold":
    case "write":
      return `${command.type} ${command.chunk.toString()}`;
    case "open":
      return `open ${command.planned?.requestId ?? "client's body"}${command.isWhole ? ", whole" : ""}`;
    case "pass-answer":
      return `pass-answer ${command.head.status}`;
    case "plan-retry":
    case "plan-round":
    case "begin-round":
    case "keep-plan":
    case "finish-unsent":
      return `${command.type} ${command.planned.requestId}`;
    case "end-answer":
      return `end ${command.of}`;
    case "refuse":
    case "end-with-error":
      return `${command.type} ${command.refusal.status}`;
    case "count":
      return `count ${command.counter}`;
    default:
      return command.type;
  }
}

type PlayStep = readonly [event: RelayEvent, ...commands: readonly string[]];

/** Plays events in order, expects the commands of each, and returns the exchange as it is then. */
function play(steps: readonly PlayStep[], from: ExchangeState = newExchange): ExchangeState {
  let exchange = from;
  for (const [event, ...expected] of steps) {
    const step = advance(exchange, event);
    const phases = `${exchange.phase.name} -> ${event.type} -> ${step.exchange.phase.name}`;
    expect([phases, ...step.commands.map(textOf)]).toEqual([phases, ...expected]);
    exchange = step.exchange;
  }
  return exchange;
}

const done = (outcome: string, problem: unknown = null) => ({ name: "done", outcome, problem });
const someProblem = expect.any(String);

/** An exchange whose request is on its way; the plan is null if the client's body is sent. */
function sending(first: PlannedRequest | null): ExchangeState {
  if (first === null)
    return play([
      [arrived(null), "open client's body"],
      [bodyEnd, "end-request"],
    ]);
  const opened = `open ${first.requestId}, whole`;
  return play([[arrived("planner")], [bodyEnd, "plan"], [planned(first), opened, "record-request"]]);
}

/** An exchange whose answer passes to the client. */
function answering(first: PlannedRequest | null, form: Form = "events"): ExchangeState {
  return play([[head(200, form), "pass-answer 200"]], sending(first));
}

/** An exchange whose answer called only our tools, and whose round is on its way. */
function sendingRound(mayEndHere: boolean, form: Form = "events"): ExchangeState {
  return play(
    [
      [onlyOurTools(mayEndHere), "report-round", "plan-round first"],
      [roundPlanned(withTools("round")), "begin-round round", "open round, whole"],
    ],
    answering(withTools("first"), form),
  );
}

describe("a body that need not be read", () => {
  test("is sent as it comes", () => {
    const ended = play([
      [arrived(null), "open client's body"],
      [bodyEnd, "end-request"],
      [head(200), "pass-answer 200"],
      [answerEnd, "end last answer"],
      [delivered, "conclude"],
    ]);
    expect(ended.phase).toEqual(done("complete"));
  });

  test("may be answered before it is whole; then its rest is not sent", () => {
    play([
      [arrived(null), "open client's body"],
      [head(413, "message"), "pass-answer 413"],
      [answerEnd, "end last answer", "destroy-request", "resume-body"],
      [bodyEnd],
    ]);
  });

  test("that cannot be written as HTTP is refused", () => {
    const ended = play([[{ type: "unsendable" }, "refuse 500", "destroy-request"]], sending(null));
    expect(ended.phase).toEqual(done("failed", someProblem));
  });
});

describe("a body that may name the demo model", () => {
  test("is sent as soon as it names another", () => {
    play([
      [arrived("model")],
      [body('{"mod'), 'hold {"mod'],
      [body('el":"claude"'), 'hold el":"claude"', "open client's body"],
      [bodyEnd, "end-request"],
    ]);
  });

  test("is sent whole if it names none", () => {
    play([[arrived("model")], [body("{}"), "hold {}"], [bodyEnd, "open client's body, whole"]]);
  });

  test("goes to the demo model if it names it", () => {
    play([
      [arrived("model")],
      [{ type: "body-end", isDemo: true }, "reroute-to-demo", "open client's body, whole"],
    ]);
  });

  test("is sent at once if it is no JSON object", () => {
    play([[arrived("model")], [body("[1]"), "hold [1]", "open client's body"]]);
  });
});

describe("a body for the planner", () => {
  test("is held until it is whole, and the plan is sent and recorded", () => {
    const ended = play([
      [arrived("planner")],
      [body("{"), "hold {"],
      [body("}"), "hold }"],
      [bodyEnd, "plan"],
      [planned(plan("first")), "open first, whole", "record-request"],
      [head(200), "pass-answer 200"],
      [answerEnd, "end last answer"],
      [delivered, "conclude"],
    ]);
    expect(ended.phase).toEqual(done("complete"));
  });

  test("is planned for the demo model if it names it", () => {
    play([[arrived("planner")], [{ type: "body-end", isDemo: true }, "reroute-to-demo", "plan"]]);
  });

  test("is sent as it comes if it is too large to be held", () => {
    const long = "x".repeat(60);
    play([
      [arrived("planner")],
      [body(long), `hold ${long}`],
      [body(long), "open client's body", `write ${long}`],
      [bodyEnd, "end-request"],
    ]);
  });

  const planning = play([[arrived("planner")], [bodyEnd, "plan"]]);

  test("is sent as it came if the planner fails", () => {
    play([[{ type: "plan-failed" }, "count plannerFaults", "open client's body, whole"]], planning);
  });

  test("is sent as it came if the planner is late; its plan is given back", () => {
    play(
      [
        [{ type: "plan-late" }, "copy-body", "count plannerFaults", "open client's body, whole"],
        [planned(plan("first")), "finish-unsent first"],
      ],
      planning,
    );
  });

  test("is sent as it came if the plan cannot be written as HTTP", () => {
    play(
      [
        [planned(plan("first")), "open first, whole", "record-request"],
        [{ type: "unsendable" }, "finish-unsent first", "count plannerFaults", "open client's body, whole"],
        [{ type: "unsendable" }, "refuse 500", "destroy-request"],
      ],
      planning,
    );
  });

  test("is refused if nothing may be sent, and so is one for a thread of the provider", () => {
    const withheld = plan("first", { refusal: apertureError("AP_WITHHELD_UNREADABLE") });
    const refused = play([[planned(withheld), "keep-plan first", "refuse 409", "destroy-request"]], planning);
    expect(refused.phase).toEqual(done("failed", someProblem));
    const thread = plan("first", { isProviderThread: true });
    const ended = play([[planned(thread), "keep-plan first", "refuse-thread"]], planning);
    expect(ended.phase).toEqual(done("failed", expect.stringContaining("thread")));
  });
});

describe("a connection that was stale", () => {
  test("is replaced once", () => {
    play(
      [
        [upstreamFailed(true), "count retried", "forget-idle-connections", "open first, whole"],
        [upstreamFailed(true), "refuse 502", "destroy-request"],
      ],
      sending(plan("first")),
    );
  });

  test("lets the client send the rest of its body again", () => {
    play([
      [arrived(null), "open client's body"],
      [upstreamFailed(true), "count retried", "forget-idle-connections", "open client's body", "resume-body"],
    ]);
  });
});

describe("a refusal of a plan", () => {
  const mayRetry = { mayRetry: true };
  const refused = play([[head(400, "message"), "hold-refusal"]], sending(plan("first", mayRetry)));
  const whole: RelayEvent = { type: "refusal-end", isWhole: true };

  test("is held, and another plan is sent in its place; a second refusal passes", () => {
    play(
      [
        [{ type: "refusal-bytes", bytes: 10 }],
        [whole, "plan-retry first"],
        [retryPlanned(plan("second", mayRetry)), "record-resend", "open second, whole"],
        [head(400, "message"), "pass-answer 400"],
        [answerEnd, "end last answer"],
      ],
      refused,
    );
  });

  test("passes if the planner has no other plan, or only a refusal of its own", () => {
    play(
      [
        [whole, "plan-retry first"],
        [retryPlanned(null), "pass-answer 400"],
      ],
      refused,
    );
    const withheld = plan("second", { refusal: apertureError("AP_WITHHELD_UNREADABLE") });
    play([[retryPlanned(withheld), "keep-plan second", "refuse 409", "destroy-request"]], refused);
  });

  test("passes if it is too large, late, or breaks off", () => {
    play([[{ type: "refusal-bytes", bytes: 70_000 }, "pass-answer 400"]], refused);
    play([[{ type: "refusal-end", isWhole: false }, "pass-answer 400"]], refused);
  });

  test("is not sent to a client that has waited too long", () => {
    play([[silence, "refuse 504", "destroy-request"]], refused);
  });
});

describe("an answer", () => {
  test("that breaks off is cut", () => {
    const ended = play([[broken, "cut", "destroy-request"]], answering(null));
    expect(ended.phase).toEqual(done("truncated"));
  });

  test("that breaks off before the client got its head is refused", () => {
    const held = answering(withTools("first"), "message");
    const ended = play([[broken, "refuse 502", "destroy-request"]], held);
    expect(ended.phase).toEqual(done("failed", someProblem));
  });

  test("whose head or end cannot be written is refused or cut", () => {
    const invalid = { type: "head-invalid", refusal: refusalOf(502), isBegun: false } as const;
    play([[invalid, "refuse 502", "destroy-request"]], answering(null));
    const endInvalid = { type: "end-invalid", refusal: refusalOf(502) } as const;
    const cut = play(
      [
        [answerEnd, "end last answer"],
        [endInvalid, "cut"],
      ],
      answering(null),
    );
    expect(cut.phase).toEqual(done("truncated"));
    const held = answering(withTools("first"), "message");
    play(
      [
        [answerEnd, "end last answer"],
        [endInvalid, "refuse 502", "destroy-request"],
      ],
      held,
    );
  });

  test("that never comes is refused", () => {
    play([[upstreamFailed(), "refuse 502", "destroy-request"]], sending(null));
    play([[silence, "refuse 504", "destroy-request"]], sending(null));
  });

  test("that goes quiet is cut", () => {
    play([[silence, "cut", "destroy-request"]], answering(null));
  });
});

describe("a client that leaves", () => {
  test.each([
    ["before its body is whole", play([[arrived("planner")]])],
    ["while its request is planned", play([[arrived("planner")], [bodyEnd, "plan"]])],
    ["before the answer", sending(null)],
    ["in the middle of the answer", answering(null)],
    [
      "while our tools run",
      play([[onlyOurTools(false), "report-round", "plan-round first"]], answering(withTools("first"))),
    ],
  ])("%s ends the exchange", (_, exchange) => {
    const ended = play([[left, "destroy-request", "conclude"]], exchange);
    expect(ended.phase).toEqual(done("aborted"));
  });

  test("gives back plans that come too late", () => {
    const gone = play([[left, "destroy-request", "conclude"]], sending(null));
    play(
      [
        [planned(plan("late")), "finish-unsent late"],
        [roundPlanned(plan("round")), "finish-unsent round"],
        [roundPlanned(null)],
      ],
      gone,
    );
  });

  test("before the last byte was delivered did not get the whole answer", () => {
    const ended = play(
      [
        [answerEnd, "end last answer"],
        [left, "destroy-request", "conclude"],
      ],
      answering(null),
    );
    expect(ended.phase).toEqual(done("aborted"));
  });

  test("after a failure does not change the outcome", () => {
    const failed = play([[upstreamFailed(), "refuse 502", "destroy-request"]], sending(null));
    expect(play([[left, "conclude"], [silence]], failed).phase).toEqual(failed.phase);
  });
});

describe("an answer that called only our tools", () => {
  test("goes on in a round, and the client gets one answer", () => {
    const ended = play(
      [
        [head(200), "pass-answer 200"],
        [onlyOurTools(true), "report-round", "plan-round round"],
        [roundPlanned(withTools("last")), "begin-round last", "open last, whole"],
        [head(200), "pass-answer 200"],
        [answerEnd, "end last answer"],
        [delivered, "conclude"],
      ],
      sendingRound(false),
    );
    expect(ended.phase).toEqual(done("complete"));
  });

  test("ends as it is if no round follows", () => {
    const looping = play(
      [[onlyOurTools(false), "report-round", "plan-round first"]],
      answering(withTools("first")),
    );
    play([[roundPlanned(null), "end last answer"]], looping);
    const withheld = plan("round", { refusal: apertureError("AP_WITHHELD_UNREADABLE") });
    play([[roundPlanned(withheld), "finish-unsent round", "end last answer"]], looping);
    play([[silence, "cut", "destroy-request"]], looping);
  });

  test("ends with the answer before if the round fails and that is an answer by itself", () => {
    const round = sendingRound(true);
    for (const failedHead of [head(529, "message"), encodedHead]) {
      const ended = play(
        [
          [failedHead, "discard-answer"],
          [answerEnd, "end answer before"],
        ],
        round,
      );
      expect(ended.phase).toEqual(done("complete"));
    }
    const ended = play([[upstreamFailed(), "end answer before", "destroy-request"]], round);
    expect(ended.phase).toEqual(done("failed", someProblem));
  });

  test("ends with the error as an event if the round fails and the client has only part of an answer", () => {
    const round = sendingRound(false);
    const ended = play(
      [
        [head(529, "message"), "discard-answer"],
        [answerEnd, "end-with-refusal"],
      ],
      round,
    );
    expect(ended.phase).toEqual(done("complete"));
    play(
      [
        [head(529, "message"), "discard-answer"],
        [broken, "end-with-refusal"],
      ],
      round,
    );
    play([[upstreamFailed(), "end-with-error 502", "destroy-request"]], round);
  });

  test("is replaced by the refusal if the client has got nothing yet", () => {
    const round = sendingRound(false, "message");
    play(
      [
        [head(529, "message"), "pass-answer 529"],
        [answerEnd, "end last answer"],
      ],
      round,
    );
    play([[upstreamFailed(), "refuse 502", "destroy-request"]], round);
  });

  test("is sent again on a stale connection, and as another plan after a refusal", () => {
    play(
      [[upstreamFailed(true), "count retried", "forget-idle-connections", "open round, whole"]],
      sendingRound(true),
    );
    const retried = play(
      [
        [onlyOurTools(false), "report-round", "plan-round first"],
        [roundPlanned(plan("round", { mayRetry: true })), "begin-round round", "open round, whole"],
        [head(400, "message"), "hold-refusal"],
        [{ type: "refusal-end", isWhole: true }, "plan-retry round"],
        [retryPlanned(withTools("again")), "record-resend", "open again, whole"],
        [head(200), "pass-answer 200"],
      ],
      answering(withTools("first")),
    );
    expect(retried.phase.name).toBe("answering");
  });
});

describe("whatever happens", () => {
  let count = 0;
  const anyPlan = fc.constantFrom({}, { mayRetry: true }, { isOwnTool: () => true }).map((more) => {
    count += 1;
    return plan(`plan ${count}`, more);
  });
  const fixed = fc.constantFrom<RelayEvent>(
    ...[arrived("planner"), arrived("model"), arrived(null), body("{}"), bodyEnd, encodedHead, answerEnd],
    ...[head(200), head(200, "message"), head(400), onlyOurTools(true), onlyOurTools(false), broken, silence],
    ...[upstreamFailed(), upstreamFailed(true), delivered, left, retryPlanned(null), roundPlanned(null)],
    ...([{ type: "plan-failed" }, { type: "plan-late" }, { type: "unsendable" }] as const),
    ...([
      { type: "refusal-bytes", bytes: 40_000 },
      { type: "refusal-end", isWhole: true },
    ] as const),
    { type: "end-invalid", refusal: refusalOf(502) },
    { type: "head-invalid", refusal: refusalOf(502), isBegun: false },
  );
  const anyEvent = fc.oneof(fixed, anyPlan.map(planned), anyPlan.map(roundPlanned));

  test("the first end stays, and the client gets one", () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 30 }), (events) => {
        let exchange = newExchange;
        const ends: string[] = [];
        for (const event of events) {
          const wasDone = exchange.phase.name === "done";
          const step = advance(exchange, event);
          if (wasDone) expect(step.exchange.phase.name).toBe("done");
          ends.push(...step.commands.map(({ type }) => type).filter((type) => endings.has(type)));
          if (event.type === "end-invalid") ends.pop();
          exchange = step.exchange;
        }
        expect(ends.length).toBeLessThanOrEqual(1);
      }),
    );
  });
  const endings = new Set([
    "end-answer",
    "end-with-refusal",
    "end-with-error",
    "cut",
    "refuse",
    "refuse-thread",
  ]);

  test("a plan is sent, kept or given back", () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 30 }), (events) => {
        let exchange = newExchange;
        for (const event of events) {
          const step = advance(exchange, event);
          exchange = step.exchange;
          if ((event.type !== "planned" && event.type !== "round-planned") || event.planned === null)
            continue;
          const uses = step.commands.filter(
            (command) =>
              (command.type === "open" || command.type === "keep-plan" || command.type === "finish-unsent") &&
              command.planned === event.planned,
          );
          expect(uses).toHaveLength(1);
        }
      }),
    );
  });
});
