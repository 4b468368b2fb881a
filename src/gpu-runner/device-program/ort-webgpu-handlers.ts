import { checkClaim } from "../kinds/probe/claim.ts";
import { ORT_VERSION, OrtBackend } from "../devices/ort/ort-backend.ts";
import { tryProvider } from "../devices/ort/try-provider.ts";
import type { DeviceHandlers } from "../device-host/messages.ts";
import { createModelHandlers, noWgslHandlers } from "./no-wgsl-handlers.ts";

/**
 * Serves models by ONNX Runtime's WebGPU provider. It does not report which adapter it took, so the device description
 * comes from the parent.
 * Each life first proves that the provider computes.
 */
export function createOrtWebgpuHandlers(): DeviceHandlers {
  const ort = new OrtBackend("webgpu");
  return {
    ...noWgslHandlers,
    ...createModelHandlers(ort),
    probe: async () => [
      await checkClaim({
        claim: "ort-webgpu",
        claimed: "computes",
        find: async () => {
          await tryProvider(ort);
          return { found: "a product of matrices is right", ok: true };
        },
      }),
    ],
    describe: async ({ known }) => {
      if (known === undefined) throw new TypeError("nothing is known of the device");
      await tryProvider(ort);
      const { device } = known;
      return { ...known, device: { ...device, fingerprint: { ...device.fingerprint, ort: ORT_VERSION } } };
    },
  };
}
