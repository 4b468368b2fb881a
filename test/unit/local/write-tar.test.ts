import { buffer } from "node:stream/consumers";
import { expect, it } from "vitest";
import { untar } from "../../../src/gpu-runner/devices/gpu/software-gpu.ts";
import { type Entry, writeTar } from "../../../src/local/pack/write-tar.ts";

const entries: readonly Entry[] = [
  { path: "a/run", content: Buffer.from("#!/bin/sh\n"), isProgram: true },
  { path: "a/this-test", content: import.meta.filename },
  { path: "b", content: new Uint8Array(512).fill(7) },
  { path: "c", content: new Uint8Array() },
];
const pack = (listed: readonly Entry[]) => buffer(writeTar(listed));

it("writes the same bytes whatever the order, and an archive that reads as what was put in", async () => {
  const archive = await pack(entries);
  expect(await pack(entries.toReversed())).toEqual(archive);
  expect(archive.byteLength % 512).toBe(0);
  const found = [...untar(archive)];
  expect(found.map(({ name }) => name)).toEqual(["a/run", "a/this-test", "b", "c"]);
  expect(Buffer.from(found[1]?.bytes ?? []).toString()).toContain("whatever the order");
  expect(found[2]?.bytes).toEqual(Buffer.alloc(512, 7));
});

it("refuses a path that no archive can hold", async () => {
  const content = new Uint8Array();
  const long = `${"folder/".repeat(20)}${"n".repeat(90)}`;
  expect((await pack([{ path: long, content }])).toString("latin1", 0, 97)).toBe(`folder/${"n".repeat(90)}`);
  await expect(pack([{ path: "n".repeat(101), content }])).rejects.toThrow("is too long for an archive");
  await expect(pack([{ path: "naïve", content }])).rejects.toThrow("characters that archives cannot hold");
});
