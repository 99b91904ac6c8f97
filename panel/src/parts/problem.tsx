import type { CallError } from "../api/client.ts";

/** What happened, what still works, and one thing to do. */
export function Problem({ error }: { readonly error: CallError }) {
  if (error.isLoggedOut) return <LoggedOut />;
  return (
    <section className="problem-page" role="alert">
      <h1>{error.status === 404 ? "Not there" : "That did not work"}</h1>
      <p>{error.message}</p>
      <p className="dim">
        Requests of your clients go on as before. <code>aperture doctor</code> says what is wrong, if anything
        is.
      </p>
      <p>
        <a className="button" href="/">
          All sessions
        </a>
      </p>
    </section>
  );
}

export function LoggedOut() {
  return (
    <section className="problem-page">
      <h1>Log in</h1>
      <p>This page shows nothing to strangers. Open it with a link that works once:</p>
      <pre className="text">aperture open</pre>
      <p className="dim">Requests of your clients go on as before.</p>
    </section>
  );
}
