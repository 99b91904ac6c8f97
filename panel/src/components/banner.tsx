import type { HealthAnswer } from "../api/contract.ts";
import type { Connection } from "../api/events.ts";
import { useDeferredResource } from "../api/resource.ts";
import { clockText, pluralText } from "../base/format.ts";

/** Says what does not work, and what still does. Shows nothing while everything works. */
export function Banner({ connection }: { readonly connection: Connection }) {
  const { data } = useDeferredResource<HealthAnswer>("/health");
  const message = connectionMessage(connection) ?? (data === null ? null : storageMessage(data));
  if (message === null) return null;
  return (
    <div className="banner" role="alert">
      {message}
    </div>
  );
}

function connectionMessage(connection: Connection) {
  switch (connection.status) {
    case "stale":
      return `Aperture has not answered since ${clockText(connection.sinceMs)}. This page shows the state of that time and reconnects every few seconds.`;
    case "stopped":
      return (
        <>
          Aperture was stopped at {clockText(connection.sinceMs)}. This page shows the state of that time, and
          clients that use this address get no answer. <code>aperture up</code> starts it again; then log in
          with <code>aperture open</code>.
        </>
      );
    case "loggedOut":
      return connection.sinceMs === null ? null : (
        <>
          You have been logged out since {clockText(connection.sinceMs)}. This page shows the state of that
          time. <code>aperture open</code> logs this browser in again. Your clients’ requests still pass.
        </>
      );
    default:
      return null;
  }
}

function storageMessage({ storage, message, recording: { missed, since } }: HealthAnswer) {
  if (storage === "ok") return null;
  return (
    <>
      Pass-through: storage unavailable{since === null ? "" : ` since ${clockText(since)}`}
      {missed === 0 ? "" : `, ${pluralText(missed, "request")} not recorded`}
      {message === null ? "" : ` (${message.replace(/\.$/, "")})`}. Requests still pass.{" "}
      <code>aperture doctor</code> tells you how to fix it.
    </>
  );
}
