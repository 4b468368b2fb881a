import { createContext } from "preact";

/** What is wrong with the fields of the form around, by the pointers that name them. */
export const FieldErrors = createContext<ReadonlyMap<string, string>>(new Map());
