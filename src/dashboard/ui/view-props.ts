import { useCallback, useEffect, useState } from "preact/hooks";
import type { Client } from "../../client/client.ts";
import type { Subscribe } from "./hooks/use-feed.ts";
import type { Writer } from "./hooks/use-writer.ts";
import { type PageAddress, readAddress, writeAddress } from "./page-address.ts";

/** Changes of the selection: undefined clears a pick. */
type AddressChange = { readonly [Name in keyof PageAddress]?: PageAddress[Name] | undefined };

/** Selection on the page, kept in the address bar so that it can be shared. */
export function useAddress(): readonly [PageAddress, (change: AddressChange) => void] {
  const [address, setAddress] = useState(() => readAddress(location.hash));
  useEffect(() => {
    const follow = () => setAddress(readAddress(location.hash));
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  const change = useCallback((some: AddressChange) => {
    const next = { ...readAddress(location.hash), ...some } as PageAddress;
    // A pick replaces the one before: going back leaves the view, not each choice in turn.
    history.replaceState(history.state, "", location.pathname + location.search + writeAddress(next));
    setAddress(next);
  }, []);
  return [address, change];
}

/** Props of every view. */
export interface ViewProps {
  readonly client: Client;
  readonly subscribe: Subscribe;
  readonly address: PageAddress;
  readonly onPick: (change: AddressChange) => void;
  readonly writer: Writer;
}
