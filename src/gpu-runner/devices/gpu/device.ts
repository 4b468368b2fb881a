import { create, globals } from "webgpu";
import { ProblemError } from "../../../protocol/wire/problem.ts";

/** Without this, Dawn rounds timestamps to 65,536 ns. Robustness stays on: it keeps submitted kernels in bounds. */
export const DISABLED_TOGGLES = ["timestamp_quantization"];
const WANTED_FEATURES = ["timestamp-query", "shader-f16", "subgroups"] as const;

/** An open adapter and its device: one for the life of a process. */
export interface Gpu {
  /** Has to stay referenced: once it is collected, whatever its devices still do crashes the process. */
  readonly instance: GPU;
  readonly adapter: GPUAdapter;
  readonly device: GPUDevice;
  /** Throws the first error that no error scope caught, and forgets it. */
  throwUncaptured(): void;
}

/**
 * Opens the best adapter that the drivers in sight offer, or the first whose name has `adapterName` in
 * it, with all of its own limits. `onLost` is called once when the device goes away, also by
 * `destroy()`: this process has no other. Fails with `backend-failed` where there is no such adapter.
 */
export async function openGpu(onLost: (reason: string) => void, adapterName?: string): Promise<Gpu> {
  Object.assign(globalThis, globals);
  const flags = [`disable-dawn-features=${DISABLED_TOGGLES.join(",")}`];
  const instance = create(adapterName === undefined ? flags : [...flags, `adapter=${adapterName}`]);
  // The bindings reject with a bare text where no name fits.
  const adapter = await instance.requestAdapter({ powerPreference: "high-performance" }).catch(() => null);
  if (adapter === null) {
    const named = adapterName === undefined ? "" : ` whose name has '${adapterName}' in it`;
    throw new ProblemError("backend-failed", `No driver offers a GPU adapter${named}`);
  }
  const device = await adapter.requestDevice({
    requiredFeatures: WANTED_FEATURES.filter((feature) => adapter.features.has(feature)),
    requiredLimits: readLimits(adapter.limits),
  });

  void device.lost.then(({ reason, message }) => {
    onLost(message || reason);
  });
  let uncaptured: ProblemError | null = null;
  device.addEventListener("uncapturederror", ({ error }) => {
    uncaptured ??= new ProblemError("backend-failed", error.message);
  });
  return {
    instance,
    adapter,
    device,
    throwUncaptured() {
      const error = uncaptured;
      uncaptured = null;
      if (error !== null) throw error;
    },
  };
}

/** A device's limits as a plain record; they are getters of a prototype. */
export function readLimits(limits: GPUSupportedLimits): Record<string, number> {
  const record: Record<string, number> = {};
  for (const name in limits) {
    const value: unknown = limits[name as keyof GPUSupportedLimits];
    if (typeof value === "number") record[name] = value;
  }
  return record;
}

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
