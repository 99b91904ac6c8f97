import { must } from "../base/index.ts";
import { type EditablePart, editablePart, type Part, partText } from "../content/index.ts";
import type { BlockKind, ContentForm, ProtocolName } from "../engine/frames/index.ts";
import { anthropic } from "./anthropic/protocol.ts";
import type { Protocol, UnitReplacement, UnitStretch } from "./protocol.ts";
import type { WireRequest } from "./wire.ts";

const protocols: ReadonlyMap<string, Protocol> = new Map([[anthropic.name, anthropic]]);

/** The codec of a wire format. Null if requests of this format are recorded as bytes only. */
export function findProtocol(name: ProtocolName): Protocol | null {
  return protocols.get(name) ?? null;
}

/** The codec of something that a codec has read: a unit, a request. */
export function protocolOf({ protocol }: { readonly protocol: ProtocolName }): Protocol {
  return must(protocols.get(protocol), "a unit was read by a codec");
}

/** Content whose form is not recorded was written before there was a choice. */
const firstForm = "anthropic";

/** Stored content, with the form of its bytes. */
type StoredContent = { readonly form?: ContentForm };

/** The form of stored content. */
export function formOf({ form = firstForm }: StoredContent): ContentForm {
  return form;
}

/** Reads stored content. Texts that we wrote ourselves have the same bytes in every form. */
export function readPart(bytes: Uint8Array, { form = firstForm }: StoredContent): Part {
  return codecOf(form).read.part(bytes);
}

function codecOf(form: ContentForm): Protocol {
  return form === "part" ? anthropic : must(protocols.get(form), "content was read by a codec");
}

/** The text of stored content for people. Null if it has none. */
export function contentText(bytes: Uint8Array, content: StoredContent): string | null {
  return partText(readPart(bytes, content));
}

/** Stored content whose text or input may be replaced. Null if it has none that we can write again. */
export function readEditable(bytes: Uint8Array, content: StoredContent): EditablePart | null {
  return editablePart(readPart(bytes, content));
}

/** The type of stored content in the words of its wire format. Null if it names none. */
export function wireTypeOf(bytes: Uint8Array, { form = firstForm }: StoredContent): string | null {
  return codecOf(form).read.wireType(bytes);
}

/** Stored content as a tokenizer sees it, without parsing it. */
export function contentStretches(
  bytes: Uint8Array,
  { kind, form = firstForm }: StoredContent & { readonly kind: BlockKind },
): readonly UnitStretch[] {
  return codecOf(form).read.stretches(bytes, kind);
}

/** Stored content with another text or input. Null if it cannot hold it. */
export function replaceStored(
  bytes: Uint8Array,
  { form = firstForm }: StoredContent,
  replacement: UnitReplacement,
): Uint8Array | null {
  return codecOf(form).write.replace(bytes, replacement);
}

/** A recorded request; requests of which no protocol is recorded were written before there was a choice. */
type RecordedRequest = { readonly protocol?: ProtocolName };

/** Reads the stored body of a request. Null if it cannot be read. */
export function readStoredRequest(
  body: Uint8Array,
  { protocol = firstForm }: RecordedRequest,
): WireRequest | null {
  return findProtocol(protocol)?.read.request(body, null) ?? null;
}
