import { must } from "../base/index.ts";
import { lifecycleOf, pendingOf, zoneOf } from "./lifecycle.ts";
import {
  approvalsOf,
  blocksOf,
  epochNow,
  exchangesOf,
  factsOf,
  lastAnswer,
  lastSent,
  type Moment,
  modeOf,
  nameOf,
  notesOf,
  pathOf,
  permissionsOf,
  placeOf,
  runNow,
  shownOf,
  turnNow,
} from "./moment.ts";
import type { Stream, View } from "./state.ts";
import { versionAt } from "./versions.ts";

/**
 * Everything a reader can learn at a moment, as plain data. Tests compare two ways of getting to a state with
 * it, and people diff it; it walks the whole state, so nothing on the way of a request calls it.
 */
export function describe(moment: Moment): unknown {
  const { state, seq } = moment;
  const opened = <T extends { readonly openedSeq: number }>(item: T): boolean => item.openedSeq <= seq;
  return {
    session: state.session,
    seq,
    streams: [...state.streams.entries()]
      .map(([, stream]) => stream)
      .filter(opened)
      .map(describeStream(moment)),
    views: [...state.views.entries()]
      .map(([, view]) => view)
      .filter(opened)
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
    sent: lastSent(moment, view),
    answer: lastAnswer(moment, view),
    path: pathOf(moment, view),
    approvals: approvalsOf(moment, view),
    permissions: permissionsOf(moment, view),
    blocks: [...blocksOf(moment, view)].map((block) => {
      const place = must(placeOf(moment, view, block.id), "a view reaches its blocks");
      return {
        block,
        notes: notesOf(moment, block.id),
        facts: factsOf(place),
        shown: shownOf(moment, view, block.id),
        pending: pendingOf(place),
        zone: zoneOf(place),
        lifecycle: lifecycleOf(place),
      };
    }),
  });
}
