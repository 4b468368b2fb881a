import { Masthead } from "./masthead.tsx";

/** Asks for an API key, and says where one is to be found. */
export function KeyForm({ refusal, onKey }: { refusal: string | null; onKey: (key: string) => void }) {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const key = new FormData(event.currentTarget as HTMLFormElement).get("key");
    if (typeof key === "string" && key.trim() !== "") onKey(key.trim());
  };
  return (
    <>
      <Masthead current="/" />
      <main id="content" class="gate">
        <form class="panel" onSubmit={submit}>
          <h1>Enter an API key</h1>
          <p>
            <code>npm start</code> printed one when it first ran, and keeps it in the file{" "}
            <code>.millrace/admin.key</code>. Any key with the <code>read</code> scope will do.
          </p>
          <label for="key">API key</label>
          <input
            id="key"
            name="key"
            type="password"
            required
            autoComplete="off"
            spellcheck={false}
            placeholder="mk_…"
            aria-describedby="key-note"
            aria-invalid={refusal !== null}
          />
          {refusal !== null && (
            <p class="notice bad" role="alert">
              {refusal}
            </p>
          )}
          <button type="submit" class="primary">
            Open the page
          </button>
          <p id="key-note" class="muted">
            It stays in this tab until the tab is closed.
          </p>
        </form>
      </main>
    </>
  );
}
