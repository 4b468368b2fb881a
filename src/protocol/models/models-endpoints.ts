import { z } from "zod";
import { defineEndpoint } from "../endpoint.ts";
import { idSchema } from "../wire/id.ts";
import { Placement } from "./model.ts";
import { ServingConfigurationInput } from "../fleet/serving.ts";

const byPlacementId = z.object({ id: idSchema("placement") });

/** One placement, and how it is served. */
export const placementEndpoints = {
  getPlacement: defineEndpoint({
    method: "get",
    path: "/v1/placements/{id}",
    tag: "models",
    summary: "Describe a placement",
    access: "read",
    params: byPlacementId,
    reply: { status: 200, schema: Placement },
    problems: ["not-found"],
  }),
  configurePlacement: defineEndpoint({
    method: "put",
    path: "/v1/placements/{id}/configuration",
    tag: "models",
    summary: "Say how a placement is served",
    description:
      "It is stored and told to the runner, which serves by it once the model is loaded so. `Location` names the calibration that measures it anew; until then predictions are of what was measured before.",
    access: "submit",
    params: byPlacementId,
    body: ServingConfigurationInput,
    reply: { status: 202, schema: Placement },
    problems: ["not-found", "conflict", "queue-full"],
  }),
};
