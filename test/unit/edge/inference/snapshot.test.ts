import { describe, expect, it } from "vitest";
import { findVersion, type Snapshot } from "../../../../src/edge/inference/snapshot.ts";

const version = (id: string, number: number, modelId = "mdl_x") => ({ id, version: number, model: "mine", modelId });
const versions = [version("ver_1", 1), version("ver_2", 2), version("ver_3", 3)];
const byReference = (all: typeof versions) =>
  new Map([
    ["mine", all],
    [all[0]!.modelId, all],
  ]);
const snapshot = (...placed: string[]): Snapshot =>
  ({
    readAtMs: 0,
    versions: byReference(versions),
    placements: new Map(placed.map((id) => [id, []])),
  }) as unknown as Snapshot;

describe("the version that a request means", () => {
  it("is the one it names, placed or not", () => {
    expect(findVersion(snapshot("ver_1"), "mine@3")?.id).toBe("ver_3");
    expect(findVersion(snapshot("ver_1"), "mdl_x@1")?.id).toBe("ver_1");
  });

  it("is the latest that runs somewhere, else the latest", () => {
    expect(findVersion(snapshot("ver_1", "ver_2"), "mine")?.id).toBe("ver_2");
    expect(findVersion(snapshot(), "mdl_x")?.id).toBe("ver_3");
  });

  it("is none where the model or the number is unknown", () => {
    for (const reference of ["other", "mine@4", "mine@", "mine@01", "@1", ""])
      expect(findVersion(snapshot("ver_1"), reference)).toBeNull();
  });
});
