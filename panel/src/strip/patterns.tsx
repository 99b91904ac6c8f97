/** Colour is never alone: what is free, merged, shortened or ours has a texture too. */
export function Patterns() {
  return (
    <defs>
      <pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <line className="ink-free" x1="0" y1="0" x2="0" y2="6" />
      </pattern>
      <pattern id="dots" width="5" height="5" patternUnits="userSpaceOnUse">
        <circle className="ink-ours" cx="2.5" cy="2.5" r="1.2" />
      </pattern>
      <pattern id="run" width="3" height="3" patternUnits="userSpaceOnUse">
        <line className="ink-run" x1="0" y1="0" x2="0" y2="3" />
      </pattern>
      <pattern id="lowered" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(-45)">
        <line className="ink-lowered" x1="0" y1="0" x2="0" y2="5" />
      </pattern>
      <pattern id="reserved" width="4" height="4" patternUnits="userSpaceOnUse">
        <line className="ink-reserved" x1="0" y1="0" x2="0" y2="4" />
      </pattern>
    </defs>
  );
}
