import { type LockedPackage, type Lockfile, resolvePackage } from "./lockfile.ts";

/** A software bill of materials as CycloneDX 1.6 has it, as much of it as a lockfile knows. */
export interface BillOfMaterials {
  readonly bomFormat: "CycloneDX";
  readonly specVersion: "1.6";
  readonly version: 1;
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

interface Component {
  readonly type: "application" | "library";
  readonly "bom-ref": string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly scope?: "required" | "optional";
  readonly hashes?: readonly { readonly alg: "SHA-512"; readonly content: string }[];
  readonly licenses?: readonly { readonly expression: string }[];
}

/**
 * All packages that run-time needs, and what each of them needs: those of one name and version are one. It depends on
 * the lockfile alone, so it has neither time nor serial number.
 */
export function describePackages({ root, packages }: Lockfile): BillOfMaterials {
  const needed = packages.filter(({ dev }) => !dev);
  const byPath = new Map(needed.map((locked) => [locked.path, locked]));
  const refsOf = (path: string, names: readonly string[]): string[] => {
    const found = names.map((name) => resolvePackage(byPath, path, name)).filter((locked) => locked !== null);
    return found.map(toPurl);
  };
  const components = new Map(needed.map((locked) => [toPurl(locked), toComponent(locked)]));
  const wants = new Map<string, Set<string>>();
  for (const locked of needed) {
    const names = [locked.dependencies, locked.optionalDependencies, locked.peerDependencies].flatMap(Object.keys);
    const wanted = wants.get(toPurl(locked)) ?? new Set();
    for (const ref of refsOf(locked.path, names)) wanted.add(ref);
    wants.set(toPurl(locked), wanted);
  }
  const whole = { name: root.name ?? "", version: root.version ?? "" };
  const wholeRef = toPurl(whole);
  wants.set(wholeRef, new Set(refsOf("", Object.keys(root.dependencies))));
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      component: { type: "application", "bom-ref": wholeRef, ...whole, purl: wholeRef, ...licencesOf(root.license) },
    },
    components: [...components.values()].toSorted(byRef),
    dependencies: [...wants]
      .map(([ref, wanted]) => ({ ref, dependsOn: [...wanted].toSorted() }))
      .toSorted((a, b) => (a.ref < b.ref ? -1 : 1)),
  };
}

function toComponent(locked: LockedPackage): Component {
  const purl = toPurl(locked);
  const digest = /^sha512-(.+)$/.exec(locked.integrity ?? "")?.[1];
  return {
    type: "library",
    "bom-ref": purl,
    name: locked.name,
    version: locked.version,
    purl,
    scope: locked.optional ? "optional" : "required",
    ...(digest !== undefined && {
      hashes: [{ alg: "SHA-512", content: Buffer.from(digest, "base64").toString("hex") }],
    }),
    ...licencesOf(locked.license),
  };
}

/** A package's address as the package-url specification writes it. */
function toPurl({ name, version }: Pick<LockedPackage, "name" | "version">): string {
  return `pkg:npm/${name.replace("@", "%40")}@${version}`;
}

function licencesOf(expression: string | undefined): Pick<Component, "licenses"> {
  return expression === undefined ? {} : { licenses: [{ expression }] };
}

function byRef(a: Component, b: Component): number {
  return a["bom-ref"] < b["bom-ref"] ? -1 : 1;
}
