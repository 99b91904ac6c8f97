import type { CallError } from "../api/client.ts";

/** Says what failed, what still works, and which command to run. */
export function ErrorPage({ error }: { readonly error: CallError }) {
  if (error.isLoggedOut) return <LoginPage />;
  return (
    <section className="problem-page" role="alert">
      <h1>{error.status === 404 ? "Not found" : "The request failed"}</h1>
      <p>{error.message}</p>
      <p className="dim">
        Your clients’ requests still pass. <code>aperture doctor</code> checks the setup.
      </p>
      <p>
        <a className="button" href="/">
          All sessions
        </a>
      </p>
    </section>
  );
}

export function LoginPage() {
  return (
    <section className="problem-page">
      <h1>Log in</h1>
      <p>You are not logged in. This command prints a link that logs this browser in once:</p>
      <pre className="text">aperture open</pre>
      <p className="dim">Your clients’ requests still pass.</p>
    </section>
  );
}
