import type { DeviceHost } from "../device-host/device-host.ts";
import { startOrtWebgpu } from "../device-host/start-ort-webgpu.ts";
import type { Check } from "./check.ts";

/** ONNX Runtime on the GPU that the suite checks, or why it does not work there. */
export async function openOrtWebgpu(
  host: DeviceHost,
): Promise<{ readonly host: DeviceHost | null; readonly reason: string }> {
  let reason = host.device.software
    ? "ONNX Runtime serves no emulated GPU"
    : "ONNX Runtime takes the best adapter, which is not this one";
  const logger = {
    info: () => {},
    error: () => {},
    warn: (fields: object) => {
      if ("reason" in fields) reason = `ONNX Runtime has no WebGPU here: ${String(fields.reason)}`;
    },
  };
  // Its environment is the GPU's own, so that nothing is unpacked.
  return { host: await startOrtWebgpu("auto", [host], { cacheDir: ".", logger }), reason };
}

/**
 * A check whose answers differ by more than its figure `agreement` failed, where they are our own. Those of ONNX
 * Runtime's provider say nothing about the device: calibration finds them, and does not place the network there.
 */
export function judgeAgreement(check: Check, backend: "wgsl" | "ort-webgpu"): Check {
  const { relativeError = 0, agreement = 0 } = check.figures ?? {};
  if (relativeError <= agreement) return check;
  const reason = `The answer is off by ${relativeError} of the largest, and may be by ${agreement}.`;
  if (backend === "wgsl") return { ...check, outcome: "failed", reason };
  return { ...check, outcome: "skipped", reason: `${reason} Calibration does not place the network there.` };
}
