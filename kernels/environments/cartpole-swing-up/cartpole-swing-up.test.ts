import { describe } from "vitest";
import { readOracle, testEnvironment } from "../../../test/kernels/test-environment.ts";
import { cartpoleSwingUp } from "./cartpole-swing-up.environment.ts";

describe("cartpole-swing-up", () => {
  testEnvironment(cartpoleSwingUp, readOracle("cartpole-swing-up", import.meta.url));
});
