import type { ProbedClaim, ProbeSpec } from "../../../protocol/jobs/probe.ts";
import { ProblemError } from "../../../protocol/wire/problem.ts";
import type { DeviceFleet, FleetDevice } from "../../serving/device-fleet.ts";
import type { Workload, WorkloadContext } from "../kind.ts";
import { describeEnvironment } from "../steps/describe-run.ts";

/** Checks this runner's claims of a device: the named one, else its first GPU, else the CPU. */
export const runProbe: Workload<ProbeSpec> = async (spec, context) => {
  const { fleet, otherJobs } = context;
  const device = chooseProbed(fleet, spec.deviceKey);
  const environment = describeEnvironment(device.host.device, otherJobs);
  const claims = await fleet.use(device, () => probe(device, spec, context));
  const ok = claims.every((claim) => claim.ok);
  return { result: { kind: "probe", ok, claims, environment }, deviceKey: device.host.device.key };
};

function chooseProbed(fleet: DeviceFleet, deviceKey: string | undefined): FleetDevice {
  if (deviceKey !== undefined) return fleet.find(deviceKey);
  return fleet.all().find(({ host }) => host.device.backends.includes("wgsl")) ?? fleet.cpu;
}

/** A claim that kills the device's process does not hold, and is the last one checked. */
async function probe(
  { host }: FleetDevice,
  { timeoutMs }: ProbeSpec,
  { hardware, signal, onProgress }: WorkloadContext,
): Promise<ProbedClaim[]> {
  let underWay = "start";
  const options = {
    signal,
    onProgress: (progress: Parameters<typeof onProgress>[0]) => {
      underWay = progress.phase;
      onProgress(progress);
    },
  };
  return host.probe(hardware, timeoutMs, options).catch((error: unknown) => {
    if (!(error instanceof ProblemError) || error.problem.code !== "device-lost") throw error;
    return [{ claim: underWay, claimed: "the device lives on", found: error.problem.detail.slice(0, 256), ok: false }];
  });
}
