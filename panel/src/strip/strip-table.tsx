import type { StateRow } from "../api/contract.ts";
import { countedText, percentText, tokensText } from "../base/format.ts";

/** The numbers of the strip as a table, for screen readers. */
export function StripTable({ state }: { readonly state: StateRow }) {
  const { strip, window, otherTokens, cold } = state;
  const share = (tokens: number | null): string =>
    tokens === null ? "?" : percentText({ part: tokens, whole: window.size ?? 0 });
  return (
    <details className="strip-table">
      <summary>Show as a table</summary>
      <table className="table">
        <thead>
          <tr>
            <th>part</th>
            <th>blocks</th>
            <th className="number">count</th>
            <th className="number">tokens</th>
            <th className="number">share of the window</th>
          </tr>
        </thead>
        <tbody>
          {otherTokens === 0 ? null : (
            <tr>
              <td>tools and framing</td>
              <td />
              <td />
              <td className="number">~{tokensText(otherTokens)}</td>
              <td className="number">{share(otherTokens)}</td>
            </tr>
          )}
          {strip.map((segment) => (
            <tr key={segment.from}>
              <td>{segment.zone}</td>
              <td>
                {segment.from === segment.to ? `#${segment.from}` : `#${segment.from} to #${segment.to}`}
              </td>
              <td className="number">{segment.blocks}</td>
              <td className="number">~{tokensText(segment.tokens)}</td>
              <td className="number">{share(segment.tokens)}</td>
            </tr>
          ))}
          <tr>
            <td>free</td>
            <td />
            <td />
            <td className="number">{countedText(window.free, window.exact)}</td>
            <td className="number">{share(window.free)}</td>
          </tr>
          {cold.blocks === 0 ? null : (
            <tr>
              <td>cold, not sent</td>
              <td />
              <td className="number">{cold.blocks}</td>
              <td className="number">~{tokensText(cold.tokens)}</td>
              <td />
            </tr>
          )}
        </tbody>
      </table>
    </details>
  );
}
