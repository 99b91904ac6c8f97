import { must } from "../../src/base/index.ts";
import { lifecycleOf, pendingChange, zoneOf } from "../../src/engine/moment/lifecycle.ts";
import {
  approvalsOf,
  attributesOf,
  blockViewOf,
  epochNow,
  exchangesOf,
  lastSentTurn,
  lastTurnAnswer,
  type Moment,
  modeOf,
  nameOf,
  permissionsOf,
  runNow,
  sentPath,
  shownOf,
  turnNow,
  viewBlocks,
} from "../../src/engine/moment/moment.ts";
import type { Stream, View } from "../../src/engine/state.ts";
import { versionAt } from "../../src/engine/versions.ts";
import { factsOf } from "./facts-of.ts";

/** Everything a reader can learn at a moment, as plain data, to compare two ways of reaching a state. */
export function describeMoment(moment: Moment): unknown {
  const { state, seq } = moment;
  const isOpened = <T extends { readonly openedSeq: number }>(item: T): boolean => item.openedSeq <= seq;
  return {
    session: state.session,
    seq,
    streams: [...state.streams.entries()]
      .map(([, stream]) => stream)
      .filter(isOpened)
      .map(describeStream(moment)),
    views: [...state.views.entries()]
      .map(([, view]) => view)
      .filter(isOpened)
      .map(describeView(moment)),
    identity: state.identity !== null && state.identity.seq <= seq ? state.identity : null,
    mode: modeOf(moment),
    name: nameOf(moment),
    exchanges: exchangesOf(moment),
    steps: [...state.steps.entries()].flatMap(([id, step]) => {
      const log = versionAt(step.log, seq);
      return log === null ? [] : [{ id, actor: step.actor, reason: step.reason, ...log.value }];
    }),
  };
}

function describeStream(moment: Moment): (stream: Stream) => unknown {
  return (stream) => ({
    id: stream.id,
    name: stream.name,
    parent: stream.parent,
    turn: turnNow(moment, stream),
    run: runNow(moment, stream),
  });
}

function describeView(moment: Moment): (view: View) => unknown {
  return (view) => ({
    id: view.id,
    stream: view.stream,
    agent: view.agent,
    parent: view.parent,
    epoch: epochNow(moment, view),
    sent: lastSentTurn(moment, view),
    answer: lastTurnAnswer(moment, view),
    path: sentPath(moment, view),
    approvals: approvalsOf(moment, view),
    permissions: permissionsOf(moment, view),
    blocks: [...viewBlocks(moment, view)].map((block) => {
      const blockView = must(blockViewOf(moment, view, block.id), "a view reaches its blocks");
      return {
        block,
        notes: attributesOf(moment, block.id),
        facts: factsOf(blockView),
        shown: shownOf(moment, view, block.id),
        pending: pendingChange(blockView),
        zone: zoneOf(blockView),
        lifecycle: lifecycleOf(blockView),
      };
    }),
  });
}
