import type { ReactNode } from "react";

export type ScrollTextProps = {
  /** Read by screen readers. */
  readonly label: string;
  /** Further classes, for example for the maximal height. */
  readonly className?: string;
  readonly children: ReactNode;
};

/** Preformatted text that scrolls, by mouse and by keyboard. */
export function ScrollText({ label, className = "", children }: ScrollTextProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it.
    <pre className={`text ${className}`.trim()} tabIndex={0} role="region" aria-label={label}>
      {children}
    </pre>
  );
}
