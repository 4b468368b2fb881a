import type { Logger } from "pino";
import { type Device, fingerprintText, type KernelAnnouncement } from "../../protocol/fleet/hardware.ts";
import type { KernelProgram } from "../../protocol/kernels/kernel-definition.ts";
import { ProblemError } from "../../protocol/wire/problem.ts";
import type { RunnerConfig } from "../config.ts";
import type { Troubles } from "../host/troubles.ts";
import { FailureFile } from "../device-host/failure-file.ts";
import { KernelGuard } from "../device-host/kernel-guard.ts";
import { DeviceHost } from "../device-host/device-host.ts";
import { InferenceServer } from "./queue/inference-server.ts";
import { chooseDevice, updateSpeed } from "./share-work.ts";
import { startGpus } from "../device-host/start-gpus.ts";
import { startProviders } from "../providers/start-providers.ts";

/** Device with its process and its queue. */
export interface FleetDevice {
  readonly host: DeviceHost;
  readonly server: InferenceServer;
}

/** Preferences for a kernel's device. */
interface Wishes {
  readonly deviceKey?: string | undefined;
  readonly variant?: string | undefined;
}

/** Devices of this runner, by key. */
export class DeviceFleet {
  /** Quarantine of kernels. */
  readonly guard: KernelGuard;
  readonly #devices: ReadonlyMap<string, FleetDevice>;
  /** Measured speeds in GB/s, by device and kernel. */
  readonly #speeds = new Map<string, number>();
  /** Number of jobs on each device. */
  readonly #inUse = new Map<FleetDevice, number>();
  readonly #changed: (() => void)[] = [];

  /** Takes over running processes: the CPU's and any number of others, each with its own key. */
  constructor(hosts: readonly DeviceHost[], failures: FailureFile) {
    this.#devices = new Map(hosts.map((host) => [host.device.key, { host, server: new InferenceServer(host) }]));
    this.guard = new KernelGuard(failures, () => this.#changed.forEach((callBack) => callBack()));
  }

  /**
   * Starts a process for every device: the CPU, each GPU (a software one where there is no other), and each of ONNX
   * Runtime's providers on a GPU. A machine without a usable GPU serves with its CPU alone.
   */
  static async start(config: RunnerConfig, logger: Logger, troubles?: Troubles): Promise<DeviceFleet> {
    const { gpu, wgslModels, dataDir, memory, processBytes } = config;
    const shared = { cacheDir: dataDir, memoryBytes: memory.gpuBytes, processBytes, logger, troubles };
    const cpu = DeviceHost.start({ role: "cpu", deviceKey: "cpu", ...shared });
    const [first, gpus] = await Promise.all([cpu, startGpus(gpu, { ...shared, models: wgslModels })]);
    const providers = await startProviders(config, gpus, shared);
    return new DeviceFleet([first, ...gpus, ...providers.hosts], new FailureFile(dataDir, logger));
  }

  /** Devices as the edge sees them. */
  get devices(): Device[] {
    return this.all().map(({ host }) => this.guard.describe(host));
  }

  /** Announced kernels: one that several devices have appears once, with all variants. */
  get kernels(): KernelAnnouncement[] {
    const announced = this.#gpusFirst().flatMap(({ host }) => host.kernels);
    return [...Map.groupBy(announced, ({ name }) => name).values()].map((same) => ({
      ...same[0]!,
      variants: [...new Set(same.flatMap(({ variants }) => variants))],
    }));
  }

  /** Number of parallel jobs: WGSL needs its device to itself. */
  get jobSlots(): number {
    return Math.max(1, this.all().filter(runsWgsl).length);
  }

  /** Device that runs ONNX models on the CPU: the reference that others must agree with. */
  get cpu(): FleetDevice {
    return this.find("cpu");
  }

  /** Calls back when `devices` has changed. */
  onChange(callBack: () => void): void {
    this.#changed.push(callBack);
  }

  find(deviceKey: string): FleetDevice {
    const device = this.#devices.get(deviceKey);
    if (device === undefined) throw new ProblemError("backend-failed", `This runner has no device ${deviceKey}.`);
    return device;
  }

  /**
   * Device for a kernel: the named one, otherwise the GPU that is likely to finish first, or the CPU where no GPU has
   * the variant. A device without the kernel's features, or where it is in quarantine, is used only where there is no
   * other.
   */
  withKernel(kernel: string, { deviceKey, variant }: Wishes = {}): FleetDevice {
    const having = this.#thatHave(kernel);
    const offering = having.filter(({ host }) => variant === undefined || offers(host, kernel, variant));
    return this.#choose(offering.length > 0 ? offering : having, kernel, deviceKey);
  }

  /** Runs a job on a device, which counts as busy from now on, even before the job reaches its process. */
  async use<Output>(device: FleetDevice, work: () => Promise<Output>): Promise<Output> {
    this.#inUse.set(device, (this.#inUse.get(device) ?? 0) + 1);
    try {
      return await work();
    } finally {
      this.#inUse.set(device, (this.#inUse.get(device) ?? 1) - 1);
    }
  }

  /** Device for a submitted kernel: any that has its reference or, if that is submitted too, any that runs WGSL. */
  forProgram({ id, definition, reference }: KernelProgram, deviceKey?: string): FleetDevice {
    const able =
      definition.reference.kind === "kernel" && reference === null
        ? this.#thatHave(definition.reference.kernel).filter(runsWgsl)
        : this.all().filter(runsWgsl);
    return this.#choose(able, id, deviceKey);
  }

  /** Devices of the same kind as the given one, which comes first, that may run a kernel. */
  alike(device: FleetDevice, kernel: string): FleetDevice[] {
    const kind = fingerprintText(device.host.device.fingerprint);
    const others = this.#thatHave(kernel).filter(
      (other) => other !== device && fingerprintText(other.host.device.fingerprint) === kind,
    );
    return [device, ...others];
  }

  /** Recent speed of a kernel on a device in GB/s; null where it never ran. */
  speedOf({ host }: FleetDevice, kernel: string): number | null {
    return this.#speeds.get(`${host.device.key} ${kernel}`) ?? null;
  }

  noteSpeed(device: FleetDevice, kernel: string, gigabytesPerSecond: number): void {
    const speed = updateSpeed(this.speedOf(device, kernel), gigabytesPerSecond);
    this.#speeds.set(`${device.host.device.key} ${kernel}`, speed);
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

  #choose(able: readonly FleetDevice[], kernel: string, deviceKey: string | undefined): FleetDevice {
    if (able.length === 0) throw new ProblemError("unknown-kernel", `This runner has no kernel ${kernel}.`);
    const gpus = able.filter(runsWgsl);
    const unnamed = gpus.length > 0 ? gpus : able;
    const allowed = deviceKey === undefined ? unnamed : able.filter(({ host }) => host.device.key === deviceKey);
    const suited = allowed.filter(({ host }) => canRun(host, kernel));
    const free = suited.filter(({ host }) => this.guard.lockedOutForMs(host, kernel) === null);
    const preferred = [free, suited, allowed].find((devices) => devices.length > 0) ?? [];
    const candidates = preferred.map((device) => ({
      device,
      waiting: Math.max(device.host.waiting, this.#inUse.get(device) ?? 0),
      speed: this.speedOf(device, kernel),
    }));
    const chosen = chooseDevice(candidates)?.device;
    if (chosen !== undefined) return chosen;
    throw new ProblemError("backend-failed", `No device ${deviceKey} of this runner runs ${kernel}.`);
  }

  #thatHave(kernel: string): FleetDevice[] {
    return this.all().filter(({ host }) => host.kernels.some(({ name }) => name === kernel));
  }
}

function runsWgsl({ host }: FleetDevice): boolean {
  return host.device.backends.includes("wgsl");
}

/** Whether a device has every feature that a kernel needs. */
function canRun({ kernels, device }: DeviceHost, kernel: string): boolean {
  const needed = kernels.find(({ name }) => name === kernel)?.features ?? [];
  return needed.every((feature) => device.features.includes(feature));
}

function offers({ kernels }: DeviceHost, kernel: string, variant: string): boolean {
  return kernels.some(({ name, variants }) => name === kernel && variants.includes(variant));
}
