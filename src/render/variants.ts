/** How a manifest is wrapped for a family of models. What it says is the same. */
export type ManifestVariant = "text" | "xml" | "markdown";

export type VariantForm = {
  /** The first line: it carries the nonce. */
  readonly first: (nonce: string, fields: readonly string[]) => string;
  readonly rowStart: string;
  readonly last: readonly string[];
  /** Signs in content that would end the wrapping, and what is written instead. */
  readonly escapes: readonly (readonly [sign: string, written: string])[];
};

export const variants: Readonly<Record<ManifestVariant, VariantForm>> = {
  text: {
    first: (nonce, fields) => `[CONTEXT MANIFEST ${nonce} ${fields.join(" | ")}]`,
    rowStart: "",
    last: [],
    escapes: [],
  },
  xml: {
    first: (nonce, fields) => `<context-manifest mark=${nonce} about="${fields.join(" | ")}">`,
    rowStart: "",
    last: ["</context-manifest>"],
    escapes: [
      ["&", "&amp;"],
      ["<", "&lt;"],
    ],
  },
  markdown: {
    first: (nonce, fields) => `### CONTEXT MANIFEST ${nonce} ${fields.join(" | ")}`,
    rowStart: "- ",
    last: [],
    escapes: [["`", "'"]],
  },
};
