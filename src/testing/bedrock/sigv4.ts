import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { type HeaderMap, headerMap, type RawRequest } from "../read-raw-request.ts";

/** The keys whose signatures are accepted. */
export type AwsKeys = {
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Present for temporary keys. */
  readonly sessionToken?: string;
};

const algorithm = "AWS4-HMAC-SHA256";
const service = "bedrock";
const skewMsMax = 5 * 60_000;

/**
 * Computes the signature (version 4) of a request and compares it with the one it has; null if they are the
 * same. Written from the description of the algorithm, so that it shares no mistake with a client.
 */
export function signatureProblem(raw: RawRequest, keys: AwsKeys, nowMs: number): string | null {
  const headers = headerMap(raw.rawHeaders);
  const claim = claimOf(headers.get("authorization") ?? "");
  if (claim === null) return "Missing Authentication Token";
  const date = headers.get("x-amz-date") ?? "";
  const scope = `${date.slice(0, 8)}/${keys.region}/${service}/aws4_request`;
  if (claim.credential !== `${keys.accessKeyId}/${scope}`) {
    return "The security token included in the request is invalid.";
  }
  if (Math.abs(timeOf(date) - nowMs) > skewMsMax) return "Signature expired";
  const unsigned = requiredHeaders(headers, keys).find((name) => !claim.signed.includes(name));
  if (unsigned !== undefined) return `'${unsigned}' must be a 'SignedHeader' in the AWS Authorization.`;
  if ((headers.get("x-amz-security-token") ?? "") !== (keys.sessionToken ?? "")) {
    return "The security token included in the request is invalid.";
  }
  const canonical = canonicalRequest(raw, headers, claim.signed);
  const expected = signatureOf({ canonical, date, scope, keys });
  if (isSame(expected, claim.signature)) return null;
  // The real service repeats the string it has signed, word for word.
  return `The request signature we calculated does not match the signature you provided. The Canonical String for this request should have been '${canonical}'`;
}

type SignatureClaim = {
  readonly credential: string;
  readonly signed: readonly string[];
  readonly signature: string;
};

function claimOf(authorization: string): SignatureClaim | null {
  const match = /^(\S+) Credential=([^,\s]+), ?SignedHeaders=([^,\s]+), ?Signature=([0-9a-f]{64})$/.exec(
    authorization,
  );
  const [, name, credential = "", signed = "", signature = ""] = match ?? [];
  return name === algorithm ? { credential, signed: signed.split(";"), signature } : null;
}

/** The headers that a signature must cover, so that it is bound to one request at one time by one caller. */
function requiredHeaders(headers: HeaderMap, { sessionToken }: AwsKeys): readonly string[] {
  const own = [...headers.keys()].filter((name) => name.startsWith("x-amz-"));
  const content = headers.has("content-type") ? ["content-type"] : [];
  const token = sessionToken === undefined ? [] : ["x-amz-security-token"];
  return ["host", "x-amz-date", ...content, ...own, ...token];
}

function canonicalRequest(raw: RawRequest, headers: HeaderMap, signed: readonly string[]): string {
  const [path = "", query = ""] = raw.target.split("?", 2);
  const lines = signed.map((name) => `${name}:${(headers.get(name) ?? "").trim().replace(/ +/g, " ")}\n`);
  return [
    raw.method,
    // The algorithm encodes the segments of the sent path once more.
    path.split("/").map(encodeSegment).join("/"),
    query.split("&").sort().join("&"),
    lines.join(""),
    signed.join(";"),
    hexDigest(raw.body),
  ].join("\n");
}

function encodeSegment(segment: string): string {
  return encodeURIComponent(segment).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

type SignatureInput = {
  readonly canonical: string;
  readonly date: string;
  readonly scope: string;
  readonly keys: AwsKeys;
};

function signatureOf({ canonical, date, scope, keys }: SignatureInput): string {
  const text = [algorithm, date, scope, hexDigest(canonical)].join("\n");
  const key = scope
    .split("/")
    .reduce<string | Buffer>((secret, part) => hmac(secret, part), `AWS4${keys.secretAccessKey}`);
  return hmac(key, text).toString("hex");
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}

function hexDigest(bytes: string | Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** `20261117T083000Z`. */
function timeOf(date: string): number {
  const match = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(date);
  if (match === null) return Number.NaN;
  const [, year, month, day, hour, minute, second] = match;
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}

function isSame(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}
