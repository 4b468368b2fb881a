import { describe } from "vitest";
import { testPlanarBody } from "../../../test/kernels/test-planar-body.ts";
import { hopper } from "./hopper.environment.ts";
import { HOPPER } from "./hopper.model.ts";

describe("hopper", () => {
  testPlanarBody(hopper, HOPPER, { riseJ: 0.3, angularShare: 0.05, sinkM: 0.006, limitRad: 0.01 });
});
