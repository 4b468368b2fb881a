import { describe, expect, it } from "vitest";
import type { KernelSpec } from "../../../../kernels/kernel-spec.ts";
import { gemm } from "../../../../kernels/gemm/gemm.kernel.ts";
import { KERNELS } from "../../../../kernels/registry.ts";
import { digestCandidates, readSources } from "../../../../src/gpu-runner/kernels/dispatch/kernel-sources.ts";
import { bucketShape, defaultAxes, listCandidates } from "../../../../src/gpu-runner/kernels/tuning/list-candidates.ts";
import { resolveBenchmark } from "../../../../src/gpu-runner/kernels/dispatch/resolve-benchmark.ts";

const untuned = resolveBenchmark(KERNELS, { kernel: "gemm", shape: {}, dtype: "float32" });
const sources = await readSources(gemm);
const roomy = { maxComputeInvocationsPerWorkgroup: 256, maxComputeWorkgroupsPerDimension: 65_535 };
const list = (limits: object = roomy, seed = 1, most = 100) =>
  listCandidates(untuned, sources, { ...limits }, seed, most);
const names = ({ candidates }: ReturnType<typeof list>) =>
  candidates.map(({ variant, axes }) => `${variant.name} ${JSON.stringify(axes)}`);

describe("the candidates of a kernel", () => {
  it("are every variant with every combination of its axes, the default first, then each variant's own", () => {
    const found = list();
    expect(found).toMatchObject({ hasDefault: true, total: 4 * 4 + 2 + 2 * 3, rejected: [] });
    expect(new Set(names(found)).size).toBe(24);
    expect(names(found).slice(0, 3)).toEqual([
      'register-tiled {"lanesN":8,"lanesM":1}',
      'shared-tiled {"tile":16}',
      'sliced {"sliceLanes":8,"groupLanes":256}',
    ]);
  });

  it("are shuffled by the seed, and drawn by it where there are too many", () => {
    expect(names(list())).toEqual(names(list()));
    expect(names(list(roomy, 2))).not.toEqual(names(list()));
    expect(names(list(roomy, 2)).toSorted()).toEqual(names(list()).toSorted());
    expect(names(list(roomy, 1, 5))).toEqual(names(list()).slice(0, 5));
    expect(list(roomy, 1, 5).total).toBe(24);
  });

  it("leave out what a device has no room for, and say why", () => {
    const found = list({ maxComputeInvocationsPerWorkgroup: 128, maxComputeWorkgroupSizeY: 4 });
    const reasons = Object.fromEntries(
      found.rejected.map(({ candidate, reason }) => [JSON.stringify(candidate.axes), reason]),
    );
    expect(reasons['{"tile":16}']).toBe("main: invocations of a workgroup are 256, and the device takes 128");
    expect(reasons['{"sliceLanes":4,"groupLanes":256}']).toBe(
      "main: invocations of a workgroup are 256, and the device takes 128",
    );
    expect(reasons['{"lanesN":4,"lanesM":8}']).toBe("main: invocations along y are 8, and the device takes 4");
    expect(found.candidates.length + found.rejected.length).toBe(24);
    expect(list({ maxComputeWorkgroupsPerDimension: 3 }).rejected.map(({ reason }) => reason)).toContain(
      "main: workgroups along a dimension are 64, and the device takes 3",
    );
  });

  it("are judged by sizes that are computed, with a remark or without", () => {
    const computed = "@compute @workgroup_size(/* a row */ lanesN * 100, lanesM) fn main() {}";
    const found = listCandidates(untuned, new Map([...sources, ["register-tiled.wgsl", computed]]), roomy, 1, 100);
    expect(found.hasDefault).toBe(false);
    expect(found.rejected[0]?.reason).toBe("main: invocations of a workgroup are 800, and the device takes 256");
  });

  it("leave out a variant that does not take the shape", () => {
    const [first, ...rest] = untuned.kernel.variants;
    const kernel: KernelSpec = { ...untuned.kernel, variants: [{ ...first, takes: ({ m }) => m === 1 }, ...rest] };
    const found = listCandidates({ ...untuned, kernel }, sources, roomy, 1, 100);
    expect(new Set(found.candidates.map(({ variant }) => variant.name))).toEqual(new Set(["shared-tiled", "sliced"]));
    expect(found.rejected).toHaveLength(16);
    expect(found.rejected[0]?.reason).toBe("the variant does not take this shape");
  });

  it("report where the default itself does not fit", () => {
    expect(list({ maxComputeWorkgroupSizeX: 4 })).toMatchObject({ hasDefault: false });
  });

  it("hold every kernel's default within WebGPU's own limits", async () => {
    for (const kernel of KERNELS.values()) {
      const choice = resolveBenchmark(KERNELS, { kernel: kernel.name, shape: {}, dtype: kernel.dtypes[0] });
      const found = listCandidates(choice, await readSources(kernel), roomy, 1, 256);
      expect(found.hasDefault, kernel.name).toBe(true);
      expect(found.candidates[0]?.axes).toEqual(defaultAxes(choice.variant));
    }
  });
});

describe("what a tuning is known by", () => {
  it("is the shape in powers of two, with small sizes as they are", () => {
    expect(bucketShape({ m: 500, n: 300, k: 1, activation: 3, rows: 8, columns: 9 })).toEqual({
      m: 512,
      n: 256,
      k: 1,
      activation: 3,
      rows: 8,
      columns: 8,
    });
  });

  it("changes with names, axes and WGSL, and with nothing else", () => {
    const digestOf = (kernel: KernelSpec, files = sources) => digestCandidates(kernel, untuned.shape, files);
    const digest = digestOf(gemm);
    const spec: KernelSpec = gemm;
    const [first, ...rest] = spec.variants;
    const changed = (variant: Partial<typeof first>): KernelSpec => ({
      ...spec,
      variants: [{ ...first, ...variant }, ...rest],
    });
    expect(digestOf({ ...spec, description: "another" })).toBe(digest);
    const others = [
      digestOf(changed({ name: "renamed" })),
      digestOf(changed({ axes: [{ name: "lanesN", values: [4], default: 4 }] })),
      digestOf(spec, new Map([...sources, ["register-tiled.wgsl", "fn main() {}"]])),
    ];
    expect(new Set([digest, ...others]).size).toBe(4);
  });

  it("differs between shapes that different variants take, though they share a bucket", () => {
    const bind = KERNELS.get("hrr-bind")!;
    const digestOf = (dimension: number) => digestCandidates(bind, { pairs: 1, dimension }, sources);
    expect(bucketShape({ pairs: 1, dimension: 1000 })).toEqual({ pairs: 1, dimension: 1024 });
    expect(digestOf(1000)).not.toBe(digestOf(1024));
    expect(digestOf(1000)).toBe(digestOf(1001));
  });
});
