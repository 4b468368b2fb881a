import { OrtGpuBackend } from "../../protocol/fleet/hardware.ts";
import { readConfig } from "../config.ts";
import type { DeviceHost } from "../device-host/device-host.ts";
import { GPU_PROVIDERS, isForHere } from "../providers/gpu-providers.ts";
import { findInstalled } from "../providers/installed-provider.ts";
import { startProviders } from "../providers/start-providers.ts";
import type { Check } from "./check.ts";

/** What the suite measures networks on. */
export type SuiteBackend = "wgsl" | OrtGpuBackend;

/** One of ONNX Runtime's providers on the GPU that the suite checks, or why it does not work there. */
export interface OpenedProvider {
  readonly host: DeviceHost | null;
  readonly reason: string;
}

/** Folder in which a runner of this user keeps what was installed. */
const runnerDir = () => readConfig({ MILLRACE_RUNNER_DIR: process.env["MILLRACE_RUNNER_DIR"] }).dataDir;

/** ONNX Runtime's providers whose libraries are here. */
export async function listProviders(): Promise<OrtGpuBackend[]> {
  const installed = await Promise.all(
    OrtGpuBackend.options.map(
      async (backend) => typeof (await findInstalled(runnerDir(), backend).catch(() => "")) !== "string",
    ),
  );
  return OrtGpuBackend.options.filter((backend, index) => {
    const provider = GPU_PROVIDERS[backend];
    return isForHere(provider) && (!provider.isInstalled || installed[index]);
  });
}

/** Starts these providers on the GPU of a host. */
export async function openProviders(
  host: DeviceHost,
  wanted: readonly OrtGpuBackend[],
): Promise<ReadonlyMap<OrtGpuBackend, OpenedProvider>> {
  const uses = OrtGpuBackend.options.map((backend) => [backend, wanted.includes(backend) ? "auto" : "off"]);
  const config = { ...readConfig({}), providers: Object.fromEntries(uses) };
  const logger = { info: () => {}, error: () => {}, warn: () => {} };
  const { hosts, absent } = await startProviders(config, [host], { cacheDir: runnerDir(), logger });
  const isChecked = ({ device }: DeviceHost) => device.name === host.device.name;
  await Promise.all(hosts.filter((each) => !isChecked(each)).map((other) => other.stop()));
  return new Map(
    wanted.map((backend): [OrtGpuBackend, OpenedProvider] => {
      const opened = hosts.find((each) => isChecked(each) && each.device.backends.includes(backend)) ?? null;
      const reason = absent.find((each) => each.backend === backend)?.reason ?? "it has no device on this GPU";
      return [backend, { host: opened, reason }];
    }),
  );
}

/**
 * A check whose answers differ by more than its figure `agreement` failed, where they are our own. Those of ONNX
 * Runtime's providers say nothing about the device: calibration finds them, and does not place the network there.
 */
export function judgeAgreement(check: Check, backend: SuiteBackend): Check {
  const { relativeError = 0, agreement = 0 } = check.figures ?? {};
  if (relativeError <= agreement) return check;
  const reason = `The answer is off by ${relativeError} of the largest, and may be by ${agreement}.`;
  if (backend === "wgsl") return { ...check, outcome: "failed", reason };
  return { ...check, outcome: "skipped", reason: `${reason} Calibration does not place the network there.` };
}
