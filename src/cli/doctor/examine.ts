import { checkClock, checkCredential, checkEdge, checkKey } from "./check-edge.ts";
import { checkCpu, checkDataFolder, checkDescriptors, checkMemory } from "./check-host.ts";
import { checkGpu, checkGpuAccess } from "./check-gpu.ts";
import { checkNode, checkPackages } from "./check-install.ts";
import { checkPort } from "./check-port.ts";
import { checkProviders } from "./check-providers.ts";
import { checkVulkan } from "./check-vulkan.ts";
import { fail, type Finding, type Patient, type Verdict } from "./finding.ts";

/** Checks in the order of the report. */
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
  providers: checkProviders,
  port: checkPort,
  edge: checkEdge,
  clock: checkClock,
  key: checkKey,
  runner: checkCredential,
};

/** Findings of all checks. A check that fails itself is a finding, too, and does not stop the others. */
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
