import { idSchema } from "./id.ts";
import { DeviceKey } from "./hardware.ts";
import { Name } from "./page.ts";

/** Which runner may take a job. */
export const targetFields = {
  runnerId: idSchema("runner").optional(),
  profile: Name.optional().openapi({ description: "Only runners that fit this hardware profile" }),
  label: Name.optional().openapi({ description: "Stored with the series, such as a branch" }),
};

/** Which device of that runner, for jobs that run a kernel. */
export const deviceFields = {
  deviceKey: DeviceKey.optional().openapi({
    description: "Only this device of the runner; else the one that is likely to be done first",
  }),
};
