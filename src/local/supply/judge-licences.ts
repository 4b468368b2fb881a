import type { LockedPackage, Lockfile } from "./lockfile.ts";

/** Licences (SPDX) that ask for no more than a notice. */
const PERMISSIVE: ReadonlySet<string> = new Set([
  "0BSD",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "BlueOak-1.0.0",
  "CC0-1.0",
  "ISC",
  "MIT",
]);

/** Licences that ask for more, of the packages that may have them; THIRD_PARTY.md says why that is kept. */
const EXCEPTIONS: ReadonlyMap<string, RegExp> = new Map([
  ["LGPL-3.0-or-later", /^@img\/sharp-/],
  ["MPL-2.0", /^lightningcss(-|$)/],
]);

/**
 * Faults in the licences of the run-time's packages, and in the table of THIRD_PARTY.md, whose row of each direct
 * dependency must agree with the lockfile. Empty where there are none.
 */
export function judgeLicences(lockfile: Lockfile, thirdParty: string): string[] {
  const needed = lockfile.packages.filter(({ dev }) => !dev);
  return [
    ...needed.filter((locked) => !isAllowed(locked)).map(({ name, license = "none" }) => `${name}: ${license}`),
    ...compareTable(lockfile, readTable(thirdParty)),
  ];
}

function isAllowed({ name, license }: LockedPackage): boolean {
  if (license === undefined) return false;
  const isFine = (id: string): boolean => PERMISSIVE.has(id) || EXCEPTIONS.get(id)?.test(name) === true;
  const parts = license.replaceAll(/[()]/g, "");
  // One that mixes both would need a parser: it is refused, and a person looks.
  if (parts.includes(" OR ")) return !parts.includes(" AND ") && parts.split(" OR ").some(isFine);
  return parts.split(" AND ").every(isFine);
}

/** Rows that begin with a package's name and go on with its licence. */
function readTable(markdown: string): Map<string, string> {
  const rows = markdown.matchAll(/^\| `([^`]+)` \| ([^|]+) \| [^|]+ \|$/gm);
  return new Map(Array.from(rows, ([, name = "", licence = ""]) => [name, licence.trim()]));
}

function compareTable({ root, packages }: Lockfile, table: ReadonlyMap<string, string>): string[] {
  const direct = Object.keys(root.dependencies);
  const licenceOf = (name: string) =>
    packages.find(({ path }) => path === `node_modules/${name}`)?.license?.replaceAll(/[()]/g, "");
  const wrong = direct.filter((name) => table.get(name) !== licenceOf(name));
  const gone = [...table.keys()].filter((name) => !direct.includes(name));
  return [
    ...wrong.map((name) => `THIRD_PARTY.md: the row of ${name} must say ${licenceOf(name)}`),
    ...gone.map((name) => `THIRD_PARTY.md: ${name} is no dependency`),
  ];
}
