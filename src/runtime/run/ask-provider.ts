import { fail, type Result } from "../../base/index.ts";
import { agentDefaults } from "../agent.ts";
import type { ModelAnswer, ModelRequest } from "../provider.ts";
import { raceAbort, timerMsMax } from "../race-abort.ts";
import type { AgentRun, RunDeps } from "../run-deps.ts";
import type { SpaceEvent } from "../space-events.ts";

/** Sends a prompt to the agent's provider and emits the text as it arrives. Gives up after a long silence. */
export async function askProvider(
  deps: RunDeps,
  { agent, cache, signal }: AgentRun,
  request: ModelRequest,
): Promise<Result<ModelAnswer>> {
  const { provider, name } = agent;
  const timeoutMs = agent.answerTimeoutMs ?? provider.answerTimeoutMs ?? agentDefaults.answerTimeoutMs;
  const stream = deps.streamName(cache.stream);
  const late = new AbortController();
  const eitherSignal = AbortSignal.any([signal, late.signal]);
  let timer: NodeJS.Timeout | undefined;
  const restartTimer = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => late.abort(), Math.min(timeoutMs, timerMsMax));
  };
  const emit = (event: SpaceEvent): void => {
    if (eitherSignal.aborted) return;
    restartTimer();
    deps.emit(event);
  };
  restartTimer();
  try {
    const answering = provider.ask(request, {
      signal: eitherSignal,
      onText: (text) => emit({ type: "heard", stream, agent: name, text }),
      onRestart: () => emit({ type: "anew", stream, agent: name }),
    });
    // A provider that ignores the signal is not waited for.
    const answer = await raceAbort(eitherSignal, answering, () => fail("AP_SPACE_CLOSED"));
    const isLate = late.signal.aborted && !signal.aborted && !answer.ok;
    return isLate ? fail("AP_PROVIDER_LATE", { provider: provider.name, ms: timeoutMs }) : answer;
  } finally {
    clearTimeout(timer);
  }
}
