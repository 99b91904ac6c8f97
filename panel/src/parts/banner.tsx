import type { HealthAnswer } from "../api/contract.ts";
import type { Connection } from "../api/live.ts";
import { useLater } from "../api/resource.ts";
import { clockText, manyText } from "../base/words.ts";

/** What still works is said with what does not. Null: all is well. */
export function Banner({ connection }: { readonly connection: Connection }) {
  const { data } = useLater<HealthAnswer>("/health");
  const words = connectionWords(connection) ?? (data === null ? null : storageWords(data));
  if (words === null) return null;
  return (
    <div className="banner" role="alert">
      {words}
    </div>
  );
}

function connectionWords(connection: Connection) {
  switch (connection.is) {
    case "stale":
      return `Aperture does not answer since ${clockText(connection.sinceMs)}: what you see is as of then. It is tried again every few seconds.`;
    case "ended":
      return (
        <>
          Aperture was ended at {clockText(connection.sinceMs)}: what you see is as of then, and clients that
          are led here get no answer. <code>aperture up</code> starts it again; this page comes back by
          itself.
        </>
      );
    case "loggedOut":
      return connection.sinceMs === null ? null : (
        <>
          You are logged out since {clockText(connection.sinceMs)}: what you see is as of then.{" "}
          <code>aperture open</code> logs this browser in again; requests of your clients go on as before.
        </>
      );
    default:
      return null;
  }
}

function storageWords({ storage, message, recording: { missed, since } }: HealthAnswer) {
  if (storage === "ok") return null;
  return (
    <>
      Pass-through: storage unavailable{since === null ? "" : ` since ${clockText(since)}`}
      {missed === 0 ? "" : `, ${manyText(missed, "request")} not recorded`}
      {message === null ? "" : ` (${message.replace(/\.$/, "")})`}. Requests still pass.{" "}
      <code>aperture doctor</code> says what to do.
    </>
  );
}
