/**
 * Entry of a device process: `node device-process.ts --role gpu|cpu|<provider of ONNX Runtime>`; a GPU also takes
 * `--adapter <part of its name>` and `--memory-bytes <limit of its buffers>`, a provider `--device-id <number>` and
 * `--libraries <those that it needs>`.
 */
import { parseArgs } from "node:util";
import { OrtGpuBackend } from "../../protocol/fleet/hardware.ts";
import { collectRarely, giveWay } from "../host/own-process.ts";
import { serveCalls } from "./serve-calls.ts";

const { values } = parseArgs({
  options: {
    role: { type: "string", default: "cpu" },
    adapter: { type: "string" },
    "memory-bytes": { type: "string" },
    "device-id": { type: "string", default: "0" },
    libraries: { type: "string", default: "" },
  },
});

giveWay();
// Only for processes that serve models by ONNX Runtime; a GPU's process must not delay the release of its device's
// objects until a collection.
if (values.role !== "gpu") collectRarely();

serveCalls(async ({ die, noteUsed }) => {
  if (values.role === "gpu") {
    const [{ openGpu }, { createGpuHandlers }] = await Promise.all([
      import("../devices/gpu/device.ts"),
      import("./gpu-handlers.ts"),
    ]);
    const gpu = await openGpu((reason) => die(`the device was lost: ${reason}`), values.adapter);
    const memoryBytes = values["memory-bytes"];
    return createGpuHandlers(gpu, {
      onUsed: noteUsed,
      ...(memoryBytes !== undefined && { memoryBytes: Number(memoryBytes) }),
    });
  }
  const backend = OrtGpuBackend.safeParse(values.role);
  if (backend.success) {
    const { createProviderHandlers } = await import("./provider-handlers.ts");
    const libraries = values.libraries.split(",").filter(Boolean);
    return createProviderHandlers(backend.data, { deviceId: Number(values["device-id"]), libraries });
  }
  const { createCpuHandlers } = await import("./cpu-handlers.ts");
  return createCpuHandlers();
});
