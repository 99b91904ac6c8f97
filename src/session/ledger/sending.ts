import { isCommandTool } from "../../commands/index.ts";
import { clearAtBeta, contextManagementBeta } from "../../protocols/index.ts";
import type { Asking, Sending } from "../desk-port.ts";
import { alone } from "../exchange.ts";
import type { Line } from "./line.ts";
import type { Read } from "./read-request.ts";
import type { RenderAsked, Rendered } from "./rendering.ts";

/** Many small pieces cost more to send than one copy of them. */
const onePieceBytesMax = 64 * 1024;

/** Whether the client has asked for messages that clear themselves. */
export function hasClearAt(asking: Asking): boolean {
  return hasBeta(asking, clearAtBeta);
}

function hasBeta({ headers }: Asking, beta: string): boolean {
  return headers["anthropic-beta"]?.includes(beta) === true;
}

/** What the body needs and the client has not asked for. */
function betasFor(asking: Asking, { usesClearing, cleared }: Rendered): readonly string[] {
  const needed = [
    ...(usesClearing ? [clearAtBeta] : []),
    ...(cleared === null ? [] : [contextManagementBeta]),
  ];
  return needed.filter((beta) => !hasBeta(asking, beta));
}

type Rendering = {
  readonly line: Line;
  readonly read: Read;
  readonly rendered: Rendered;
  /** Lost: the log does not know all that came before. */
  readonly asked: RenderAsked & { readonly isLost: boolean };
};

/** What was rendered, as it is sent and told of. */
export function sendingOf({ line, read, rendered, asked }: Rendering): Sending {
  const { asking, body } = read;
  const { style, isLost, reportsAll } = asked;
  const isSmall = rendered.length <= onePieceBytesMax;
  const pieces = isSmall ? [Buffer.concat(rendered.pieces)] : rendered.pieces;
  const { length, report } = rendered;
  const { leaf, isTurn, epoch } = report;
  // What follows something that was lost means nothing by itself.
  const told =
    isLost && !reportsAll
      ? { fresh: [], copies: [], body: [] }
      : { fresh: report.fresh, copies: report.copies, body: pieces };
  const { key, talkName } = line;
  const named = { rendering: style, line: key, talkName, briefed: line.briefing?.seq ?? 0 };
  return {
    request: asking.id,
    rendering: style,
    pieces,
    length,
    betas: betasFor(asking, rendered),
    mayRetry: true,
    sent: { ...named, leaf, isTurn, length, epoch, ...told },
    clientBody: body,
    likeness: alone,
    refusal: null,
    strips: style === "managed" ? line.ledger.strips : null,
    isOwnTool: rendered.path.head.ownTools.length > 0 ? isCommandTool : null,
    textNonce: rendered.path.head.hasTextCommands ? line.nonce : null,
  };
}
