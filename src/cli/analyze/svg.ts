import { escaped } from "./html-parts.ts";

/** Pictures are drawn 1000 wide and scaled to the page. */
const width = 1_000;

type Size = { readonly height: number; readonly wide?: number };

function picture({ height, wide = width }: Size, words: string, inside: readonly string[]): string {
  const label = escaped(words);
  return `<svg viewBox="0 0 ${wide} ${height}" role="img" aria-label="${label}">${inside.join("")}</svg>`;
}

const at = (value: number): string => value.toFixed(1);

export type Slice = {
  readonly words: string;
  readonly value: number;
  readonly colour: string;
  readonly note: string;
};

/** One bar that is the whole, in pieces. */
export function strip(slices: readonly Slice[], words: string): string {
  const whole = slices.reduce((sum, { value }) => sum + value, 0) || 1;
  let x = 0;
  const pieces = slices.map(({ words: name, value, colour, note }) => {
    const wide = (width * value) / whole;
    const label =
      wide > 90
        ? `<text x="${at(x + 10)}" y="33" style="fill:${inkOn(colour)};font-weight:600">${Math.round((100 * value) / whole)} %</text>`
        : "";
    const drawn = `<rect x="${at(x)}" y="0" width="${at(Math.max(0, wide - 1.5))}" height="54" fill="${colour}"><title>${escaped(`${name}: ${note}`)}</title></rect>${label}`;
    x += wide;
    return drawn;
  });
  return picture({ height: 54 }, words, [`<g style="clip-path:inset(0 round 8px)">${pieces.join("")}</g>`]);
}

/** Dark on what is light and the other way round, so that it can be read. */
function inkOn(colour: string): string {
  const [red = 0, green = 0, blue = 0] = (colour.match(/[0-9a-f]{2}/gi) ?? []).map((hex) =>
    Number(`0x${hex}`),
  );
  return 0.3 * red + 0.59 * green + 0.11 * blue > 125 ? "#10131a" : "#fff";
}

export type Bar = {
  readonly words: string;
  readonly value: number;
  readonly note: string;
  readonly colour?: string;
};

/** How wide a picture of bars is drawn: all of the page, or half of it. */
type Room = { readonly wide: number; readonly nameMax: number };
export const wholePage: Room = { wide: 1_000, nameMax: 80 };
export const halfPage: Room = { wide: 480, nameMax: 42 };

/** Names above their bars, so that long ones fit. The longest bar takes the whole width. */
export function bars(rows: readonly Bar[], words: string, { wide, nameMax }: Room = wholePage): string {
  const most = Math.max(1, ...rows.map(({ value }) => value));
  const each = 38;
  const drawn = rows.map(({ words: name, value, note, colour }, row) => {
    const y = row * each;
    const long = Math.max(2, (wide * value) / most);
    const fill = colour === undefined ? 'class="accent"' : `fill="${colour}"`;
    const label = `<text x="0" y="${y + 14}">${escaped(shortened(name, nameMax))}</text>`;
    const figure = `<text x="${wide}" y="${y + 14}" text-anchor="end" class="soft">${escaped(note)}</text>`;
    const track = `<rect x="0" y="${y + 20}" width="${wide}" height="8" rx="4" class="track"/>`;
    return `${label}${figure}${track}<rect x="0" y="${y + 20}" width="${at(long)}" height="8" rx="4" ${fill}/>`;
  });
  return picture({ height: rows.length * each, wide }, words, drawn);
}

const nameMax = 76;

/** The end of a path tells more than its beginning. */
function shortened(name: string, max = nameMax): string {
  return name.length <= max ? name : `…${name.slice(-(max - 1))}`;
}

export type Layer = { readonly colour: string; readonly values: readonly number[] };
export type AreaChart = {
  /** From the bottom up. */
  readonly layers: readonly Layer[];
  readonly line: readonly number[];
  /** What stands below the first and the last column. */
  readonly ends: readonly [from: string, to: string];
  readonly tickText: (value: number) => string;
  readonly words: string;
};

const areaHeight = 300;
const leftRoom = 64;

/** Layers on top of each other over time, and a line across them. */
export function areas({ layers, line, ends, tickText, words }: AreaChart): string {
  const count = line.length;
  const sums = Array.from({ length: count }, (_, x) =>
    layers.reduce((sum, { values }) => sum + (values[x] ?? 0), 0),
  );
  const most = niceTop(Math.max(1, ...sums, ...line));
  const xAt = (x: number): number => leftRoom + ((width - leftRoom) * x) / Math.max(1, count - 1);
  const yAt = (value: number): number => areaHeight - (areaHeight * value) / most;
  const grid = [0, 0.25, 0.5, 0.75, 1].map((share) => {
    const y = at(yAt(most * share));
    return `<line x1="${leftRoom}" x2="${width}" y1="${y}" y2="${y}" class="grid"/><text x="${leftRoom - 10}" y="${y}" dy="4" text-anchor="end" class="soft">${escaped(tickText(most * share))}</text>`;
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
  const foot = `<text x="${leftRoom}" y="${areaHeight + 22}" class="soft">${escaped(ends[0])}</text><text x="${width}" y="${areaHeight + 22}" text-anchor="end" class="soft">${escaped(ends[1])}</text>`;
  return picture({ height: areaHeight + 28 }, words, [
    ...grid,
    ...drawn,
    `<polyline points="${points}" class="halo"/><polyline points="${points}" class="line"/>`,
    foot,
  ]);
}

/** 1, 2 or 5 with noughts behind, or what lies between in quarters. */
function niceTop(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 1.5, 2, 3, 4, 5, 6, 8, 10].find((step) => step * power >= value) ?? 10) * power;
}

export type Life = {
  readonly words: string;
  readonly note: string;
  /** Shares of the session: when it came, when it was used last, when it left. */
  readonly from: number;
  readonly used: number;
  readonly to: number;
};

/** From when to when something was there, and until when it was of use. */
export function lives(rows: readonly Life[], words: string): string {
  const each = 46;
  const drawn = rows.map(({ words: name, note, from, used, to }, row) => {
    const y = row * each;
    const rect = (a: number, b: number, css: string): string =>
      `<rect x="${at(width * a)}" y="${y + 26}" width="${at(Math.max(4, width * (b - a)))}" height="10" rx="3" class="${css}"/>`;
    const label = `<text x="0" y="${y + 18}">${escaped(shortened(name))}</text>`;
    const figure = `<text x="${width}" y="${y + 18}" text-anchor="end" class="soft">${escaped(note)}</text>`;
    const track = `<rect x="0" y="${y + 30.5}" width="${width}" height="1.5" class="track"/>`;
    const life = rect(from, to, "idle") + rect(from, Math.max(used, from), "accent");
    return label + figure + track + life;
  });
  return picture({ height: rows.length * each }, words, drawn);
}

export type Balance = { readonly words: string; readonly share: number; readonly note: string };

/** Left of the middle what costs more, right of it what is saved. */
export function balances(rows: readonly Balance[], words: string): string {
  const each = 30;
  const most = Math.max(0.02, ...rows.map(({ share }) => Math.abs(share)));
  const [middle, room] = [610, 250];
  const drawn = rows.map(({ words: name, share, note }, row) => {
    const y = row * each;
    const wide = Math.max(1.5, (room * Math.abs(share)) / most);
    const x = share >= 0 ? middle : middle - wide;
    const mood = share >= 0 ? "good" : "bad";
    const label = `<text x="0" y="${y + 19}">${escaped(name.slice(0, 44))}</text>`;
    const bar = `<rect x="${at(x)}" y="${y + 7}" width="${at(wide)}" height="16" rx="3" class="${mood}"/>`;
    const figure = `<text x="${width}" y="${y + 19}" text-anchor="end" class="soft">${escaped(note)}</text>`;
    return label + bar + figure;
  });
  const axis = `<line x1="${middle}" x2="${middle}" y1="0" y2="${rows.length * each}" class="grid"/>`;
  return picture({ height: rows.length * each }, words, [axis, ...drawn]);
}
