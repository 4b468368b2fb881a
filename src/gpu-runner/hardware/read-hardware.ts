import { arch, availableParallelism, hostname, totalmem } from "node:os";
import { cpu, cpuFlags, osInfo, system } from "systeminformation";
import type { Hardware } from "../../protocol/hardware.ts";
import { nameInstructionSets } from "./name-instruction-sets.ts";
import { readCaches } from "./read-caches.ts";
import { readClocks } from "./read-clocks.ts";
import { readContainerLimits } from "./read-container-limits.ts";

/** CPU flags that matter to kernels; the rest would only make the hello longer. */
const TELLING_FLAGS =
  /^(avx|avx1\.0|avx2|avx512\w*|avx_\w+|amx_\w+|fma|f16c|sse4[._]1|sse4[._]2|neon|asimd\w*|sve\w*|bf16|i8mm)$/;

/** Where `/sys` and `/proc` are. */
const ROOT = "/";

/** The machine around the devices, as the operating system tells it. */
export async function readHardware(): Promise<Hardware> {
  const [processor, flags, os, machine, caches, clocks, container] = await Promise.all([
    cpu(),
    cpuFlags(),
    osInfo(),
    system(),
    readCaches(ROOT),
    readClocks(ROOT),
    readContainerLimits(ROOT),
  ]);
  const features = flags
    .split(/\s+/)
    .filter((flag) => TELLING_FLAGS.test(flag))
    .toSorted();
  return {
    hostname: hostname(),
    os: `${os.distro} ${os.release}`.trim(),
    arch: arch(),
    cpu: {
      model: `${processor.manufacturer} ${processor.brand}`.trim(),
      physicalCores: processor.physicalCores,
      logicalCores: availableParallelism(),
      speedGhz: processor.speed > 0 ? processor.speed : null,
      features,
      instructionSets: nameInstructionSets(features, arch()),
      caches,
      ...clocks,
    },
    memoryBytes: totalmem(),
    container,
    virtual: machine.virtual,
    node: process.version,
  };
}
