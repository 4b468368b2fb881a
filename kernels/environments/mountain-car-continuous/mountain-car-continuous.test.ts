import { describe } from "vitest";
import { readOracle, testEnvironment } from "../../../test/kernels/test-environment.ts";
import { mountainCarContinuous } from "./mountain-car-continuous.environment.ts";

describe("mountain-car-continuous", () => {
  testEnvironment(mountainCarContinuous, readOracle("mountain-car-continuous", import.meta.url));
});
