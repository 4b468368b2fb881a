import { join } from "node:path";
import { expect, it } from "vitest";
import { describePackages } from "../../../src/local/supply/describe-packages.ts";
import { readLockfile } from "../../../src/local/supply/lockfile.ts";

const lockfile = await readLockfile(join(import.meta.dirname, "../../../package-lock.json"));
const bill = describePackages(lockfile);
const find = (name: string) => bill.components.find((component) => component.name === name);
const wantsOf = (ref: string | undefined) => bill.dependencies.find((each) => each.ref === ref)?.dependsOn;

it("names every package of the run-time once, and none of development alone", () => {
  const refs = bill.components.map((component) => component["bom-ref"]);
  expect(new Set(refs).size).toBe(refs.length);
  const needed = lockfile.packages.filter(({ dev }) => !dev).map(({ name, version }) => `${name}@${version}`);
  expect(new Set(bill.components.map(({ name, version }) => `${name}@${version}`))).toEqual(new Set(needed));
  for (const name of Object.keys(lockfile.root.dependencies)) expect(find(name), name).toBeDefined();
  expect(find("vitest")).toBeUndefined();
});

it("reports digest, licence, address and whether every platform wants it", () => {
  const zod = lockfile.packages.find(({ path }) => path === "node_modules/zod");
  expect(find("zod")).toEqual({
    type: "library",
    "bom-ref": `pkg:npm/zod@${zod?.version}`,
    name: "zod",
    version: zod?.version,
    purl: `pkg:npm/zod@${zod?.version}`,
    scope: "required",
    hashes: [{ alg: "SHA-512", content: expect.stringMatching(/^[0-9a-f]{128}$/) }],
    licenses: [{ expression: "MIT" }],
  });
  expect(find("@img/sharp-linux-x64")).toMatchObject({
    purl: expect.stringMatching(/^pkg:npm\/%40img\/sharp-linux-x64@/),
    scope: "optional",
  });
});

it("lists the requirements of each of them, down from ours", () => {
  const refs = new Set(bill.components.map((component) => component["bom-ref"]));
  expect(wantsOf(bill.metadata.component["bom-ref"])).toHaveLength(Object.keys(lockfile.root.dependencies).length);
  expect(wantsOf(find("miniflare")?.["bom-ref"])).toContain(find("workerd")?.["bom-ref"]);
  for (const { dependsOn } of bill.dependencies) for (const ref of dependsOn) expect(refs).toContain(ref);
  // Every package there is needed.
  const reached = new Set<string>();
  const visit = (ref: string): void => {
    if (reached.has(ref)) return;
    reached.add(ref);
    for (const next of wantsOf(ref) ?? []) visit(next);
  };
  visit(bill.metadata.component["bom-ref"]);
  expect([...refs].filter((ref) => !reached.has(ref))).toEqual([]);
});
