import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { judgeLicences } from "../../../src/local/supply/judge-licences.ts";
import { type LockedPackage, type Lockfile, readLockfile } from "../../../src/local/supply/lockfile.ts";

const root = join(import.meta.dirname, "../../..");
let ours: Lockfile;
let thirdParty: string;

beforeAll(async () => {
  ours = await readLockfile(join(root, "package-lock.json"));
  thirdParty = await readFile(join(root, "THIRD_PARTY.md"), "utf8");
});

/** Our lockfile with one more package. */
function withPackage(changes: Partial<LockedPackage>): Lockfile {
  const more: LockedPackage = {
    name: "planted",
    path: "node_modules/planted",
    version: "1.0.0",
    dev: false,
    optional: false,
    link: false,
    hasInstallScript: false,
    dependencies: {},
    optionalDependencies: {},
    peerDependencies: {},
    ...changes,
  };
  return { ...ours, packages: [...ours.packages, more] };
}

describe("the licences of what the run-time needs", () => {
  it("are allowed, and listed in THIRD_PARTY.md", () => {
    expect(judgeLicences(ours, thirdParty)).toEqual([]);
  });

  it.each([
    [{ license: "MIT" }, []],
    [{ license: "(MIT OR GPL-3.0-only)" }, []],
    [{ license: "MIT AND ISC" }, []],
    [{ license: "GPL-3.0-only", dev: true }, []],
    [{ license: "GPL-3.0-only" }, ["planted: GPL-3.0-only"]],
    [{ license: "MIT AND GPL-3.0-only" }, ["planted: MIT AND GPL-3.0-only"]],
    [{ license: "MIT OR (ISC AND GPL-3.0-only)" }, ["planted: MIT OR (ISC AND GPL-3.0-only)"]],
    [{ license: "LGPL-3.0-or-later" }, ["planted: LGPL-3.0-or-later"]],
    [{ license: "LGPL-3.0-or-later", name: "@img/sharp-planted" }, []],
    [{}, ["planted: none"]],
  ])("of %o are judged", (changes, wrong) => {
    expect(judgeLicences(withPackage(changes), thirdParty)).toEqual(wrong);
  });

  it("are missed in the table, wrong there, or there for nothing", () => {
    const row =
      "| `zod` | MIT | schemas of everything on a wire, which parse at every boundary and make the OpenAPI document |\n";
    expect(thirdParty).toContain(row);
    const wrong = (table: string) => judgeLicences(ours, thirdParty.replace(row, table));
    expect(wrong("")).toEqual(["THIRD_PARTY.md: the row of zod must say MIT"]);
    expect(wrong(row.replace("MIT", "ISC"))).toEqual(["THIRD_PARTY.md: the row of zod must say MIT"]);
    expect(wrong(`${row}| \`gone\` | MIT | nothing |\n`)).toEqual(["THIRD_PARTY.md: gone is no dependency"]);
  });
});
