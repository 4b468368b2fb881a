import { serviceEndpoints } from "../protocol/service/service-endpoints.ts";
import { useEffect, useMemo, useState } from "preact/hooks";
import { createClient } from "../client/client.ts";
import { Masthead } from "./masthead.tsx";
import { Pages } from "./pages.tsx";

/** Asks for an API key, and says where one is to be found. */
function KeyForm({ refusal, onKey }: { refusal: string | null; onKey: (key: string) => void }) {
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

const STORAGE_NAME = "millrace.key";

/**
 * The API key of this tab: from `#key=…`, which then leaves the address bar so that it is not
 * copied along with the address, else what the tab was given before. Null without one.
 */
function takeSessionKey(): string | null {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const given = fragment.get("key");
  if (given === null || given === "") return sessionStorage.getItem(STORAGE_NAME);
  fragment.delete("key");
  const rest = fragment.toString();
  history.replaceState(history.state, "", location.pathname + location.search + (rest === "" ? "" : `#${rest}`));
  storeSessionKey(given);
  return given;
}

/** Keeps the key until the tab is closed; null forgets it. */
function storeSessionKey(key: string | null): void {
  if (key === null) sessionStorage.removeItem(STORAGE_NAME);
  else sessionStorage.setItem(STORAGE_NAME, key);
}

/** Asks for a key where there is none, then shows the page. */
export function App() {
  const [key, setKey] = useState(takeSessionKey);
  const [refusal, setRefusal] = useState<string | null>(null);

  useEffect(() => {
    const takeNew = () => setKey(takeSessionKey());
    addEventListener("hashchange", takeNew);
    return () => removeEventListener("hashchange", takeNew);
  }, []);

  const leave = (reason: string | null) => {
    storeSessionKey(null);
    setKey(null);
    setRefusal(reason);
  };
  const client = useMemo(() => {
    if (key === null) return null;
    const watched: typeof fetch = async (...request) => {
      const response = await fetch(...request);
      if (response.status === 401) leave("The edge does not know this key, or it was revoked.");
      // Whatever a key is refused beside the feed of the page it may do without.
      if (response.status === 403 && isOfFeed(response)) leave("This key lacks the read scope.");
      return response;
    };
    return createClient({ baseUrl: location.origin, key, fetch: watched });
  }, [key]);

  if (client !== null) return <Pages client={client} onLeave={() => leave(null)} />;
  const enter = (given: string) => {
    storeSessionKey(given);
    setRefusal(null);
    setKey(given);
  };
  return <KeyForm refusal={refusal} onKey={enter} />;
}

function isOfFeed({ url }: Response): boolean {
  return new URL(url).pathname === serviceEndpoints.streamEvents.path;
}
