import { expect, it } from "vitest";
import { currentSnapshot, findVersion, forgetSnapshot } from "../../../src/edge/inference/snapshot.ts";
import { openProject } from "../../../src/edge/store/database.ts";
import { addModelVersion } from "../../../src/edge/store/models/model-store.ts";
import { mainEnv } from "../stack/edge-client.ts";

const call = { env: mainEnv, waitUntil: () => {} };

it("a snapshot whose reading began before a change is not kept", async () => {
  forgetSnapshot();
  const early = currentSnapshot(call);
  forgetSnapshot();
  await early;
  const tensor = { name: "x", dtype: "float32" as const, shape: [-1, 1] };
  const file = { digest: "0".repeat(64), sizeBytes: 1, inputs: [tensor], outputs: [tensor], edgeParameters: null };
  await addModelVersion(openProject(mainEnv), { name: "changed", ...file });
  expect(findVersion(await currentSnapshot(call), mainEnv.project, "changed")?.version).toBe(1);
});
