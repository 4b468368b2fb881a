import type { ListedKernel } from "../../protocol/submitted-kernel.ts";

/** What the API and the address call a kernel: its name, or the id of a submitted one. */
export function nameToAsk({ source, name, id }: Pick<ListedKernel, "source" | "name" | "id">): string {
  return source === "submitted" && id !== undefined ? id : name;
}
