import { checkClock } from "./check-clock.ts";
import { checkCpu } from "./check-cpu.ts";
import { checkCredential } from "./check-credential.ts";
import { checkDataFolder } from "./check-data-folder.ts";
import { checkDescriptors } from "./check-descriptors.ts";
import { checkEdge } from "./check-edge.ts";
import { checkGpu } from "./check-gpu.ts";
import { checkGpuAccess } from "./check-gpu-access.ts";
import { checkKey } from "./check-key.ts";
import { checkMemory } from "./check-memory.ts";
import { checkNode } from "./check-node.ts";
import { checkPackages } from "./check-packages.ts";
import { checkPort } from "./check-port.ts";
import { checkVulkan } from "./check-vulkan.ts";
import { fail, type Finding, type Verdict } from "./finding.ts";
import type { Patient } from "./patient.ts";

/** In the order in which they are told. */
const CHECKS: Readonly<Record<string, (patient: Patient) => Promise<Verdict>>> = {
  node: checkNode,
  packages: checkPackages,
  memory: checkMemory,
  "data folder": ({ dataDir }) => checkDataFolder(dataDir),
  "runner's folder": ({ runnerDir }) => checkDataFolder(runnerDir),
  "open files": checkDescriptors,
  cpu: checkCpu,
  vulkan: checkVulkan,
  "gpu access": checkGpuAccess,
  gpu: checkGpu,
  port: checkPort,
  edge: checkEdge,
  clock: checkClock,
  key: checkKey,
  runner: checkCredential,
};

/** What all checks say. One that fails by itself is a finding, too, and takes none with it. */
export function examine(patient: Patient): Promise<Finding[]> {
  return Promise.all(
    Object.entries(CHECKS).map(async ([check, run]) => {
      const verdict = await run(patient).catch((error: unknown) =>
        fail(`the check itself failed: ${String(error)}`, "Tell the project, with this line."),
      );
      return { check, ...verdict };
    }),
  );
}
