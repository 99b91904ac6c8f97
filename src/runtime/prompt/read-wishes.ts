import { must } from "../../base/index.ts";
import type { View } from "../../engine/index.ts";
import { attributesOf, blockViewOf, isWithheld, type Moment } from "../../engine/moment/index.ts";
import type { Wishes } from "../../exchange/index.ts";
import { type AllWishes, updateWishes, type WithheldContent } from "../../ledger/index.ts";
import type { WireRequest } from "../../protocols/index.ts";
import type { AgentRun, RunDeps } from "../run-deps.ts";
import type { ClientInput, ClientPrompt } from "./client-prompt.ts";
import { promptTokensMax } from "./prompt-context.ts";
import { withSpeaker } from "./prompt-unit.ts";
import { isOwnBlock } from "./visible-frames.ts";

/** The log's wishes, with the speaker above each text that is shown shorter. */
export async function readWishes(
  { log }: RunDeps,
  { agent, agentStream }: AgentRun,
  { moment, view, nonce }: ClientInput,
): Promise<AllWishes> {
  const { state } = moment;
  const window = promptTokensMax(agent);
  const latest = await agentStream.recorder.wishes(state, window, log.contents);
  const levels = latest.levels.map((wish) => {
    const block = must(state.blocks.get(wish.block), "a wish is about a block").block;
    return isOwnBlock(block, view) ? wish : withSpeaker(wish, block, nonce);
  });
  const known = withoutUnsent(moment, view, latest);
  agentStream.wishes = updateWishes(agentStream.wishes, { ...known, levels }, agentStream.wishes.withheld);
  return agentStream.wishes;
}

/** The ledger adds the blocks of a prompt to the facts, but the log of a space has counted them already. */
function withoutUnsent({ state }: Moment, view: View, wishes: Wishes): Wishes {
  const { facts } = wishes;
  const sentSeq = view.sent.last?.seq ?? 0;
  const answerSeq = view.answers.last?.seq ?? 0;
  let [count, tokens] = [0, 0];
  const stream = must(state.streams.get(view.stream), "a view has a stream");
  for (let at = stream.blocks.size - 1; at >= 0; at -= 1) {
    const id = must(stream.blocks.get(at), "streams have no gaps");
    const { block, attributes } = must(state.blocks.get(id), "streams list known blocks");
    if (block.addedSeq <= sentSeq) break;
    if (block.addedSeq === answerSeq || !attributes.value.present || block.kind === "activation") continue;
    count += 1;
    tokens += attributes.value.tokens?.count ?? 0;
  }
  const { recency } = facts;
  const rest = { blocks: Math.max(0, recency.blocks - count), tokens: Math.max(0, recency.tokens - tokens) };
  // An agent that was never asked knows of no state before the changes.
  const changes = sentSeq === 0 ? [] : facts.changes;
  return {
    ...wishes,
    facts: { ...facts, changes, blocks: Math.max(0, facts.blocks - count), recency: { ...recency, ...rest } },
  };
}

type ComposedRequest = { readonly client: ClientPrompt; readonly request: WireRequest };

/** Units of blocks that the user withholds: the ledger sends none of their text. */
export function withheldUnits(
  moment: Moment,
  view: View,
  { client, request }: ComposedRequest,
): WithheldContent {
  const keys = client.units.flatMap(({ block }, at) => {
    const blockView = block === null ? null : blockViewOf(moment, view, block.id);
    const isHidden =
      blockView !== null && (isWithheld(blockView) || attributesOf(moment, blockView.block.id)?.purged);
    const key = request.messageKeys[at];
    return isHidden === true && key !== undefined ? [[key, null] as const] : [];
  });
  return new Map(keys);
}
