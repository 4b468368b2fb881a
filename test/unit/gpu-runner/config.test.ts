import { expect, it } from "vitest";
import { readConfig } from "../../../src/gpu-runner/config.ts";

const VARIABLES = {
  MILLRACE_GPU_MEMORY: "gpuBytes",
  MILLRACE_HOST_MEMORY: "hostBytes",
  MILLRACE_DISK_SPACE: "diskBytes",
  MILLRACE_BACKGROUND_BANDWIDTH: "backgroundBytesPerSecond",
} as const;

it("has budgets that are whole and positive without being told", () => {
  const { memory } = readConfig({});
  expect(Object.keys(memory).toSorted()).toEqual(Object.values(VARIABLES).toSorted());
  for (const value of Object.values(memory)) expect(Number.isSafeInteger(value) && value > 0).toBe(true);
});

it.each(Object.entries(VARIABLES))("takes %s in bytes or in units", (variable, field) => {
  const read = (text: string) => readConfig({ [variable]: text }).memory[field];
  expect([read("12345"), read("3KiB"), read("5MiB"), read("2GiB")]).toEqual([12_345, 3_072, 5_242_880, 2_147_483_648]);
});

it.each(Object.keys(VARIABLES))("refuses another %s by its name", (variable) => {
  for (const text of ["", "0", "-1", "1.5", "1e9", "many", "5 MiB", "5MB", "9007199254740993", "999999999999999GiB"]) {
    expect(() => readConfig({ [variable]: text }), text).toThrow(variable);
  }
});

it("takes GPUs as a list, one device for each entry", () => {
  const read = (text: string) => readConfig({ MILLRACE_GPU: text }).gpu;
  expect(readConfig({}).gpu).toBe("auto");
  expect([read("auto"), read("none"), read("software")]).toEqual(["auto", [], ["software"]]);
  expect(read("software, NVIDIA RTX 4090")).toEqual(["software", "NVIDIA RTX 4090"]);
  for (const text of ["", "software,,software", ",", Array.from({ length: 16 }, () => "software").join()]) {
    expect(() => read(text), text).toThrow("MILLRACE_GPU");
  }
});
