import type { Logger } from "pino";
import type { Device, KernelAnnouncement } from "../protocol/hardware.ts";
import type { KernelProgram } from "../protocol/kernel-definition.ts";
import { ProblemError } from "../protocol/problem.ts";
import type { RunnerConfig } from "./config.ts";
import { DeviceHost } from "./process/device-host.ts";
import { InferenceServer } from "./serving/inference-server.ts";

/** A device with the process that owns it and the queue in front of it. */
export interface FleetDevice {
  readonly host: DeviceHost;
  readonly server: InferenceServer;
}

/** The devices of this runner, by key. */
export class DeviceFleet {
  readonly #devices: ReadonlyMap<string, FleetDevice>;

  private constructor(hosts: readonly DeviceHost[]) {
    this.#devices = new Map(hosts.map((host) => [host.device.key, { host, server: new InferenceServer(host) }]));
  }

  /**
   * Starts a process for every device: the CPU, and the GPU (a software one where there is no other).
   * A machine where no GPU can be had serves with its CPU alone.
   */
  static async start({ gpu, dataDir, memory }: RunnerConfig, logger: Logger): Promise<DeviceFleet> {
    const shared = { cacheDir: dataDir, memoryBytes: memory.gpuBytes, logger };
    const cpu = DeviceHost.start({ role: "cpu", deviceKey: "cpu", ...shared });
    const gpu0 =
      gpu === "none"
        ? null
        : DeviceHost.start({ role: "gpu", deviceKey: "gpu0", driver: gpu, ...shared }).catch((error: unknown) => {
            logger.warn({ error }, "no GPU could be opened: serving with the CPU alone");
            return null;
          });
    const hosts = await Promise.all([cpu, gpu0]);
    return new DeviceFleet(hosts.filter((host) => host !== null));
  }

  get devices(): Device[] {
    return [...this.#devices.values()].map(({ host }) => host.device);
  }

  get kernels(): KernelAnnouncement[] {
    return [...this.#devices.values()].flatMap(({ host }) => host.kernels);
  }

  /** The device that runs ONNX models on the CPU: the reference that others must agree with. */
  get cpu(): FleetDevice {
    return this.find("cpu");
  }

  find(deviceKey: string): FleetDevice {
    const device = this.#devices.get(deviceKey);
    if (device === undefined) throw new ProblemError("backend-failed", `This runner has no device ${deviceKey}.`);
    return device;
  }

  /** The device that has a kernel, by preference one with all features that the kernel needs. */
  withKernel(kernel: string): FleetDevice {
    const having = this.all().filter(({ host }) => host.kernels.some(({ name }) => name === kernel));
    const device = having.find(({ host }) => canRun(host, kernel)) ?? having[0];
    if (device === undefined) throw new ProblemError("unknown-kernel", `This runner has no kernel ${kernel}.`);
    return device;
  }

  /** The device for a submitted kernel: the one that has its reference or, if that is submitted too, any that runs WGSL. */
  forProgram({ definition, reference }: KernelProgram): FleetDevice {
    if (definition.reference.kind === "kernel" && reference === null) {
      return this.withKernel(definition.reference.kernel);
    }
    const device = this.all().find(({ host }) => host.device.backends.includes("wgsl"));
    if (device === undefined) throw new ProblemError("unknown-kernel", "This runner has no GPU.");
    return device;
  }

  all(): FleetDevice[] {
    return [...this.#devices.values()];
  }

  async stop(): Promise<void> {
    await Promise.all(this.all().map(({ host }) => host.stop()));
  }
}

function canRun({ kernels, device }: DeviceHost, kernel: string): boolean {
  const needed = kernels.find(({ name }) => name === kernel)?.features ?? [];
  return needed.every((feature) => device.features.includes(feature));
}
