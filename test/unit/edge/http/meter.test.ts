import { expect, it } from "vitest";
import { Meter } from "../../../../src/edge/http/rate-limiter.ts";

it("takes a burst, then what the rate allows, and no part of an amount that is too much", () => {
  const meter = new Meter({ perSecond: 1_000, burst: 100 });
  expect(meter.take(60, 5_000)).toBe(true);
  expect(meter.take(41, 5_000)).toBe(false);
  expect(meter.take(40, 5_000)).toBe(true);
  expect(meter.take(1, 5_000)).toBe(false);
  expect(meter.take(11, 5_010)).toBe(false);
  expect(meter.take(10, 5_010)).toBe(true);
});

it("takes no more than a burst after a rest", () => {
  const meter = new Meter({ perSecond: 1_000, burst: 100 });
  expect(meter.take(101, 1_000_000)).toBe(false);
  expect(meter.take(100, 1_000_000)).toBe(true);
});

it("works its debt off by the new time where the clock was set back", () => {
  const meter = new Meter({ perSecond: 1_000, burst: 100 });
  expect(meter.take(100, 1_000_000)).toBe(true);
  expect(meter.take(1, 5_000)).toBe(false);
  expect(meter.take(10, 5_010)).toBe(true);
});
