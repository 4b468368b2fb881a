import { access, readdir, readFile } from "node:fs/promises";
import { delimiter, dirname, join, resolve } from "node:path";
import { z } from "zod";
import { parseJson } from "../../protocol/wire/parse-json.ts";
import { runApart } from "../shell/run-apart.ts";
import { fail, ok, type Patient, skip, type Verdict, warn } from "./finding.ts";

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

/** The way from the loader over the drivers' manifests to their libraries. Linux only; elsewhere there is no such way. */
export async function checkVulkan({ environment }: Patient): Promise<Verdict> {
  if (process.platform !== "linux") return skip("known on Linux alone");
  const [override, manifests] = await listManifests(environment);
  const libraries = await listLibraries(environment);
  const drivers = await Promise.all(manifests.map((path) => readDriver(path, libraries)));
  return judgeDrivers({ override, drivers, hasLoader: libraries.has(LOADER), board: await findBoard() });
}

interface Sight {
  readonly override: string | null;
  readonly drivers: readonly Driver[];
  readonly hasLoader: boolean;
  /** A card that its kernel driver has found, if any. */
  readonly board: string | null;
}

export function judgeDrivers({ override, drivers, hasLoader, board }: Sight): Verdict {
  const broken = drivers.filter(({ fault }) => fault !== null);
  const sound = drivers.filter(({ fault }) => fault === null).map(({ path }) => path);
  const faults = broken.map(({ path, fault }) => `${path} ${fault}`).join("; ");
  if (override !== null && sound.length === 0) {
    return fail(
      `${override} names no usable driver: ${faults || "it is empty"}`,
      `Unset ${override}, or name the manifest of an installed driver.`,
    );
  }
  if (drivers.length === 0) {
    const found = `no Vulkan driver is installed${board === null ? "" : `, though there is ${board}`}`;
    if (board === null) return warn(found, "Without a GPU nothing is to be done: the runner emulates one.");
    return fail(
      found,
      "Install the driver's Vulkan part; in a container, pass the driver in with its graphics capability.",
    );
  }
  if (sound.length === 0) return fail(`no usable Vulkan driver: ${faults}`, "Install the GPU's driver anew.");
  if (!hasLoader)
    return fail(`${LOADER} is not installed`, "Install the Vulkan loader (Debian and Ubuntu: libvulkan1).");
  if (broken.length > 0) return warn(`${sound.join(", ")}; broken: ${faults}`, "Remove or reinstall what is broken.");
  return ok(sound.join(", "));
}

async function listManifests(environment: NodeJS.ProcessEnv): Promise<[override: string | null, paths: string[]]> {
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

async function readDriver(path: string, libraries: ReadonlySet<string>): Promise<Driver> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => error);
  if (typeof text !== "string") return { path, fault: text.code === "ENOENT" ? "is not there" : `cannot be read` };
  const manifest = Manifest.safeParse(parseJson(text));
  if (!manifest.success) return { path, fault: "is no manifest of a driver" };
  const library = manifest.data.ICD.library_path;
  // A bare name is left to the dynamic linker; other paths are relative to the manifest.
  const isThere = library.includes("/") ? await exists(resolve(dirname(path), library)) : libraries.has(library);
  return { path, fault: isThere ? null : `names ${library}, which is not there` };
}

/** Names of the libraries that the dynamic linker would find. */
async function listLibraries(environment: NodeJS.ProcessEnv): Promise<ReadonlySet<string>> {
  const path = `${environment["PATH"] ?? ""}:/sbin:/usr/sbin`;
  const cached = await runApart("ldconfig", ["-p"], {
    environment: { ...environment, PATH: path },
    timeoutMs: WITHIN_MS,
  }).catch(() => null);
  const names = [...(cached?.stdout ?? "").matchAll(/^\s+(\S+) \(/gm)].map(([, name]) => name ?? "");
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
