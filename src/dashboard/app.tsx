import { useEffect, useMemo, useState } from "preact/hooks";
import { createClient } from "../client/client.ts";
import { endpoints } from "../protocol/endpoints.ts";
import { KeyForm } from "./key-form.tsx";
import { Pages } from "./pages.tsx";
import { storeSessionKey, takeSessionKey } from "./session-key.ts";

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
  return new URL(url).pathname === endpoints.streamEvents.path;
}
