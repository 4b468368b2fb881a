import { expect, test } from "vitest";
import { chooseNapMs, RunForecast } from "../../../../src/gpu-runner/devices/gpu/wait-for-gpu.ts";

test("most of what is expected is slept, and short work not at all", () => {
  expect(chooseNapMs(100)).toBe(84);
  expect(chooseNapMs(5.9)).toBe(4);
  expect(chooseNapMs(5.8)).toBe(0);
  expect(chooseNapMs(0)).toBe(0);
});

test("the shortest of the last eight runs is expected, for as many as are asked for", () => {
  const forecast = new RunForecast();
  expect(forecast.expectMs(3)).toBe(0);
  forecast.note(1, 400);
  expect(forecast.expectMs(3)).toBe(0);
  forecast.note(1, 50);
  forecast.note(4, 40);
  expect(forecast.expectMs(1)).toBe(10);
  expect(forecast.expectMs(3)).toBe(30);
  for (let run = 0; run < 7; run++) forecast.note(1, 20);
  expect(forecast.expectMs(1)).toBe(10);
  forecast.note(1, 20);
  expect(forecast.expectMs(1)).toBe(20);
});
