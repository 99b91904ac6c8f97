import { escapeHtml } from "./html-parts.ts";

/** Charts are drawn 1000 wide and scaled to the page. */
const width = 1_000;

type SvgSize = { readonly height: number; readonly wide?: number };

function svgImage({ height, wide = width }: SvgSize, caption: string, inside: readonly string[]): string {
  const label = escapeHtml(caption);
  return `<svg viewBox="0 0 ${wide} ${height}" role="img" aria-label="${label}">${inside.join("")}</svg>`;
}

const at = (value: number): string => value.toFixed(1);

export type StripSlice = {
  readonly caption: string;
  readonly value: number;
  readonly colour: string;
  readonly note: string;
};

/** One bar for the whole, divided into slices. */
export function svgStrip(slices: readonly StripSlice[], caption: string): string {
  const whole = slices.reduce((sum, { value }) => sum + value, 0) || 1;
  let x = 0;
  const pieces = slices.map(({ caption: name, value, colour, note }) => {
    const wide = (width * value) / whole;
    const label =
      wide > 90
        ? `<text x="${at(x + 10)}" y="33" style="fill:${inkOn(colour)};font-weight:600">${Math.round((100 * value) / whole)} %</text>`
        : "";
    const drawn = `<rect x="${at(x)}" y="0" width="${at(Math.max(0, wide - 1.5))}" height="54" fill="${colour}"><title>${escapeHtml(`${name}: ${note}`)}</title></rect>${label}`;
    x += wide;
    return drawn;
  });
  return svgImage({ height: 54 }, caption, [
    `<g style="clip-path:inset(0 round 8px)">${pieces.join("")}</g>`,
  ]);
}

/** Dark text on light colours and the reverse, for contrast. */
function inkOn(colour: string): string {
  const [red = 0, green = 0, blue = 0] = (colour.match(/[0-9a-f]{2}/gi) ?? []).map((hex) =>
    Number(`0x${hex}`),
  );
  return 0.3 * red + 0.59 * green + 0.11 * blue > 125 ? "#10131a" : "#fff";
}

export type NamedBar = {
  readonly caption: string;
  readonly value: number;
  readonly note: string;
  readonly colour?: string;
};

/** The width of a bar chart: the whole page or half of it. */
type BarLayout = { readonly wide: number; readonly nameMax: number };
const wholePage: BarLayout = { wide: 1_000, nameMax: 80 };
export const halfPage: BarLayout = { wide: 480, nameMax: 42 };

/** The names stand above the bars, so that long ones fit. The longest bar takes the whole width. */
export function svgBars(
  rows: readonly NamedBar[],
  caption: string,
  { wide, nameMax }: BarLayout = wholePage,
): string {
  const most = Math.max(1, ...rows.map(({ value }) => value));
  const each = 38;
  const drawn = rows.map(({ caption: name, value, note, colour }, row) => {
    const y = row * each;
    const long = Math.max(2, (wide * value) / most);
    const fill = colour === undefined ? 'class="accent"' : `fill="${colour}"`;
    const label = `<text x="0" y="${y + 14}">${escapeHtml(shortened(name, nameMax))}</text>`;
    const figure = `<text x="${wide}" y="${y + 14}" text-anchor="end" class="soft">${escapeHtml(note)}</text>`;
    const track = `<rect x="0" y="${y + 20}" width="${wide}" height="8" rx="4" class="track"/>`;
    return `${label}${figure}${track}<rect x="0" y="${y + 20}" width="${at(long)}" height="8" rx="4" ${fill}/>`;
  });
  return svgImage({ height: rows.length * each, wide }, caption, drawn);
}

const nameMax = 76;

/** Shortens a path from the left, because its end says more than its start. */
function shortened(name: string, max = nameMax): string {
  return name.length <= max ? name : `…${name.slice(-(max - 1))}`;
}

export type AreaLayer = { readonly colour: string; readonly values: readonly number[] };
export type AreaChart = {
  /** Ordered from the bottom up. */
  readonly layers: readonly AreaLayer[];
  readonly line: readonly number[];
  /** The labels below the first and the last column. */
  readonly ends: readonly [from: string, to: string];
  readonly tickText: (value: number) => string;
  readonly caption: string;
};

const areaHeight = 300;
const leftRoom = 64;

/** Stacked layers over time, with a line across them. */
export function svgAreas({ layers, line, ends, tickText, caption }: AreaChart): string {
  const count = line.length;
  const sums = Array.from({ length: count }, (_, x) =>
    layers.reduce((sum, { values }) => sum + (values[x] ?? 0), 0),
  );
  const most = niceTop(Math.max(1, ...sums, ...line));
  const xAt = (x: number): number => leftRoom + ((width - leftRoom) * x) / Math.max(1, count - 1);
  const yAt = (value: number): number => areaHeight - (areaHeight * value) / most;
  const grid = [0, 0.25, 0.5, 0.75, 1].map((share) => {
    const y = at(yAt(most * share));
    return `<line x1="${leftRoom}" x2="${width}" y1="${y}" y2="${y}" class="grid"/><text x="${leftRoom - 10}" y="${y}" dy="4" text-anchor="end" class="soft">${escapeHtml(tickText(most * share))}</text>`;
  });
  let below = Array.from({ length: count }, () => 0);
  const drawn = layers.map(({ colour, values }) => {
    const above = below.map((sum, x) => sum + (values[x] ?? 0));
    const path = [
      ...above.map((value, x) => `${at(xAt(x))},${at(yAt(value))}`),
      ...below.map((value, x) => `${at(xAt(x))},${at(yAt(value))}`).reverse(),
    ];
    below = above;
    return `<polygon points="${path.join(" ")}" fill="${colour}"/>`;
  });
  const points = line.map((value, x) => `${at(xAt(x))},${at(yAt(value))}`).join(" ");
  const foot = `<text x="${leftRoom}" y="${areaHeight + 22}" class="soft">${escapeHtml(ends[0])}</text><text x="${width}" y="${areaHeight + 22}" text-anchor="end" class="soft">${escapeHtml(ends[1])}</text>`;
  return svgImage({ height: areaHeight + 28 }, caption, [
    ...grid,
    ...drawn,
    `<polyline points="${points}" class="halo"/><polyline points="${points}" class="line"/>`,
    foot,
  ]);
}

/** The next round number above a value, for the top of the axis. */
function niceTop(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 1.5, 2, 3, 4, 5, 6, 8, 10].find((step) => step * power >= value) ?? 10) * power;
}

export type BlockLife = {
  readonly caption: string;
  readonly note: string;
  /** Fractions of the session: when the block arrived, when it was last used, when it left. */
  readonly from: number;
  readonly used: number;
  readonly to: number;
};

/** The time each block was carried, and the part of it until its last use. */
export function svgLives(rows: readonly BlockLife[], caption: string): string {
  const each = 46;
  const drawn = rows.map(({ caption: name, note, from, used, to }, row) => {
    const y = row * each;
    const rect = (a: number, b: number, css: string): string =>
      `<rect x="${at(width * a)}" y="${y + 26}" width="${at(Math.max(4, width * (b - a)))}" height="10" rx="3" class="${css}"/>`;
    const label = `<text x="0" y="${y + 18}">${escapeHtml(shortened(name))}</text>`;
    const figure = `<text x="${width}" y="${y + 18}" text-anchor="end" class="soft">${escapeHtml(note)}</text>`;
    const track = `<rect x="0" y="${y + 30.5}" width="${width}" height="1.5" class="track"/>`;
    const life = rect(from, to, "idle") + rect(from, Math.max(used, from), "accent");
    return label + figure + track + life;
  });
  return svgImage({ height: rows.length * each }, caption, drawn);
}

export type SessionBalance = { readonly caption: string; readonly share: number; readonly note: string };

/** Sessions that cost more extend left of the middle, savings extend right. */
export function svgBalances(rows: readonly SessionBalance[], caption: string): string {
  const each = 30;
  const most = Math.max(0.02, ...rows.map(({ share }) => Math.abs(share)));
  const [middle, room] = [610, 250];
  const drawn = rows.map(({ caption: name, share, note }, row) => {
    const y = row * each;
    const wide = Math.max(1.5, (room * Math.abs(share)) / most);
    const x = share >= 0 ? middle : middle - wide;
    const mood = share >= 0 ? "good" : "bad";
    const label = `<text x="0" y="${y + 19}">${escapeHtml(name.slice(0, 44))}</text>`;
    const bar = `<rect x="${at(x)}" y="${y + 7}" width="${at(wide)}" height="16" rx="3" class="${mood}"/>`;
    const figure = `<text x="${width}" y="${y + 19}" text-anchor="end" class="soft">${escapeHtml(note)}</text>`;
    return label + bar + figure;
  });
  const axis = `<line x1="${middle}" x2="${middle}" y1="0" y2="${rows.length * each}" class="grid"/>`;
  return svgImage({ height: rows.length * each }, caption, [axis, ...drawn]);
}
