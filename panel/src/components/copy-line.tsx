import { useEffect, useState } from "react";
import { copyText } from "../base/clipboard.ts";

export type CopyLineProps = { readonly name: string; readonly line: string };

const copiedMs = 2_000;

/** A command line with a copy button. */
export function CopyLine({ name, line }: CopyLineProps) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), copiedMs);
    return () => clearTimeout(timer);
  }, [isCopied]);
  return (
    <div className="copy-line">
      <span className="label">{name}</span>
      <code>{line}</code>
      <button
        type="button"
        className="button small"
        aria-label={`Copy the line for ${name}`}
        onClick={() => void copyText(line).then(setCopied)}
      >
        {isCopied ? "Copied" : "Copy"}
      </button>
    </div>
  );
}
