import { isObject } from "./json-text.ts";
import {
  blockPath,
  type ContentBlock,
  isThinking,
  type ParsedRequest,
  type PlacedBlock,
} from "./parsed-request.ts";
import { PrefixChain } from "./prefix-chain.ts";
import { invalid, type RequestProblem } from "./request-problem.ts";
import { digestOf, type Seal, type Signer } from "./signatures.ts";

export type BindingMode = "every-model" | "bound-models" | "off";

export type BindingPolicy = {
  readonly mode: BindingMode;
  readonly signer: Signer;
  /** Signatures made elsewhere, as they were first seen; null refuses them. */
  readonly foreign: Map<string, Seal> | null;
};

/** One entry of `input_transformations`. */
export type Transformation = {
  readonly type: "thinking_dropped";
  readonly path: string;
  readonly reason: "prefix_binding_mismatch" | "model_binding_mismatch";
};

export type BindingResult = {
  readonly problem: RequestProblem | null;
  /** Blocks that the model does not get, and that are not billed. */
  readonly dropped: ReadonlySet<ContentBlock>;
  readonly transformations: readonly Transformation[];
  /** The chain at the end of the request: the reasoning of the answer is bound to it. */
  readonly chain: PrefixChain;
  readonly lastThinking: string | null;
};

/** Checks every signature in a request against the conversation before it. */
export function checkBinding(request: ParsedRequest, policy: BindingPolicy): BindingResult {
  const walk = new BindingWalk(request, policy);
  for (const [number, message] of request.messages.entries()) {
    walk.chain.enter(message);
    for (const [index, block] of message.content.entries()) {
      const problem = walk.visit({ block, message: number, index });
      if (problem !== null) return walk.result(problem);
    }
  }
  return walk.result(null);
}

type BindingVerdict = "kept" | "unreadable" | "edited" | RequestProblem;

class BindingWalk {
  readonly chain: PrefixChain;
  readonly #request: ParsedRequest;
  readonly #policy: BindingPolicy;
  readonly #isBound: boolean;
  readonly #mayDrop: boolean;
  readonly #dropped = new Set<ContentBlock>();
  readonly #transformations: Transformation[] = [];
  #lastThinking: string | null = null;

  constructor(request: ParsedRequest, policy: BindingPolicy) {
    this.chain = new PrefixChain(request);
    this.#request = request;
    this.#policy = policy;
    this.#isBound =
      policy.mode === "every-model" || (policy.mode === "bound-models" && request.rules.isBound);
    const binding = request.thinking?.["block_binding"];
    this.#mayDrop = isObject(binding) && binding["prefix_mismatch_behavior"] === "drop_block";
  }

  visit(placed: PlacedBlock): RequestProblem | null {
    const { block, message, index } = placed;
    if (block.type === "compaction") return this.#visitSummary(placed);
    if (!isThinking(block)) {
      this.chain.add(this.#request.messages[message]?.role ?? "user", block);
      return null;
    }
    const verdict = this.#judge(block, blockPath({ message, block: index }));
    if (typeof verdict === "object") return verdict;
    if (verdict === "edited" && !this.#mayDrop) return mismatch(blockPath({ message, block: index }));
    if (verdict !== "kept") this.#drop(placed, verdict);
    return null;
  }

  result(problem: RequestProblem | null): BindingResult {
    return {
      problem,
      dropped: this.#dropped,
      transformations: this.#transformations,
      chain: this.chain,
      lastThinking: this.#lastThinking,
    };
  }

  #judge(block: ContentBlock, path: string): BindingVerdict {
    const seal = this.#sealOf(block);
    if (seal === null || seal.kind !== block.type)
      return invalid(path, "Invalid `signature` in `thinking` block");
    if (seal.text !== textDigest(block)) return invalid(path, "`thinking` blocks cannot be modified");
    if (seal.model !== this.#request.model) return "unreadable";
    // A run of reasoning may lose its beginning or its end. If a block follows another one than when it was
    // signed, blocks were removed or added in between.
    const hasHole = this.#lastThinking !== null && seal.before !== this.#lastThinking;
    if (this.#isBound && (hasHole || seal.prefix !== this.chain.prefix)) return "edited";
    this.#lastThinking = seal.id;
    return "kept";
  }

  #sealOf(block: ContentBlock): Seal | null {
    const signature = signatureOf(block);
    const own = this.#policy.signer.open(signature);
    const { foreign } = this.#policy;
    if (own !== null || foreign === null) return own;
    const firstSeal = foreign.get(signature);
    if (firstSeal !== undefined) return firstSeal;
    const seal: Seal = {
      kind: block.type as Seal["kind"], // only reasoning blocks come here
      id: digestOf(signature),
      model: this.#request.model,
      prefix: this.chain.prefix,
      before: this.#lastThinking,
      text: textDigest(block),
    };
    foreign.set(signature, seal);
    return seal;
  }

  #visitSummary({ block, message, index }: PlacedBlock): RequestProblem | null {
    const signature = block["signature"] ?? null;
    this.chain.add("assistant", block);
    if (typeof signature !== "string") return null;
    const seal = this.#policy.signer.open(signature);
    const isIntact = seal?.kind === "compaction" && seal.text === textDigest(block);
    if (isIntact) this.chain.resume(seal.prefix);
    if (isIntact || this.#policy.foreign !== null) return null;
    return invalid(blockPath({ message, block: index }), "Invalid `signature` in `compaction` block");
  }

  #drop({ block, message, index }: PlacedBlock, verdict: "unreadable" | "edited"): void {
    this.#dropped.add(block);
    const reason = verdict === "edited" ? "prefix_binding_mismatch" : "model_binding_mismatch";
    this.#transformations.push({
      type: "thinking_dropped",
      path: blockPath({ message, block: index }),
      reason,
    });
  }
}

export function textDigest(block: ContentBlock): string {
  if (block.type === "redacted_thinking") return digestOf("");
  return digestOf(String(block[block.type === "compaction" ? "content" : "thinking"]));
}

function signatureOf(block: ContentBlock): string {
  return String(block[block.type === "redacted_thinking" ? "data" : "signature"]);
}

function mismatch(path: string): RequestProblem {
  return invalid(
    path,
    "Invalid signature in thinking block. The block is bound to a different conversation than the one " +
      "it was sent back in: what stands before it, the tools or the system prompt have changed.",
  );
}
