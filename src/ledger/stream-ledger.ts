import { isCommandLine } from "../commands/index.ts";
import type { NumberedBlock, OwnLineFilter } from "../exchange/index.ts";
import { continuesOwnLine, instructions, isOwnLine, opensOwnLines } from "../notes/index.ts";
import type { AnswerUnit, Protocol, WireRequest } from "../protocols/index.ts";
import { TokenCounter } from "../tokens/index.ts";
import { addNotes, missingMemories, type NotesResult, type TailInput } from "./add-notes.ts";
import {
  aliasedUnits,
  alignAt,
  alignRequest,
  type BaseMatchRules,
  clientIndexes,
  freshUnits,
  isFullyMatched,
  type RequestAlignment,
  repeatedUnits,
} from "./align-request.ts";
import { addAnswerNodes, type NumberingDeps } from "./answer-nodes.ts";
import { Arrivals } from "./arrivals.ts";
import { addHeaders, type HeaderInput, markAnnounced, unannouncedBlocks } from "./block-headers.ts";
import type { StreamNumbers } from "./block-numbers.ts";
import { addResults, openCalls, resultUnits } from "./command-calls.ts";
import { addLineResults, commandOfferOf, lineResults, lineResultsMessage } from "./command-lines.ts";
import { leafBelow } from "./match-path.ts";
import { Branches, type LedgerNode, pathTo, rootOf, sentPosition } from "./node.ts";
import { numberUnits, renumberPath } from "./numbering.ts";
import {
  headTokens,
  reshownBlocks,
  type SizedBlock,
  sizedHead,
  sizedPath,
  sizedUnits,
} from "./path-blocks.ts";
import { type PlannedUnit, writeUnits } from "./planned-units.ts";
import { contextEditAfter, needsContextEdit } from "./provider-clearing.ts";
import { previewPlan, renderSentPlan } from "./render-body.ts";
import { type CommandForm, type OwnHead, ownHead, type RequestHead } from "./request-head.ts";
import {
  type AnswerEnd,
  type NotePosition,
  nodesAfter,
  type RenderDraft,
  type RenderInput,
  type RenderResult,
  type RepeatedRequest,
  type RequestPlan,
  type SentPlan,
} from "./request-plan.ts";
import { findPath, headIdOf, restoreHead, restorePath, type TurnToRestore } from "./restore-turn.ts";
import {
  answerAfterCut,
  dropReasoning,
  epochOf,
  lastAnswerStart,
  type PathRewrite,
  rewriteFor,
} from "./rewrite-path.ts";
import { StreamHeads } from "./stream-heads.ts";
import { isFreeOfNotes, type WithheldContent, withholdUnit } from "./withheld.ts";

/** The last turn: the next alignment starts where the two requests part. */
type CurrentTurn = {
  readonly request: WireRequest;
  readonly head: RequestHead;
  readonly style: RenderInput["style"];
  /** One node for each unit of the messages. */
  readonly nodes: readonly LedgerNode[];
};

export type LedgerOptions = {
  readonly protocol: Protocol;
  readonly nonce: string;
  /** Whether none of our units was ever sent: then reasoning in the client's history is valid as it is. */
  readonly isNew: boolean;
  readonly numbers: StreamNumbers;
};

/** Everything that was sent upstream for one stream, as a tree; each request is a path in it. */
export class StreamLedger {
  readonly #protocol: Protocol;
  readonly nonce: string;
  readonly isOwnLine: (line: string) => boolean;
  readonly ownLineFilter: OwnLineFilter;
  readonly #ownHeads: Readonly<Record<CommandForm, OwnHead>>;
  /** Instructions for a stream that we join late: tools cannot be added any more. */
  readonly #lateInstructions: string;
  readonly #numbers: StreamNumbers;
  readonly #heads = new StreamHeads();
  #current: CurrentTurn | null = null;
  #isNew: boolean;
  readonly #branches = new Branches();
  #turn = 0;
  /** Tokens by the provider's count for each token of ours. */
  #tokenRate = 1;
  /** The leaf of the last turn. */
  #lastLeaf: LedgerNode | null = null;
  /** The time of the last turn. */
  #turnMs: number | null = null;
  /** The end of the last rewrite: a mark there keeps the prefix cached, so that the next rewrite is cheap. */
  #anchor: LedgerNode | null = null;
  #withheld: WithheldContent = new Map();
  readonly #arrivals: Arrivals;

  constructor({ protocol, nonce, isNew, numbers }: LedgerOptions) {
    this.#protocol = protocol;
    this.nonce = nonce;
    const isOwn = (line: string): boolean => isOwnLine(line, nonce);
    // The client's copy also lacks command lines, but only free-standing ones, which the filter cannot tell.
    this.isOwnLine = (line) => isOwn(line) || isCommandLine(line, nonce);
    this.ownLineFilter = { isOwn, opens: opensOwnLines, continues: continuesOwnLine };
    this.#ownHeads = { tools: ownHead(protocol, nonce), text: ownHead(protocol, nonce, "text") };
    this.#lateInstructions = instructions(nonce, { hasTools: false });
    this.#isNew = isNew;
    this.#numbers = numbers;
    this.#arrivals = new Arrivals(nonce);
  }

  /** Follows the log's turn: observed turns count too. */
  advanceTurn(turn: number): void {
    this.#turn = Math.max(this.#turn, turn);
  }

  /** The last turn that was sent. */
  get turn(): number {
    return this.#turn;
  }

  memoryBytes(): number {
    return this.#branches.memoryBytes();
  }

  /** From now on every request shows placeholders for this content. */
  setWithheld(withheld: WithheldContent): void {
    this.#withheld = withheld;
  }

  /** Whether the next turn will be aligned with this request. */
  isCurrentRequest(request: WireRequest): boolean {
    return this.#current?.request === request;
  }

  /** The number of units of a request's messages that the ledger has, below any head. */
  countKnownUnits(request: WireRequest): number {
    const known = this.#heads.all.map((head) => {
      const { keptNodes, match } = this.#align(head, { request, style: "managed" });
      return keptNodes.length + match.steps.length;
    });
    return Math.max(0, ...known);
  }

  render(input: RenderInput): RenderResult {
    const { request, purpose, noteContext } = input;
    const draft = this.#numbers.draft(this.#turn + 1);
    const counter = new TokenCounter(request.model, noteContext.tokenRate);
    this.#tokenRate = noteContext.tokenRate;
    const head = this.#headFor(input, { draft, counter });
    const alignment = this.#align(head, input);
    const { node } = alignment.match;
    const isRepeated = isFullyMatched(alignment) && purpose === "turn";
    const leaf = isRepeated ? leafBelow(node, alignment.rules) : null;
    const repeated = repeatedUnits(alignment);
    const withResults = addResults(freshUnits(alignment), openCalls(node), input.findResult);
    const withLineResults = addLineResults(withResults, this.#lineResults(head, node, input));
    const numbered = numberUnits(withLineResults, { numbers: this.#numbers, draft, end: node, counter });
    const fresh = leaf === null ? numbered : null;
    const units = [...repeated, ...numbered];
    const rewrite = this.#rewriteFor(input, { head, alignment, repeated, fresh, units });
    if (leaf !== null && rewrite === null) return this.#sendAgain(input, { head, alignment, leaf });
    const lastSent = repeated[0]?.answerNode?.parent ?? node;
    const shortened = this.#arrivals.shorten(numbered, { end: lastSent, rewrite, counter }, input);
    // Reasoning bound to the old prefix is left out, and the unit after it opens the message.
    const changesBytes = rewrite?.means === "own";
    const losesReasoning = changesBytes && this.#protocol.traits.model(request.model).isBound;
    const position = { head, node, repeated, fresh: shortened, rewrite, losesReasoning };
    const noted = this.#addNotes(input, position);
    const all = [...(rewrite?.units ?? []), ...answerAfterCut(repeated, rewrite), ...noted.units];
    // Under pressure old reasoning goes even if it could stay, except that of the work in progress.
    const isPressure = changesBytes && rewrite.reason === "pressure";
    const kept = losesReasoning
      ? dropReasoning(all)
      : isPressure
        ? dropReasoning(all, lastAnswerStart(all))
        : all;
    const plan: RequestPlan = {
      input,
      head,
      alignment,
      from: rewrite?.cut ?? lastSent,
      units: kept.map((unit) => withholdUnit(unit, this.#withheld)),
      droppedTail: noted.droppedTail,
    };
    if (purpose !== "turn") {
      draft.discard();
      return previewPlan(plan);
    }
    draft.commit();
    this.#arrivals.noteSent();
    return this.#send(plan, rewrite);
  }

  #headFor(input: RenderInput, numbering: NumberingDeps): RequestHead {
    const deps = {
      ownHead: this.#ownHeads[input.noteContext.commands],
      current: this.#current,
      rulesFor: (head: RequestHead) => this.#rulesFor(head, input),
    };
    return this.#heads.headFor(input, deps, numbering);
  }

  /** The new units with our notes among them. */
  #addNotes(
    { request, purpose, style, mayClear, noteContext }: RenderInput,
    position: NotePosition,
  ): NotesResult {
    const { head, node, repeated, fresh, rewrite, losesReasoning } = position;
    const [turn, nonce] = [this.#turn + 1, this.nonce];
    const last = repeated[0]?.answerNode?.parent ?? node;
    const pathBefore = { end: rewrite?.cut ?? last, units: [...(rewrite?.units ?? []), ...repeated] };
    const header: HeaderInput = {
      protocol: this.#protocol,
      context: noteContext,
      nonce,
      turn,
      lastTurnMs: this.#turnMs,
      earlierBlocks: [...unannouncedBlocks(last), ...numberedBlocks(repeated)],
      memoryLines: missingMemories(noteContext.memories, pathBefore, nonce),
    };
    const tail: Omit<TailInput, "carrier"> = {
      turn,
      isEpochStart: rewrite !== null || this.#turn === 0,
      freshBlocks: [...(head.isReported ? [] : sizedHead(head)), ...sizedUnits(fresh)],
      isNext: last === this.#lastLeaf && rewrite === null,
      pathBlocks: () => this.#blocksBefore(position, last),
      reshownBlocks: () => reshownBlocks(rewrite, { losesReasoning, withheld: this.#withheld }),
    };
    return addNotes({
      protocol: this.#protocol,
      units: fresh,
      lastNode: node,
      instructions: this.#lateInstructions,
      addHeaders: (units) => addHeaders(header, units),
      writeTail: (carrier) => noteContext.writeTail({ ...tail, carrier }),
      traits: this.#protocol.traits.model(request.model),
      mayClear,
      needsInstructions: head.instructions === null && !node.hasOwn,
      purpose: style === "plain" ? "aside" : purpose,
    });
  }

  /** The blocks that are sent before the new ones. */
  #blocksBefore(
    { head, repeated, rewrite, losesReasoning }: NotePosition,
    last: LedgerNode,
  ): readonly SizedBlock[] {
    const units = [...(rewrite?.units ?? []), ...repeated];
    const kept = losesReasoning ? units.filter(({ facts }) => facts.kind !== "reasoning") : units;
    return sizedPath(head, rewrite?.cut ?? last, kept);
  }

  /** Continues an answer that called only our tools: sends the answer as it came, and the results. */
  renderRound(input: RenderInput, { path: { head, nodes }, end }: AnswerEnd): RenderResult | null {
    const { request, noteContext, findResult } = input;
    const draft = this.#numbers.draft(this.#turn + 1);
    const counter = new TokenCounter(request.model, noteContext.tokenRate);
    const noMatching = { reasoningKeys: new Set<string>(), isRecent: () => false };
    const rules = { ...this.#rulesFor(head, input), ...noMatching };
    const alignment = alignAt({ request, nodes, end, rules });
    const repeated = repeatedUnits(alignment);
    const callResults = resultUnits(openCalls(end), findResult);
    const lineText = this.#lineResults(head, end, input);
    const results =
      lineText === null ? callResults : [...callResults, lineResultsMessage(this.#protocol, lineText)];
    const numbered = numberUnits(results, { numbers: this.#numbers, draft, end, counter });
    const from = repeated[0]?.answerNode?.parent ?? end;
    const units = [...repeated, ...numbered];
    if (needsContextEdit(from, units) && contextEditAfter(from, units) === null) return null;
    draft.commit();
    return this.#send({ input, head, alignment, from, units, droppedTail: null }, null);
  }

  /** The results of an answer's command lines. */
  #lineResults(
    { hasTextCommands }: RequestHead,
    end: LedgerNode,
    { findResult }: RenderInput,
  ): string | null {
    return hasTextCommands ? lineResults(end, this.nonce, findResult) : null;
  }

  /** Restores a turn that an earlier process sent. Null if its body and its path do not fit together. */
  restoreTurn(turn: TurnToRestore): LedgerNode | null {
    const path = findPath(turn);
    if (path === null) return null;
    const known = this.#heads.findById(headIdOf(path));
    const head = known ?? restoreHead(path, turn.request);
    if (known === null) this.#heads.markUsed(head);
    const leaf = restorePath(path, head, { ...turn, commandOffer: commandOfferOf(head, this.nonce) });
    leaf.isLeaf = true;
    leaf.droppedTail = path.droppedTail;
    this.#branches.keep(leaf, this.#heads.all);
    this.#lastLeaf = leaf;
    this.#turn = Math.max(this.#turn, turn.turn);
    return leaf;
  }

  /** Gives the blocks that were sent before the numbers that the log has for them. */
  renumber(): void {
    if (this.#lastLeaf !== null) renumberPath(this.#lastLeaf, this.#numbers);
  }

  /** Adds the answer to the request that ended at a leaf. Returns a node for each of its units. */
  addAnswer(leaf: LedgerNode, units: readonly AnswerUnit[]): readonly LedgerNode[] {
    const counter = new TokenCounter(leaf.model, this.#tokenRate);
    const commandOffer = commandOfferOf(this.#heads.findByRoot(rootOf(leaf)), this.nonce);
    return addAnswerNodes(leaf, units, { draft: this.#numbers.draft(this.#turn), counter, commandOffer });
  }

  /** Reasoning from before our first request has exactly the prefix the client sends, if we add nothing. */
  #trustsReasoning({ instructions }: RequestHead): boolean {
    return this.#isNew && instructions === null;
  }

  #rulesFor(head: RequestHead, { request, style }: Pick<RenderInput, "request" | "style">): BaseMatchRules {
    const { isBound, hasMidSystem } = this.#protocol.traits.model(request.model);
    return {
      bytes: request.bytes,
      mayPassOwn: style === "managed",
      mayPassReworded: (node) => style === "managed" || isFreeOfNotes(node, this.#withheld, this.nonce),
      mayPassSystem: hasMidSystem,
      dropsForeignReasoning: isBound && !this.#trustsReasoning(head),
      trustsReasoning: this.#trustsReasoning(head),
      isOwnLine: this.isOwnLine,
      model: request.model,
    };
  }

  #align(head: RequestHead, input: Pick<RenderInput, "request" | "style">): RequestAlignment {
    const { request, style } = input;
    const current = this.#current;
    const isSameModel = current?.request.model === request.model;
    const isContinued = isSameModel && current.head === head && current.style === style;
    const rules = this.#rulesFor(head, input);
    return alignRequest(head.root, request, { before: isContinued ? current : null, rules });
  }

  /** Withheld content goes with any request, other changes with a turn that the client does not repeat. */
  #rewriteFor(
    { request, purpose, style, chooseRewrite, mayEdit }: RenderInput,
    { head, alignment, repeated, fresh, units }: RenderDraft,
  ): PathRewrite | null {
    const { node } = alignment.match;
    const candidate = {
      lastNode: repeated[0]?.answerNode?.parent ?? node,
      path: () => pathTo(node).filter(({ sent }) => sent !== null),
      headTokens: () => headTokens(head),
      anchor: this.#anchor,
      repeated,
    };
    const mayChoose = purpose === "turn" && style === "managed" && fresh !== null;
    return rewriteFor(node, {
      withheld: this.#withheld,
      choice: mayChoose ? chooseRewrite({ ...candidate, fresh }) : null,
      units,
      mayEdit,
      lapseReason: this.#current?.request.model === request.model ? "fork" : "model",
      nonce: this.nonce,
    });
  }

  #send(plan: RequestPlan, rewrite: PathRewrite | null): RenderResult {
    const { input, head, alignment, from, units } = plan;
    // Aliases must be found first: writing gives units of the answer the client's form.
    const aliases = aliasedUnits(alignment);
    const written = writeUnits(from, units, input.request.model);
    const leaf = written.nodes.at(-1) ?? from;
    markAnnounced(units, written.nodes);
    leaf.isLeaf = true;
    leaf.droppedTail = plan.droppedTail;
    this.#turn += 1;
    this.#isNew = false;
    this.#lastLeaf = leaf;
    this.#turnMs = input.noteContext.timeMs;
    this.#branches.keep(leaf, this.#heads.all);
    const nodes = nodesAfter(alignment, units, written.nodes);
    this.#current = { request: input.request, head, style: input.style, nodes };
    const indexes = clientIndexes(alignment, units);
    const fresh = written.sentUnits.map((unit, at) => ({ ...unit, clientIndex: indexes[at] ?? null }));
    const epoch = rewrite === null ? null : epochOf(rewrite);
    const freedTokens = rewrite?.freedTokens ?? 0;
    const result = { ...this.#result(plan, { leaf, nodes, fresh, epoch, aliases }), freedTokens };
    // The anchor moves last: the request with the rewrite still needs the mark before its cut.
    const isAnchored = this.#anchor?.sent?.buffer === sentPosition(leaf).buffer;
    if (rewrite !== null || !isAnchored) this.#anchor = nodes.at(-1) ?? null;
    return result;
  }

  /** Sends the same bytes for a request that the client sends again. */
  #sendAgain(input: RenderInput, { head, alignment, leaf }: RepeatedRequest): RenderResult {
    const nodes = nodesAfter(alignment, [], []);
    this.#current = { request: input.request, head, style: input.style, nodes };
    const { droppedTail } = leaf;
    const plan: RequestPlan = { input, head, alignment, from: leaf, units: [], droppedTail };
    return this.#result(plan, { leaf, nodes, fresh: [], epoch: null, aliases: aliasedUnits(alignment) });
  }

  #result(plan: RequestPlan, sent: SentPlan): RenderResult {
    for (const { key, numbered } of sent.aliases) this.#numbers.learn(key, numbered);
    return renderSentPlan(plan, sent, this.#anchor);
  }
}

function numberedBlocks(units: readonly PlannedUnit[]): readonly NumberedBlock[] {
  return units.flatMap(({ numbered }) => (numbered === null ? [] : [numbered]));
}
