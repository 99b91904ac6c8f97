/** Colours that colour-blind readers can tell apart, on light and on dark. */
export const kindColours: Readonly<Record<string, string>> = {
  "tool-result": "#0072b2",
  "tool-call": "#56b4e9",
  system: "#8a8f98",
  user: "#009e73",
  assistant: "#e69f00",
  reasoning: "#cc79a7",
  media: "#d55e00",
};

export const style = `
:root{color-scheme:light dark;--page:#fbfaf7;--card:#fff;--ink:#1b1f24;--soft:#59626d;--line:#dfe2e6;
--track:#eceef1;--good:#00785a;--bad:#b0440a;--accent:#0072b2;--idle:#d8dce1}
@media (prefers-color-scheme:dark){:root{--page:#101316;--card:#181c21;--ink:#e9ecef;--soft:#9aa5b1;
--line:#2b323a;--track:#252b32;--good:#3ecf9f;--bad:#ff9a5c;--accent:#58b0ee;--idle:#3a424c}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif}
main{max-width:1080px;margin:0 auto;padding:40px 24px 72px}
h1{font-size:34px;line-height:1.15;letter-spacing:-.02em;margin:0 0 6px}
h2{font-size:22px;letter-spacing:-.01em;margin:0 0 2px}
h3{font-size:15px;margin:20px 0 8px;color:var(--soft);font-weight:600}
p{margin:0 0 12px}.lead,.remark{color:var(--soft)}.remark{font-size:14px;margin-bottom:18px}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(220px,1fr));gap:14px;margin:26px 0 14px}
.tile,section{background:var(--card);border:1px solid var(--line);border-radius:14px}
.tile{padding:18px 20px}.tile b{display:block;font-size:28px;white-space:nowrap;line-height:1.1;letter-spacing:-.02em}
.tile span{display:block;color:var(--soft);font-size:14px;margin-top:6px}
.tile.good b{color:var(--good)}.tile.bad b{color:var(--bad)}
section{padding:26px 28px;margin:18px 0}
svg{display:block;width:100%;height:auto;overflow:visible}
svg text{fill:var(--ink);font:13px system-ui,-apple-system,"Segoe UI",sans-serif}
svg .soft{fill:var(--soft)}svg .grid{stroke:var(--line)}svg .track{fill:var(--track)}svg .idle{fill:var(--idle)}
svg .line{fill:none;stroke:var(--ink);stroke-width:2.2;stroke-linejoin:round}
svg .halo{fill:none;stroke:var(--card);stroke-width:5;stroke-linejoin:round}
svg .good{fill:var(--good)}svg .bad{fill:var(--bad)}svg .accent{fill:var(--accent)}
.legend{display:flex;flex-wrap:wrap;gap:6px 18px;margin:14px 0 0;padding:0;list-style:none;font-size:14px}
.legend i{display:inline-block;width:12px;height:12px;border-radius:3px;margin-right:7px;vertical-align:-1px}
.legend .rule{height:3px;border-radius:0;vertical-align:4px;background:var(--ink)}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(320px,1fr));gap:8px 36px}
table{border-collapse:collapse;width:100%;font-size:14px}
th,td{text-align:left;padding:7px 12px 7px 0;border-bottom:1px solid var(--line);vertical-align:top}
th{color:var(--soft);font-weight:600}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
td.name{overflow-wrap:anywhere}
details{margin-top:12px}summary{cursor:pointer;color:var(--soft);font-size:14px}
summary:focus-visible{outline:2px solid var(--accent);outline-offset:3px;border-radius:4px}
.scroll{overflow-x:auto}code{font:13px ui-monospace,SFMono-Regular,Menlo,monospace}
footer{color:var(--soft);font-size:14px;margin-top:26px}
@media print{body{background:#fff}section,.tile{break-inside:avoid}}
`;
