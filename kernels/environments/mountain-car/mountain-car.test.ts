import { describe } from "vitest";
import { readOracle, testEnvironment } from "../../../test/kernels/test-environment.ts";
import { mountainCar } from "./mountain-car.environment.ts";

describe("mountain-car", () => {
  testEnvironment(mountainCar, readOracle("mountain-car", import.meta.url));
});
