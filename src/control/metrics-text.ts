/**
 * Figures by name without prefix, with labels in the name if there are any: `requests_total` or
 * `requests_total{outcome="complete"}`. A name that ends in `_total` only grows.
 */
export type MetricsSnapshot = Readonly<Record<string, number>>;

/** A name, and labels with short fixed values: sentences, paths and user data do not match. */
const label = '[a-z_]{1,32}="[A-Za-z0-9_.+-]{1,32}"';
const figureName = new RegExp(`^([a-z][a-z0-9_]{0,63})(\\{${label}(?:,${label})*\\})?$`);

/** Writes the text format of Prometheus. Figures of one name are grouped; invalid figures are left out. */
export function metricsText(snapshot: MetricsSnapshot): string {
  const families = new Map<string, string[]>();
  for (const [key, value] of Object.entries(snapshot)) {
    const [, name, labels = ""] = figureName.exec(key) ?? [];
    if (name === undefined || !Number.isFinite(value)) continue;
    const lines = families.get(name) ?? [];
    lines.push(`aperture_${name}${labels} ${value}`);
    families.set(name, lines);
  }
  return [...families].map(([name, lines]) => `${typeLine(name)}${lines.join("\n")}\n`).join("");
}

function typeLine(name: string): string {
  return `# TYPE aperture_${name} ${name.endsWith("_total") ? "counter" : "gauge"}\n`;
}
