import type { Clock } from "../../src/base/index.ts";
import { fail, ok } from "../../src/base/index.ts";
import type { Agent, ModelAnswer, ModelRequest, Provider, WireBlock } from "../../src/runtime/index.ts";
import { type ScriptedModel, type StrictCoreOptions, strictCore } from "../../src/testing/index.ts";

/** A prompt and the tokens that the strict upstream counted for it. */
export type StrictExchange = { readonly request: ModelRequest; readonly usage: ModelAnswer["usage"] };

/** A provider over the strict upstream without a socket: it refuses everything the real one might refuse. */
export function strictProvider(
  model: ScriptedModel,
  options: Partial<StrictCoreOptions> = {},
): Provider & { readonly exchanges: StrictExchange[]; readonly refusals: string[] } {
  let now = 1_000_000;
  const clock: Clock = { now: () => now };
  const core = strictCore({ model, clock, secret: "runtime", ...options });
  const exchanges: StrictExchange[] = [];
  const refusals: string[] = [];
  return {
    name: "strict",
    exchanges,
    refusals,
    ask: async (request) => {
      now += 1_000;
      const reading = core.read(rawOf(request));
      const answer = await core.answer(reading, exchanges.length + refusals.length);
      const body = JSON.parse(Buffer.concat(answer.chunks).toString("utf8"));
      if (answer.status !== 200) {
        refusals.push(`${body.error?.message}`);
        return fail("AP_AGENT_UNKNOWN", { agent: "strict", known: `${body.error?.message}` });
      }
      answer.onStart();
      const { input_tokens: input, cache_read_input_tokens: cacheRead } = body.usage;
      const { cache_creation_input_tokens: cacheWrite, output_tokens: output } = body.usage;
      const usage = { input, cacheRead, cacheWrite, output };
      exchanges.push({ request: structuredClone(request) as ModelRequest, usage });
      return ok({ content: body.content as WireBlock[], stop: body.stop_reason, usage });
    },
  };
}

function rawOf(request: ModelRequest) {
  const rawHeaders = [
    "x-api-key",
    "test",
    "anthropic-version",
    "2023-06-01",
    "content-type",
    "application/json",
  ];
  return {
    method: "POST",
    target: "/v1/messages",
    rawHeaders,
    body: Buffer.from(JSON.stringify(bodyOf(request))),
  };
}

const ephemeral = { cache_control: { type: "ephemeral" } };

/** The body of a request, with its cache marks. */
function bodyOf({ model, system, messages, tools, maxTokens, marks, toolChoice }: ModelRequest) {
  const isMarked = (message: number, block: number): boolean =>
    marks.some((mark) => mark.in === "message" && mark.message === message && mark.block === block);
  const marksSystem = marks.some((mark) => mark.in === "system");
  return {
    model,
    max_tokens: maxTokens,
    ...(system.length > 0 && {
      system: system.map((block, at) =>
        marksSystem && at === system.length - 1 ? { ...block, ...ephemeral } : block,
      ),
    }),
    messages: messages.map(({ role, content }, message) => ({
      role,
      content: content.map((block, at) => (isMarked(message, at) ? { ...block, ...ephemeral } : block)),
    })),
    ...(tools.length > 0 && { tools, ...(toolChoice === "none" && { tool_choice: { type: "none" } }) }),
  };
}

/** A minimal agent with this provider. */
export function agentOf(provider: Provider, rest: Partial<Agent> = {}): Agent {
  return { name: "ada", provider, model: "claude-sonnet-5", system: "You are helpful.", ...rest };
}

/** The whole content of a request as one text. */
export function promptText({ system, messages }: ModelRequest): string {
  return [...system, ...messages.flatMap(({ content }) => content)]
    .map((block) => JSON.stringify(block))
    .join("\n");
}

/** The blocks of a request in order, each as its bytes, without marks. */
export function promptUnits({ system, tools, messages }: ModelRequest): readonly string[] {
  return [
    JSON.stringify(tools),
    ...system.map((block) => JSON.stringify(block)),
    ...messages.flatMap(({ role, content }) => content.map((block) => `${role} ${JSON.stringify(block)}`)),
  ];
}
