import { describe } from "vitest";
import { readOracle, testEnvironment } from "../../../test/kernels/test-environment.ts";
import { invertedDoublePendulum } from "./inverted-double-pendulum.environment.ts";

describe("inverted-double-pendulum", () => {
  // A step is five of MuJoCo's, two poles are chaotic, and the stop's force hangs on a depth of millimetres, of which f32
  // knows 1e-5. The test asks for 1e-4 after ten steps.
  const tolerance = { first: 4e-5, later: 1e-4 };
  testEnvironment(invertedDoublePendulum, readOracle("inverted-double-pendulum", import.meta.url), tolerance);
});
