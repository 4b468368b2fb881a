const STORAGE_NAME = "millrace.key";

/**
 * The API key of this tab: from `#key=…`, which then leaves the address bar so that it is not
 * copied along with the address, else what the tab was given before. Null without one.
 */
export function takeSessionKey(): string | null {
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
export function storeSessionKey(key: string | null): void {
  if (key === null) sessionStorage.removeItem(STORAGE_NAME);
  else sessionStorage.setItem(STORAGE_NAME, key);
}
