import { execFile } from "node:child_process";
import { access, readdir, readFile } from "node:fs/promises";
import { delimiter, dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";
import { parseJson } from "../protocol/wire/parse-json.ts";
import type { Fault } from "./fault.ts";

/** A driver's manifest, as the loader reads it (Vulkan-Loader, LoaderDriverInterface: "Driver Manifest File Format"). */
const Manifest = z.object({ ICD: z.object({ library_path: z.string().min(1) }) });
/** The first one that is set wins, and nothing else is looked at. */
const OVERRIDES = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"] as const;
const LOADER = "libvulkan.so.1";
const WITHIN_MS = 10_000;

interface Driver {
  readonly path: string;
  /** Null: sound. */
  readonly fault: string | null;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The sound drivers on the way from the loader over their manifests to their libraries, or what is wrong there. Linux
 * only: elsewhere, where there is no such way, null.
 */
export async function checkVulkan(environment: Environment): Promise<string | Fault | null> {
  if (process.platform !== "linux") return null;
  const [override, manifests] = await listManifests(environment);
  const libraries = await listLibraries(environment);
  const drivers = await Promise.all(manifests.map((path) => readDriver(path, libraries)));
  return judgeDrivers({ override, drivers, hasLoader: libraries?.has(LOADER) ?? true, board: await findBoard() });
}

interface Sight {
  readonly override: string | null;
  readonly drivers: readonly Driver[];
  readonly hasLoader: boolean;
  /** A card that its kernel driver has found, if any. */
  readonly board: string | null;
}

export function judgeDrivers({ override, drivers, hasLoader, board }: Sight): string | Fault {
  const broken = drivers.filter(({ fault }) => fault !== null);
  const sound = drivers.filter(({ fault }) => fault === null).map(({ path }) => path);
  const faults = broken.map(({ path, fault }) => `${path} ${fault}`).join("; ");
  if (override !== null && sound.length === 0) {
    return {
      cause: "vulkan-setting",
      found: `${override} names no usable driver: ${faults || "it is empty"}`,
      advice: `Unset ${override}, or name the manifest of an installed driver.`,
    };
  }
  if (drivers.length === 0) {
    const found = `No Vulkan driver is installed${board === null ? "" : `, though there is ${board}`}`;
    if (board === null) {
      const advice =
        "Without a GPU nothing is to be done: the runner takes the CPU, and a software GPU where it came with one.";
      return { cause: "vulkan-none", found, advice, isMild: true };
    }
    return {
      cause: "vulkan-missing",
      found,
      advice: "Install the driver's Vulkan part; in a container, pass the driver in with its graphics capability.",
    };
  }
  if (sound.length === 0) {
    return {
      cause: "vulkan-driver",
      found: `There is no usable Vulkan driver: ${faults}`,
      advice: "Install the GPU's driver anew.",
    };
  }
  if (!hasLoader) {
    return {
      cause: "vulkan-loader",
      found: `The Vulkan loader, ${LOADER}, is not installed`,
      advice: "Install it (Debian and Ubuntu: libvulkan1).",
    };
  }
  if (broken.length > 0) {
    const found = `${sound.join(", ")}; broken: ${faults}`;
    return { cause: "vulkan-partly", found, advice: "Remove or reinstall what is broken.", isMild: true };
  }
  return sound.join(", ");
}

async function listManifests(environment: Environment): Promise<[override: string | null, paths: string[]]> {
  const override = OVERRIDES.find((name) => environment[name] !== undefined);
  if (override !== undefined) return [override, (environment[override] ?? "").split(delimiter).filter(Boolean)];
  const home = environment["HOME"] ?? "/";
  const roots = [
    environment["XDG_CONFIG_HOME"] ?? join(home, ".config"),
    "/etc",
    environment["XDG_DATA_HOME"] ?? join(home, ".local/share"),
    ...(environment["XDG_DATA_DIRS"] ?? "/usr/local/share:/usr/share").split(delimiter),
  ];
  const folders = [...new Set(roots.filter(Boolean).map((root) => join(root, "vulkan/icd.d")))];
  const listed = await Promise.all(folders.map(async (folder) => list(folder)));
  return [null, listed.flat().filter((path) => path.endsWith(".json"))];
}

async function list(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.map((name) => join(folder, name));
}

async function readDriver(path: string, libraries: ReadonlySet<string> | null): Promise<Driver> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => error);
  if (typeof text !== "string") return { path, fault: text.code === "ENOENT" ? "is not there" : `cannot be read` };
  const manifest = Manifest.safeParse(parseJson(text));
  if (!manifest.success) return { path, fault: "is no manifest of a driver" };
  const library = manifest.data.ICD.library_path;
  // A bare name is left to the dynamic linker; other paths are relative to the manifest.
  const isThere = library.includes("/")
    ? await exists(resolve(dirname(path), library))
    : (libraries?.has(library) ?? true);
  return { path, fault: isThere ? null : `names ${library}, which is not there` };
}

/** Names of the libraries that the dynamic linker would find; null where it does not tell. */
async function listLibraries(environment: Environment): Promise<ReadonlySet<string> | null> {
  const path = `${environment["PATH"] ?? ""}:/sbin:/usr/sbin`;
  const options = { env: { ...environment, PATH: path }, timeout: WITHIN_MS };
  const cached = await promisify(execFile)("ldconfig", ["-p"], options).catch(() => null);
  const names = [...(cached?.stdout ?? "").matchAll(/^\s+(\S+) \(/gm)].map(([, name]) => name ?? "");
  if (names.length === 0) return null;
  const folders = (environment["LD_LIBRARY_PATH"] ?? "").split(delimiter).filter(Boolean);
  const own = await Promise.all(folders.map((folder) => readdir(folder).catch(() => [])));
  return new Set([...names, ...own.flat()]);
}

async function findBoard(): Promise<string | null> {
  if (await exists("/proc/driver/nvidia/version")) return "an NVIDIA GPU (/proc/driver/nvidia)";
  const node = (await list("/dev/dri")).find((path) => /renderD\d+$/.test(path));
  return node ?? null;
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
