import { describe } from "vitest";
import { readOracle, testEnvironment } from "../../../test/kernels/test-environment.ts";
import { acrobot } from "./acrobot.environment.ts";

describe("acrobot", () => {
  testEnvironment(acrobot, readOracle("acrobot", import.meta.url));
});
