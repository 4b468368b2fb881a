import { idSchema } from "./id.ts";
import { Name } from "./page.ts";

/** Which runner may take a job. */
export const targetFields = {
  runnerId: idSchema("runner").optional(),
  profile: Name.optional().openapi({ description: "Only runners that fit this hardware profile" }),
  label: Name.optional().openapi({ description: "Stored with the series, such as a branch" }),
};
