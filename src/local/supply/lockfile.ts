import { readFile } from "node:fs/promises";
import { z } from "zod";

const Locked = z.object({
  version: z.string(),
  /** Address that npm noted for a package; absent: the registry, by name and version. */
  resolved: z.string().optional(),
  integrity: z.string().optional(),
  license: z.string().optional(),
  /** Only development wants it. */
  dev: z.boolean().default(false),
  /** Only some platforms want it. */
  optional: z.boolean().default(false),
  link: z.boolean().default(false),
  hasInstallScript: z.boolean().default(false),
  dependencies: z.record(z.string(), z.string()).default({}),
  optionalDependencies: z.record(z.string(), z.string()).default({}),
  peerDependencies: z.record(z.string(), z.string()).default({}),
});

const Root = z.object({
  name: z.string().optional(),
  version: z.string().optional(),
  license: z.string().optional(),
  dependencies: z.record(z.string(), z.string()).default({}),
  devDependencies: z.record(z.string(), z.string()).default({}),
});

const Text = z.object({ lockfileVersion: z.literal(3), packages: z.record(z.string(), z.unknown()) });

/** A package as the lockfile has it. */
export interface LockedPackage extends z.infer<typeof Locked> {
  readonly name: string;
  /** Its folder below the lockfile's. */
  readonly path: string;
}

export interface Lockfile {
  readonly root: z.infer<typeof Root>;
  /** In the order of their paths. */
  readonly packages: readonly LockedPackage[];
}

const FOLDER = "node_modules/";

/** Reads npm's `package-lock.json`; throws where it is of another version. */
export async function readLockfile(path: string): Promise<Lockfile> {
  const { "": root, ...others } = Text.parse(JSON.parse(await readFile(path, "utf8"))).packages;
  const packages = Object.entries(others).map(([folder, entry]) => ({
    ...Locked.parse(entry),
    path: folder,
    name: folder.slice(folder.lastIndexOf(FOLDER) + FOLDER.length),
  }));
  return { root: Root.parse(root), packages: packages.toSorted((a, b) => (a.path < b.path ? -1 : 1)) };
}

/** Package that a name resolves to: the nearest of that name above, as Node looks for it; null where there is none. */
export function resolvePackage(
  byPath: ReadonlyMap<string, LockedPackage>,
  from: string,
  name: string,
): LockedPackage | null {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf(FOLDER) - 1))) {
    const found = byPath.get(`${folder === "" ? "" : `${folder}/`}${FOLDER}${name}`);
    if (found !== undefined) return found;
    if (folder === "") return null;
  }
}
