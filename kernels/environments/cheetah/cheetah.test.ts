import { describe } from "vitest";
import { testPlanarBody } from "../../../test/kernels/test-planar-body.ts";
import { cheetah } from "./cheetah.environment.ts";
import { CHEETAH } from "./cheetah.model.ts";

describe("cheetah", () => {
  testPlanarBody(cheetah, CHEETAH, { riseJ: 0.3, angularShare: 0.1, sinkM: 0.006, limitRad: 0.02 });
});
