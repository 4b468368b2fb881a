import { describe } from "vitest";
import { testGame } from "../../../test/kernels/test-game.ts";
import { environmentNamed } from "../registry.ts";
import recorded from "./asterix.vectors.json" with { type: "json" };

describe("asterix", () => {
  testGame(environmentNamed("asterix"), recorded, 12);
});
