import { describe, expect, it } from "vitest";
import { chooseRunners, type ComputeRunner, toComputeRunner } from "../../../../src/edge/services/choose-runners.ts";
import { capabilities } from "../../../edge/stack/samples.ts";

function runner(id: string, further: { software?: boolean; labels?: Record<string, string> } = {}): ComputeRunner {
  const { software = true, labels = {} } = further;
  const devices = capabilities.devices.map((device) => ({
    ...device,
    kind: "gpu" as const,
    software,
    backends: ["wgsl" as const],
  }));
  return toComputeRunner(id, labels, { ...capabilities, devices });
}

const kernel = capabilities.kernels[0]!.name;
const many = Array.from({ length: 20 }, (_, index) => runner(`rnr_${index}`));
const idsOf = (runners: readonly ComputeRunner[]) => runners.map(({ id }) => id);

describe("the runners that compute", () => {
  it("are those that have the kernel, the labels and the id that are asked for", () => {
    const labelled = runner("rnr_lab", { labels: { site: "lab" } });
    expect(chooseRunners([...many, labelled], { kernel: "nothing" }, "key")).toEqual([]);
    expect(idsOf(chooseRunners([...many, labelled], { kernel, labels: { site: "lab" } }, "key"))).toEqual(["rnr_lab"]);
    expect(idsOf(chooseRunners(many, { kernel, runnerId: "rnr_3" }, "key"))).toEqual(["rnr_3"]);
  });

  it("have a real GPU first", () => {
    const real = runner("rnr_real", { software: false });
    for (const key of ["a", "b", "c", "d"]) expect(chooseRunners([...many, real], { kernel }, key)[0]).toBe(real);
  });

  it("stay the same for a key when another one goes, and are spread over keys", () => {
    const firsts = Array.from({ length: 400 }, (_, index) => chooseRunners(many, { kernel }, `memory ${index}`)[0]!.id);
    const counts = Map.groupBy(firsts, (id) => id);
    expect(counts.size).toBe(many.length);
    for (const chosen of counts.values()) expect(chosen.length).toBeLessThan(60);
    const fewer = many.slice(1);
    for (const [index, first] of firsts.entries()) {
      if (first === many[0]!.id) continue;
      expect(chooseRunners(fewer, { kernel }, `memory ${index}`)[0]!.id).toBe(first);
    }
  });
});
