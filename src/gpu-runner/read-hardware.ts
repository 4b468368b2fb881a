import { arch, availableParallelism, hostname, totalmem } from "node:os";
import { cpu, cpuFlags, osInfo, system } from "systeminformation";
import type { Hardware } from "../protocol/hardware.ts";

/** CPU flags that matter to kernels; the rest would only make the hello longer. */
const TELLING_FLAGS = /^(avx|avx2|avx512\w*|avx_vnni|amx_\w+|fma|f16c|sse4_1|sse4_2|neon|asimd\w*|sve\w*)$/;

/** The machine around the devices, as the operating system tells it. */
export async function readHardware(): Promise<Hardware> {
  const [processor, flags, os, machine] = await Promise.all([cpu(), cpuFlags(), osInfo(), system()]);
  return {
    hostname: hostname(),
    os: `${os.distro} ${os.release}`.trim(),
    arch: arch(),
    cpu: {
      model: `${processor.manufacturer} ${processor.brand}`.trim(),
      physicalCores: processor.physicalCores,
      logicalCores: availableParallelism(),
      speedGhz: processor.speed > 0 ? processor.speed : null,
      features: flags
        .split(/\s+/)
        .filter((flag) => TELLING_FLAGS.test(flag))
        .toSorted(),
    },
    memoryBytes: totalmem(),
    virtual: machine.virtual,
    node: process.version,
  };
}
