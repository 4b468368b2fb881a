import { join } from "node:path";
import { ensureBuilt } from "../src/local/build.ts";

/** Before the files of a project that runs the built edge: several start at once, and would build over each other. */
export default function buildEdge(): Promise<void> {
  return ensureBuilt(join(import.meta.dirname, ".."), () => undefined);
}
