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

  /** A kernel that several devices have is announced once, with all variants. */
  get kernels(): KernelAnnouncement[] {
    const announced = this.#gpusFirst().flatMap(({ host }) => host.kernels);
    return [...Map.groupBy(announced, ({ name }) => name).values()].map((same) => ({
      ...same[0]!,
      variants: [...new Set(same.flatMap(({ variants }) => variants))],
    }));
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

  /** The device that has a kernel, in that variant where one is asked for, by preference a GPU that has all features that the kernel needs. */
  withKernel(kernel: string, variant?: string): FleetDevice {
    const having = this.#gpusFirst().filter(({ host }) => host.kernels.some(({ name }) => name === kernel));
    const offering = having.filter(({ host }) => variant === undefined || offers(host, kernel, variant));
    const device = offering.find(({ host }) => canRun(host, kernel)) ?? offering[0] ?? having[0];
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

  #gpusFirst(): FleetDevice[] {
    return this.all().toSorted((a, b) => Number(a.host.device.kind === "cpu") - Number(b.host.device.kind === "cpu"));
  }
}

function canRun({ kernels, device }: DeviceHost, kernel: string): boolean {
  const needed = kernels.find(({ name }) => name === kernel)?.features ?? [];
  return needed.every((feature) => device.features.includes(feature));
}

function offers({ kernels }: DeviceHost, kernel: string, variant: string): boolean {
  return kernels.some(({ name, variants }) => name === kernel && variants.includes(variant));
}
