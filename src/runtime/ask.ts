import { fail, type Result } from "../base/index.ts";
import { usual } from "./agent.ts";
import type { SpaceEvent } from "./events.ts";
import type { ModelAnswer, ModelRequest } from "./provider.ts";
import type { Run, RunPlace } from "./run-place.ts";
import { timerMsMax, unlessAborted } from "./unless-aborted.ts";

/** Puts a prompt to an agent's provider, tells what is heard of the answer, and does not wait for ever. */
export async function askProvider(
  place: RunPlace,
  { agent, memory, signal }: Run,
  request: ModelRequest,
): Promise<Result<ModelAnswer>> {
  const { provider, name } = agent;
  const timeoutMs = agent.answerTimeoutMs ?? provider.answerTimeoutMs ?? usual.answerTimeoutMs;
  const stream = place.nameOf(memory.stream);
  const late = new AbortController();
  const both = AbortSignal.any([signal, late.signal]);
  let timer: NodeJS.Timeout | undefined;
  const listen = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => late.abort(), Math.min(timeoutMs, timerMsMax));
  };
  const tellOf = (event: SpaceEvent): void => {
    if (both.aborted) return;
    listen();
    place.tell(event);
  };
  listen();
  try {
    const asking = provider.ask(request, {
      signal: both,
      heard: (text) => tellOf({ type: "heard", stream, agent: name, text }),
      anew: () => tellOf({ type: "anew", stream, agent: name }),
    });
    // A provider that does not hear that it is over is not waited for.
    const answer = await unlessAborted(both, asking, () => fail("AP_SPACE_CLOSED"));
    const isLate = late.signal.aborted && !signal.aborted && !answer.ok;
    return isLate ? fail("AP_PROVIDER_LATE", { provider: provider.name, ms: timeoutMs }) : answer;
  } finally {
    clearTimeout(timer);
  }
}
