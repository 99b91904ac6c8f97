import type { ReactNode } from "react";

export type ScrollTextProps = {
  /** What it is called, by those who hear it. */
  readonly label: string;
  /** Further classes: how high it may get. */
  readonly className?: string;
  readonly children: ReactNode;
};

/** A text as it is stored, line by line. It scrolls, and keys can scroll it. */
export function ScrollText({ label, className = "", children }: ScrollTextProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it.
    <pre className={`text ${className}`.trim()} tabIndex={0} role="region" aria-label={label}>
      {children}
    </pre>
  );
}
