/** Drawn as SVG, because not every system font has a lock. */
export function LockIcon() {
  return (
    <svg className="lock" width="11" height="12" viewBox="0 0 11 12" aria-hidden="true">
      <path d="M3 5V3.5a2.5 2.5 0 0 1 5 0V5" fill="none" stroke="currentColor" strokeWidth="1.5" />
      <rect x="1" y="5" width="9" height="6.5" rx="1.2" fill="currentColor" />
    </svg>
  );
}
