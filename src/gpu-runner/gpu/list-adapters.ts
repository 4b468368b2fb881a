import { create } from "webgpu";

/**
 * Names of the adapters that the drivers in sight offer, best first, each once. The bindings tell them
 * only where they are asked for a name that none has, in the text of the error (README of the npm
 * package `webgpu`, "adapter"). Two cards of one name cannot be told apart.
 */
export async function listAdapters(): Promise<string[]> {
  const told = await create(["adapter=(none)"])
    .requestAdapter()
    .then(
      () => "",
      (reason: unknown) => String(reason instanceof Error ? reason.message : reason),
    );
  const listed = [...told.matchAll(/backend: '([^']*)', name: '(.*)'/g)];
  const backend = listed[0]?.[1];
  return [...new Set(listed.filter(([, each]) => each === backend).map(([, , name]) => name ?? ""))];
}
