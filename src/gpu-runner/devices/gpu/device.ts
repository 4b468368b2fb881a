import { create, globals } from "webgpu";
import { ProblemError } from "../../../protocol/wire/problem.ts";

/** Without this, Dawn rounds timestamps to 65,536 ns. Robustness stays on: it keeps submitted kernels in bounds. */
export const DISABLED_TOGGLES = ["timestamp_quantization"];
const WANTED_FEATURES = ["timestamp-query", "shader-f16", "subgroups"] as const;

/** Open adapter and its device, one per process. */
export interface Gpu {
  /** Must stay referenced: once it is collected, further work of its devices crashes the process. */
  readonly instance: GPU;
  readonly adapter: GPUAdapter;
  readonly device: GPUDevice;
  /** Throws the first error that no error scope caught, and clears it. */
  throwUncaptured(): void;
}

/**
 * Opens the best available adapter, or the first whose name contains `adapterName`, with all of its own limits.
 * `onLost` is called once when the device is lost, also by `destroy()`: this process has no other. Fails with
 * `backend-failed` where there is no such adapter.
 */
export async function openGpu(onLost: (reason: string) => void, adapterName?: string): Promise<Gpu> {
  Object.assign(globalThis, globals);
  const flags = [`disable-dawn-features=${DISABLED_TOGGLES.join(",")}`];
  const instance = create(adapterName === undefined ? flags : [...flags, `adapter=${adapterName}`]);
  // The bindings reject with a bare text where no name matches.
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

/** Limits of a device as a plain record; they are getters of a prototype. */
export function readLimits(limits: GPUSupportedLimits): Record<string, number> {
  const record: Record<string, number> = {};
  for (const name in limits) {
    const value: unknown = limits[name as keyof GPUSupportedLimits];
    if (typeof value === "number") record[name] = value;
  }
  return record;
}

/**
 * Names of the available adapters, best first: equal cards have equal names, by which the bindings open the first.
 * The bindings list them only in the error for an unknown name.
 * Source: README of the npm package `webgpu`, "adapter".
 */
export async function listAdapters(): Promise<string[]> {
  const reported = await create(["adapter=(none)"])
    .requestAdapter()
    .then(
      () => "",
      (reason: unknown) => String(reason instanceof Error ? reason.message : reason),
    );
  const listed = [...reported.matchAll(/backend: '([^']*)', name: '(.*)'/g)];
  const backend = listed[0]?.[1];
  return listed.filter(([, each]) => each === backend).map(([, , name]) => name ?? "");
}
