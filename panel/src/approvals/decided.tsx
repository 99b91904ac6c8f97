import type { PricedApproval } from "../api/contract.ts";
import { actorName } from "../context/steps.ts";
import { aboutText } from "./card.tsx";

export type DecidedProps = { readonly rows: readonly PricedApproval[]; readonly model: string | null };

/** What was decided, the newest first. */
export function DecidedList({ rows, model }: DecidedProps) {
  return (
    <section>
      <h2>Decided</h2>
      <table className="table">
        <thead>
          <tr>
            <th>turn</th>
            <th>what</th>
            <th>decision</th>
            <th>reason</th>
          </tr>
        </thead>
        <tbody>
          {[...rows].reverse().map((row) => (
            <tr key={row.approval}>
              <td className="number">{row.turn}</td>
              <td>
                {actorName(row.actor, model)}: {row.verb} {aboutText(row)}
              </td>
              <td>
                <span className={`badge ${row.stand}`}>{row.stand}</span>
              </td>
              <td>{row.reason}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
