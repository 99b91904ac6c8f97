import { isObject } from "./json-text.ts";
import { PrefixChain } from "./prefix-chain.ts";
import { invalid, type Problem } from "./problem.ts";
import { type Block, isThinking, type ParsedRequest, type PlacedBlock, placeOf } from "./request.ts";
import { digestOf, type Seal, type Signer } from "./signatures.ts";

export type BindingMode = "every-model" | "bound-models" | "off";

export type BindingPolicy = {
  readonly mode: BindingMode;
  readonly signer: Signer;
  /** Signatures made elsewhere, as they were first seen; null refuses them. */
  readonly foreign: Map<string, Seal> | null;
};

/** One line of `input_transformations`. */
export type Transformation = {
  readonly type: "thinking_dropped";
  readonly path: string;
  readonly reason: "prefix_binding_mismatch" | "model_binding_mismatch";
};

export type Bound = {
  readonly problem: Problem | null;
  /** Blocks that the model does not get to see, and that nobody pays for. */
  readonly dropped: ReadonlySet<Block>;
  readonly transformations: readonly Transformation[];
  /** The end of the conversation as sent: what the answer's own reasoning is bound to. */
  readonly chain: PrefixChain;
  readonly lastThinking: string | null;
};

/** Checks every signature in a request against the conversation that now stands before it. */
export function checkBinding(request: ParsedRequest, policy: BindingPolicy): Bound {
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

type Verdict = "kept" | "unreadable" | "edited" | Problem;

class BindingWalk {
  readonly chain: PrefixChain;
  readonly #request: ParsedRequest;
  readonly #policy: BindingPolicy;
  readonly #bound: boolean;
  readonly #drops: boolean;
  readonly #dropped = new Set<Block>();
  readonly #transformations: Transformation[] = [];
  #last: string | null = null;

  constructor(request: ParsedRequest, policy: BindingPolicy) {
    this.chain = new PrefixChain(request);
    this.#request = request;
    this.#policy = policy;
    this.#bound = policy.mode === "every-model" || (policy.mode === "bound-models" && request.rules.bound);
    const binding = request.thinking?.["block_binding"];
    this.#drops = isObject(binding) && binding["prefix_mismatch_behavior"] === "drop_block";
  }

  visit(placed: PlacedBlock): Problem | null {
    const { block, message, index } = placed;
    if (block.type === "compaction") return this.#visitSummary(placed);
    if (!isThinking(block)) {
      this.chain.add(this.#request.messages[message]?.role ?? "user", block);
      return null;
    }
    const verdict = this.#judge(block, placeOf({ message, block: index }));
    if (typeof verdict === "object") return verdict;
    if (verdict === "edited" && !this.#drops) return mismatch(placeOf({ message, block: index }));
    if (verdict !== "kept") this.#drop(placed, verdict);
    return null;
  }

  result(problem: Problem | null): Bound {
    return {
      problem,
      dropped: this.#dropped,
      transformations: this.#transformations,
      chain: this.chain,
      lastThinking: this.#last,
    };
  }

  #judge(block: Block, place: string): Verdict {
    const seal = this.#sealOf(block);
    if (seal === null || seal.kind !== block.type)
      return invalid(place, "Invalid `signature` in `thinking` block");
    if (seal.text !== textDigest(block)) return invalid(place, "`thinking` blocks cannot be modified");
    if (seal.model !== this.#request.model) return "unreadable";
    // A run may lose its beginning or its end. A block that follows another than it did then has lost
    // something in between, or got something back.
    const hole = this.#last !== null && seal.before !== this.#last;
    if (this.#bound && (hole || seal.prefix !== this.chain.prefix)) return "edited";
    this.#last = seal.id;
    return "kept";
  }

  #sealOf(block: Block): Seal | null {
    const signature = signatureOf(block);
    const own = this.#policy.signer.open(signature);
    const { foreign } = this.#policy;
    if (own !== null || foreign === null) return own;
    const seen = foreign.get(signature);
    if (seen !== undefined) return seen;
    const seal: Seal = {
      kind: block.type as Seal["kind"], // only reasoning blocks come here
      id: digestOf(signature),
      model: this.#request.model,
      prefix: this.chain.prefix,
      before: this.#last,
      text: textDigest(block),
    };
    foreign.set(signature, seal);
    return seal;
  }

  #visitSummary({ block, message, index }: PlacedBlock): Problem | null {
    const signature = block["signature"] ?? null;
    this.chain.add("assistant", block);
    if (typeof signature !== "string") return null;
    const seal = this.#policy.signer.open(signature);
    const intact = seal?.kind === "compaction" && seal.text === textDigest(block);
    if (intact) this.chain.resume(seal.prefix);
    if (intact || this.#policy.foreign !== null) return null;
    return invalid(placeOf({ message, block: index }), "Invalid `signature` in `compaction` block");
  }

  #drop({ block, message, index }: PlacedBlock, verdict: "unreadable" | "edited"): void {
    this.#dropped.add(block);
    const reason = verdict === "edited" ? "prefix_binding_mismatch" : "model_binding_mismatch";
    this.#transformations.push({
      type: "thinking_dropped",
      path: placeOf({ message, block: index }),
      reason,
    });
  }
}

export function textDigest(block: Block): string {
  if (block.type === "redacted_thinking") return digestOf("");
  return digestOf(String(block[block.type === "compaction" ? "content" : "thinking"]));
}

function signatureOf(block: Block): string {
  return String(block[block.type === "redacted_thinking" ? "data" : "signature"]);
}

function mismatch(place: string): Problem {
  return invalid(
    place,
    "Invalid signature in thinking block. The block is bound to a different conversation than the one " +
      "it was sent back in: what stands before it, the tools or the system prompt have changed.",
  );
}
