import type { OrtGpuBackend } from "../../protocol/fleet/hardware.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import { checkClaim } from "../kinds/probe/claim.ts";
import { ORT_VERSION, OrtBackend, providerOf } from "../devices/ort/ort-backend.ts";
import { tryProvider } from "../devices/ort/try-provider.ts";
import type { DeviceHandlers } from "../device-host/messages.ts";
import { GPU_PROVIDERS } from "../providers/gpu-providers.ts";
import { requireLibraries } from "../providers/missing-libraries.ts";
import { createModelHandlers, noWgslHandlers } from "./no-wgsl-handlers.ts";

interface ProviderOptions {
  readonly deviceId: number;
  /** Shared libraries that it needs. */
  readonly libraries: readonly string[];
}

/**
 * Serves models by one of ONNX Runtime's providers on a GPU. It does not report which adapter it took, so the device
 * description comes from the parent.
 * Each life first proves that the provider computes.
 */
export function createProviderHandlers(
  backend: OrtGpuBackend,
  { deviceId, libraries }: ProviderOptions,
): DeviceHandlers {
  const ort = new OrtBackend(providerOf(backend), GPU_PROVIDERS[backend].optionsOf(deviceId));
  return {
    ...noWgslHandlers,
    ...createModelHandlers(ort),
    probe: async () => [
      await checkClaim({
        claim: backend,
        claimed: "computes",
        find: async () => {
          await tryProvider(ort);
          return { found: "a product of matrices is right", ok: true };
        },
      }),
    ],
    describe: async ({ known }) => {
      if (known === undefined) throw new TypeError("nothing is known of the device");
      requireLibraries(libraries);
      await tryProvider(ort).catch((error: unknown) => {
        throw new ProblemError("backend-failed", `The provider does not work: ${shorten(String(error))}`);
      });
      const { device } = known;
      return { ...known, device: { ...device, fingerprint: { ...device.fingerprint, ort: ORT_VERSION } } };
    },
  };
}

const MOST_REASON = 300;

/** CUDA's own words within the runtime's, which name files and functions of the runtime. */
function shorten(reason: string): string {
  const [cuda] = /CUDA failure \d+: [^;\n]+/.exec(reason) ?? [];
  return (cuda ?? reason).replaceAll(/\s+/g, " ").trim().slice(0, MOST_REASON);
}
