import { expect, it } from "vitest";
import { KIND } from "../../../../src/gpu-runner/networks/lowering/network-op.ts";
import { WEIGHT_TYPES } from "../../../../src/gpu-runner/networks/lowering/weight-pool.ts";
import { constantsOf } from "../../../../src/gpu-runner/networks/network-program.ts";
import type { ReadyOp } from "../../../../src/gpu-runner/networks/plan-network.ts";

const op = (numbers: ReadyOp["numbers"]): ReadyOp => ({
  numbers,
  items: 1,
  work: 1,
  isSerial: false,
  tile: null,
  narrow: null,
  line: 0,
  attention: null,
});
const dense = (bits: keyof typeof WEIGHT_TYPES) => op({ kind: KIND.dense, rows: 1, weightType: WEIGHT_TYPES[bits] });

it("a program unpacks the types of weights alone that its operators read", () => {
  const load = op({ kind: KIND.load });
  const typesOf = (...operators: ReadyOp[]) => constantsOf([load, ...operators], { lanes: 4 })["weight_types"];
  const bit = (bits: keyof typeof WEIGHT_TYPES) => 1 << WEIGHT_TYPES[bits];
  expect(typesOf()).toBe(bit(32));
  expect(typesOf(dense(32))).toBe(bit(32));
  expect(typesOf(dense(8), dense(8))).toBe(bit(8));
  expect(typesOf(dense(4), dense(16), dense(32))).toBe(bit(4) | bit(16) | bit(32));
});
