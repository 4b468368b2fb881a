/**
 * `node main.ts list|install|remove [provider] [--data-dir <folder>] [--cuda 12|13] [--from <path>] [--sha256 <hex>]
 * [--json]`: shows ONNX Runtime's providers on GPUs as a runner with this folder would find them, installs the libraries
 * of one, or removes them. A program of its own, since drivers crash.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { listSupportedBackends } from "onnxruntime-node";
import { pino } from "pino";
import { prettifyError, ZodError } from "zod";
import { OrtGpuBackend } from "../../protocol/fleet/hardware.ts";
import { PROBLEMS, ProblemError } from "../../protocol/wire/problem.ts";
import { readConfig, type RunnerConfig, variableOf } from "../config.ts";
import { DeviceHost } from "../device-host/device-host.ts";
import { providerOf } from "../devices/ort/ort-backend.ts";
import { NvidiaSmi } from "../host/sensors/nvidia-smi.ts";
import { GPU_PROVIDERS, isForHere } from "./gpu-providers.ts";
import { installCuda, removeUnfinished } from "./install-provider.ts";
import { findInstalled, folderOf } from "./installed-provider.ts";
import { startProviders } from "./start-providers.ts";

/** A provider as this machine has it. */
interface ListedProvider {
  readonly provider: string;
  readonly backend: OrtGpuBackend;
  /** How its libraries come; null: not for this platform. */
  readonly comes: "bundled" | "installed" | "installable" | null;
  readonly state: "working" | "failing" | "unused";
  /** Its devices, or why there are none. */
  readonly found: string;
  /** What to do about it. */
  readonly advice: readonly string[];
}

function readCommand() {
  return parseArgs({
    allowPositionals: true,
    options: {
      "data-dir": { type: "string" },
      cuda: { type: "string", default: "13" },
      from: { type: "string" },
      sha256: { type: "string" },
      json: { type: "boolean", default: false },
    },
  });
}

/** Starts every provider once, beside the GPU that a runner would open first. */
async function listProviders(config: RunnerConfig): Promise<ListedProvider[]> {
  const scratch = await mkdtemp(join(tmpdir(), "millrace-providers-"));
  const logger = pino({ level: "silent" });
  const gpu = await openGpu(config.gpu, scratch);
  const shared = { cacheDir: config.dataDir, linkDir: join(scratch, "links"), logger };
  const { hosts, absent } = await startProviders(config, gpu === null ? [] : [gpu], shared);
  try {
    const hasCard = (await new NvidiaSmi().read(performance.now())).length > 0;
    const bundled = new Set(listSupportedBackends().flatMap((each) => (each.bundled ? [each.name] : [])));
    return await Promise.all(
      OrtGpuBackend.options.map(async (backend): Promise<ListedProvider> => {
        const provider = providerOf(backend);
        const devices = hosts.flatMap(({ device }) => (device.backends.includes(backend) ? [device] : []));
        const missing = absent.filter((each) => each.backend === backend);
        const told = devices.map(({ key, name }) => `${key} ${name}`);
        const isFailing = missing.some(({ problem }) => problem !== null);
        const isInstalled = typeof (await findInstalled(config.dataDir, backend).catch(() => null)) !== "string";
        const comesByHand = isInstalled ? "installed" : "installable";
        const comes = bundled.has(provider) ? "bundled" : GPU_PROVIDERS[backend].isInstalled ? comesByHand : null;
        return {
          provider,
          backend,
          comes: isForHere(GPU_PROVIDERS[backend]) ? comes : null,
          state: isFailing ? "failing" : devices.length > 0 ? "working" : "unused",
          found: [...told, ...new Set(missing.map(({ reason }) => reason))].join("; "),
          advice: [
            ...new Set(missing.flatMap(({ problem }) => (problem?.errors ?? []).map(({ message }) => message))),
            ...(hasCard && comes === "installable" ? ["Models then run on NVIDIA's card by CUDA."] : []),
            ...(missing.some(({ isMissed, problem }) => isMissed && problem === null)
              ? [`Mend it, or set ${variableOf(backend)} to off.`]
              : []),
          ],
        };
      }),
    );
  } finally {
    await Promise.all([...hosts, ...(gpu === null ? [] : [gpu])].map((host) => host.stop()));
    await rm(scratch, { recursive: true, force: true });
  }
}

function openGpu(wanted: RunnerConfig["gpu"], cacheDir: string): Promise<DeviceHost | null> {
  const [adapter] = wanted === "auto" ? [undefined] : wanted;
  if (wanted !== "auto" && adapter === undefined) return Promise.resolve(null);
  const own = adapter === undefined ? { driver: "own" as const } : { driver: "own" as const, adapter };
  const by = adapter === "software" ? { driver: "software" as const } : own;
  const logger = pino({ level: "silent" });
  return DeviceHost.start({ role: "gpu", deviceKey: "gpu0", ...by, cacheDir, logger }).catch(() => null);
}

function render(listed: readonly ListedProvider[]): string {
  const lines = listed.flatMap(({ provider, comes, state, found, advice }) => [
    `${provider.padEnd(8)} ${(comes ?? "–").padEnd(12)} ${state.padEnd(8)} ${found}`,
    ...advice.map((each) => `${" ".repeat(31)}→ ${each}`),
  ]);
  return `${lines.join("\n")}\n`;
}

/** Only CUDA's libraries are not in the package. */
function readInstallable(name: string | undefined): OrtGpuBackend {
  const backend = OrtGpuBackend.options.find((each) => providerOf(each) === name);
  const installable = OrtGpuBackend.options.filter((each) => GPU_PROVIDERS[each].isInstalled).map(providerOf);
  if (backend === undefined || !GPU_PROVIDERS[backend].isInstalled) {
    throw new ProblemError(
      "invalid-request",
      `${name ?? "Nothing"} can be installed; there is: ${installable.join(", ")}.`,
    );
  }
  if (!isForHere(GPU_PROVIDERS[backend])) {
    const where = GPU_PROVIDERS[backend].platforms?.join(", ");
    throw new ProblemError("invalid-request", `${name} is for ${where}; this is ${process.platform} ${process.arch}.`);
  }
  return backend;
}

async function main(): Promise<void> {
  const { values, positionals } = readCommand();
  const folderGiven = values["data-dir"] === undefined ? {} : { MILLRACE_RUNNER_DIR: values["data-dir"] };
  const config = readConfig({ ...process.env, ...folderGiven });
  const [command = "list", name] = positionals;
  const print = (text: string, value: unknown) =>
    process.stdout.write(values.json ? `${JSON.stringify(value)}\n` : text);
  if (command === "list") {
    const listed = await listProviders(config);
    print(render(listed), listed);
    return;
  }
  const backend = readInstallable(name);
  const folder = folderOf(config.dataDir, backend);
  if (command === "remove") {
    await rm(folder, { recursive: true, force: true });
    await removeUnfinished(config.dataDir);
    print(`Removed ${folder}.\n`, { removed: folder });
    return;
  }
  if (values.cuda !== "12" && values.cuda !== "13")
    throw new ProblemError("invalid-request", "--cuda must be 12 or 13.");
  const { from } = values;
  const sha256 = values.sha256?.toLowerCase().split(",");
  const onProgress = (text: string) => void (values.json || process.stderr.write(`${text}\n`));
  const cuda = values.cuda === "12" ? 12 : 13;
  const installed = await installCuda({ dataDir: config.dataDir, cuda, from, sha256, fetch, onProgress });
  const told = `Installed ONNX Runtime ${installed.ort}'s provider for CUDA ${cuda} in ${folder}.`;
  print(`${told} Runners with this folder use it when they start again.\n`, { folder, ...installed });
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    const why = error instanceof ZodError ? prettifyError(error) : error instanceof Error ? error.message : error;
    process.stderr.write(`millrace runner providers: ${String(why)}\n`);
    process.exit(error instanceof ProblemError ? PROBLEMS[error.problem.code].exitCode : 1);
  },
);
