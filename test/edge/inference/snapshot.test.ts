import { beforeEach, expect, it } from "vitest";
import { currentSnapshot, findVersion, forgetSnapshot, noteChange } from "../../../src/edge/inference/snapshot.ts";
import { openProject } from "../../../src/edge/store/database.ts";
import { addModelVersion } from "../../../src/edge/store/models/model-store.ts";
import { mainEnv } from "../stack/edge-client.ts";

const call = { env: mainEnv, waitUntil: () => {} };
const tensor = { name: "x", dtype: "float32" as const, shape: [-1, 1] };

function addModel(name: string, digit: string) {
  const file = { digest: digit.repeat(64), sizeBytes: 1, inputs: [tensor], outputs: [tensor], edgeParameters: null };
  return addModelVersion(openProject(mainEnv), { name, ...file });
}

beforeEach(forgetSnapshot);

it("a snapshot whose reading began before a change does not answer for the project", async () => {
  const early = currentSnapshot(call);
  noteChange(mainEnv.project);
  await early;
  await addModel("changed", "0");
  expect(findVersion(await currentSnapshot(call), mainEnv.project, "changed")?.version).toBe(1);
});

it("a change makes only its project read anew", async () => {
  const before = await currentSnapshot(call);
  noteChange("another");
  expect(await currentSnapshot(call)).toBe(before);
  noteChange(mainEnv.project);
  const after = await currentSnapshot(call);
  expect(after).not.toBe(before);
  expect(await currentSnapshot(call)).toBe(after);
});
