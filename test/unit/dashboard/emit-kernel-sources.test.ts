import { basename, dirname, join } from "node:path";
import { expect, it } from "vitest";
import { KERNELS } from "../../../kernels/registry.ts";
import { emitKernelSources } from "../../../src/dashboard/emit-assets.ts";

it("brings every file of a kernel's programs, those that it shares with others behind its own", async () => {
  const emitted = new Map<string, readonly { readonly name: string; readonly wgsl: string }[]>();
  const { generateBundle } = emitKernelSources(join(import.meta.dirname, "../../../kernels"));
  const emitFile = ({ fileName, source }: { fileName: string; source: string }) =>
    emitted.set(basename(fileName, ".json"), JSON.parse(source));
  await Reflect.apply(generateBundle as () => Promise<void>, { emitFile }, []);

  expect([...emitted.keys()].toSorted()).toEqual([...KERNELS.keys()].toSorted());
  for (const { name, folder, variants } of KERNELS.values()) {
    if (basename(folder.pathname) !== name) continue;
    const names = emitted.get(name)?.map((file) => file.name);
    for (const { file, shared = [] } of variants) {
      const others = shared.map(({ pathname }) => join(basename(dirname(pathname)), basename(pathname)));
      const wanted = others.map((other) => (dirname(other) === name ? basename(other) : other));
      expect(names, `${name}/${file}`).toEqual(expect.arrayContaining([file, ...wanted]));
    }
  }
  expect(emitted.get("conv2d")?.map(({ name }) => name)).toEqual([
    "direct.wgsl",
    "implicit-gemm-shared.wgsl",
    "implicit-gemm.wgsl",
    "tiled-product/blocks.wgsl",
    "tiled-product/in-registers.wgsl",
    "tiled-product/in-workgroup-memory.wgsl",
    "tiled-product/pictures-in-registers.wgsl",
  ]);
});
