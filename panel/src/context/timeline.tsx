import { useEffect, useMemo, useState } from "react";
import type { PricedRequest, PricedRequests, RouteAnswers } from "../api/contract.ts";
import { useConnection } from "../api/events.ts";
import { useDeferredResource } from "../api/resource.ts";
import { useCommands } from "../base/commands.ts";
import { percent } from "../strip/percent.ts";
import { sessionPath } from "./actions.ts";
import { stepsPath } from "./steps.ts";
import {
  newestAfter,
  requestsRead,
  type Tick,
  type TurnStart,
  ticksOf,
  turnAt,
  turnStarts,
  turnStep,
} from "./turns.ts";

export type TimelineProps = {
  readonly session: string;
  readonly at: number | null;
  readonly head: number;
  /** Called with null to return to now. */
  readonly onGo: (seq: number | null) => void;
};

const speeds = [1, 4, 16] as const;
type Speed = (typeof speeds)[number];

/** Moves the context screen to any earlier seq, which is read-only. */
export function Timeline({ session, at, head, onGo }: TimelineProps) {
  const requests = useNewestRequests(session);
  const { data: steps } = useDeferredResource<RouteAnswers["StepsPage"]>(stepsPath(session));
  const starts = useMemo(() => turnStarts(requests), [requests]);
  const ticks = useMemo(() => ticksOf(steps?.rows ?? []), [steps]);
  const { status } = useConnection();
  const now = at ?? head;
  const to = (seq: number | null): void => {
    if (seq === null) return;
    const next = Math.max(1, Math.min(head, seq));
    onGo(next === head ? null : next);
  };
  const [speed, setSpeed] = useState<Speed>(1);
  const { isPlaying, setPlaying } = usePlayback({ now, head, speed, to });
  const moves = {
    back: () => to(now - 1),
    on: () => to(now + 1),
    turnBack: () => to(turnStep(starts, now, -1) ?? 1),
    turnOn: () => to(turnStep(starts, now, 1) ?? head),
    live: () => to(head),
    play: () => setPlaying(!isPlaying),
  };
  useTimeCommands(moves);
  const turn = turnAt(starts, now);
  return (
    <div className={at === null ? "timeline" : "timeline past"}>
      <div className="timeline-buttons">
        <TimeButton label="One turn back" sign="«" onClick={moves.turnBack} />
        <TimeButton label="One frame back" sign="‹" onClick={moves.back} />
        <TimeButton label={isPlaying ? "Pause" : "Play"} sign={isPlaying ? "❙❙" : "▶"} onClick={moves.play} />
        <TimeButton label="One frame forward" sign="›" onClick={moves.on} />
        <TimeButton label="One turn forward" sign="»" onClick={moves.turnOn} />
        <label>
          <span className="hidden-label">Playback speed</span>
          <select
            className="input small"
            value={speed}
            onChange={(event) => setSpeed((Number(event.target.value) as Speed) ?? 1)}
          >
            {speeds.map((each) => (
              <option key={each} value={each}>
                {each}×
              </option>
            ))}
          </select>
        </label>
      </div>
      <div className="timeline-line">
        <Ticks starts={starts} ticks={ticks} head={head} />
        <input
          type="range"
          aria-label="Seq to show"
          aria-valuetext={`seq ${now} of ${head}${turn === null ? "" : `, turn ${turn}`}`}
          min={1}
          max={Math.max(1, head)}
          value={now}
          onChange={(event) => to(Number(event.target.value))}
        />
      </div>
      <span className="timeline-where">
        {turn === null ? "" : `turn ${turn} · `}seq {now}/{head}{" "}
        {at === null && status === "live" ? <b>live</b> : null}
      </span>
    </div>
  );
}

const noRows: readonly PricedRequest[] = [];

function useNewestRequests(session: string): readonly PricedRequest[] {
  const path = sessionPath(session);
  const { data: detail } = useDeferredResource<RouteAnswers["SessionDetail"]>(path);
  const after = detail === null ? null : newestAfter(detail.session.requests);
  const { data } = useDeferredResource<PricedRequests>(
    after === null ? null : `${path}/requests?after=${after}&limit=${requestsRead}`,
  );
  return data?.rows ?? noRows;
}

type TimeButtonProps = { readonly label: string; readonly sign: string; readonly onClick: () => void };

function TimeButton({ label, sign, onClick }: TimeButtonProps) {
  return (
    <button type="button" className="button quiet small" aria-label={label} title={label} onClick={onClick}>
      <span aria-hidden="true">{sign}</span>
    </button>
  );
}

type TicksProps = {
  readonly starts: readonly TurnStart[];
  readonly ticks: readonly Tick[];
  readonly head: number;
};

/** Draws turns as bands and steps as ticks. */
function Ticks({ starts, ticks, head }: TicksProps) {
  const share = (seq: number): string => percent((seq - 1) / Math.max(1, head - 1));
  return (
    <svg className="timeline-ticks" width="100%" height={14} aria-hidden="true">
      {starts.map(({ turn, seq }, index) =>
        index % 2 === 0 ? (
          <rect
            key={turn}
            className="turn-band"
            x={share(seq)}
            width={percent(((starts[index + 1]?.seq ?? head) - seq) / Math.max(1, head - 1))}
            height={14}
          />
        ) : null,
      )}
      {ticks.map(({ seq, actor, text }) => (
        <line key={seq} className={`tick ${actor}`} x1={share(seq)} x2={share(seq)} y1={2} y2={14}>
          <title>{text}</title>
        </line>
      ))}
    </svg>
  );
}

type PlaybackInput = {
  readonly now: number;
  readonly head: number;
  readonly speed: Speed;
  readonly to: (seq: number) => void;
};

const frameMs = 500;

/** Plays frame by frame and stops at the end. Starting at the end plays from the first frame. */
function usePlayback({ now, head, speed, to }: PlaybackInput) {
  const [isPlaying, setPlaying] = useState(false);
  useEffect(() => {
    if (!isPlaying) return;
    const timer = setTimeout(() => {
      if (now + 1 >= head) setPlaying(false);
      to(now + 1);
    }, frameMs / speed);
    return () => clearTimeout(timer);
  });
  const start = (isWanted: boolean): void => {
    if (isWanted && now >= head) to(1);
    setPlaying(isWanted);
  };
  return { isPlaying, setPlaying: start };
}

type Moves = Readonly<Record<"back" | "on" | "turnBack" | "turnOn" | "live" | "play", () => void>>;

function useTimeCommands(moves: Moves): void {
  const group = "Time";
  useCommands([
    { id: "frame-back", title: "One frame back", keys: ["["], group, run: moves.back },
    { id: "frame-on", title: "One frame forward", keys: ["]"], group, run: moves.on },
    { id: "turn-back", title: "One turn back", keys: ["{"], group, run: moves.turnBack },
    { id: "turn-on", title: "One turn forward", keys: ["}"], group, run: moves.turnOn },
    { id: "play", title: "Play or pause", keys: [","], group, run: moves.play },
    { id: "live", title: "Back to live", keys: ["."], group, run: moves.live },
  ]);
}
