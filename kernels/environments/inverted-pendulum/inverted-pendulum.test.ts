import { describe } from "vitest";
import { readOracle, testEnvironment } from "../../../test/kernels/test-environment.ts";
import { invertedPendulum } from "./inverted-pendulum.environment.ts";

describe("inverted-pendulum", () => {
  testEnvironment(invertedPendulum, readOracle("inverted-pendulum", import.meta.url));
});
