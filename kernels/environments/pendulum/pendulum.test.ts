import { describe } from "vitest";
import { readOracle, testEnvironment } from "../../../test/kernels/test-environment.ts";
import { pendulum } from "./pendulum.environment.ts";

describe("pendulum", () => {
  testEnvironment(pendulum, readOracle("pendulum", import.meta.url));
});
