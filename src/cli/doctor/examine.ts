import { checkClock, checkEdge, checkKey, checkProxy } from "./check-edge.ts";
import { checkCpu, checkDataFolder, checkDescriptors, checkMemory } from "./check-host.ts";
import { checkDrivers, checkGpu, checkGpuAccess } from "./check-gpu.ts";
import { checkNode, checkPackages } from "./check-install.ts";
import { checkLink } from "./check-link.ts";
import { checkListeners, checkPort } from "./check-port.ts";
import { checkProviders } from "./check-providers.ts";
import { checkCredential, checkTold } from "./check-runner.ts";
import { fail, type Finding, type Installation, type Patient, type Verdict } from "./finding.ts";

type Check = (patient: Patient) => Promise<Verdict>;

/** Checks in the order of the report. */
const CHECKS: Readonly<Record<string, Check>> = {
  node: checkNode,
  packages: checkPackages,
  memory: checkMemory,
  "data folder": ({ dataDir }) => checkDataFolder(dataDir),
  "runner's folder": ({ runnerDir }) => checkDataFolder(runnerDir),
  "open files": checkDescriptors,
  cpu: checkCpu,
  vulkan: checkDrivers,
  "gpu access": checkGpuAccess,
  port: checkPort,
  listeners: checkListeners,
  proxy: checkProxy,
  edge: checkEdge,
  clock: checkClock,
  link: checkLink,
  key: checkKey,
  runner: checkCredential,
  "runner's word": checkTold,
  // A driver may hang: the last, since findings are shown in this order as they come.
  gpu: checkGpu,
  providers: checkProviders,
};
/** Checks of what a runner by itself lacks: npm, and an edge on this machine. */
const OF_CHECKOUT: ReadonlySet<string> = new Set(["node", "data folder", "port", "key"]);

/** Names of the checks of an installation. */
export function listChecks({ kind }: Installation): string[] {
  return Object.keys(CHECKS).filter((name) => kind === "checkout" || !OF_CHECKOUT.has(name));
}

/** Findings of these checks, which are made at once. One that fails itself is a finding, too, and does not stop the others. */
export function examine(patient: Patient, names: readonly string[]): Promise<Finding>[] {
  return names.map(async (check) => {
    const verdict = await CHECKS[check]!(patient).catch((error: unknown) =>
      fail(`the check itself failed: ${String(error)}`, "Tell the project, with this line."),
    );
    return { check, ...verdict };
  });
}
