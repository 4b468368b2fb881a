/** A device process whose software GPUs pose as real cards of one name. */
import { openGpu } from "../../../src/gpu-runner/devices/gpu/device.ts";
import { createGpuHandlers } from "../../../src/gpu-runner/device-program/gpu-handlers.ts";
import { serveCalls } from "../../../src/gpu-runner/device-program/serve-calls.ts";

serveCalls(async ({ die, noteUsed }) => {
  const gpu = await openGpu((reason) => die(`the device was lost: ${reason}`));
  const handlers = createGpuHandlers(gpu, { kernels: new Map(), onUsed: noteUsed });
  return {
    ...handlers,
    describe: async (input, context) => {
      const described = await handlers.describe(input, context);
      const device = { ...described.device, name: "nvidia-poser", software: false };
      return { ...described, device, adapters: described.adapters.map(() => "NVIDIA Poser") };
    },
  };
});
