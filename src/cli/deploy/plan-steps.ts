import { renderDiff } from "./settings-text.ts";
import type { Names } from "./settings-text.ts";
import type { Survey } from "./survey.ts";

interface Settings {
  readonly before: string;
  /** As it will be; null while the database's id is not known. */
  readonly after: string | null;
}

/** What is to be done, in words; what is there already is told as such. `found` is null where nobody could look. */
export function planSteps(names: Names, found: Survey | null, { before, after }: Settings): string[] {
  const unknown = found === null ? " where it is not there" : "";
  const diff = after === null ? "" : renderDiff(before, after);
  return [
    found === null ? "log in (`npx wrangler login`)" : `deploy to the account of ${found.account}`,
    found !== null && found.databaseId !== null
      ? `use the D1 database ${names.database} (${found.databaseId})`
      : `create the D1 database ${names.database}${unknown}`,
    found?.hasBucket === true ? `use the R2 bucket ${names.bucket}` : `create the R2 bucket ${names.bucket}${unknown}`,
    after === null
      ? "put the database's id into wrangler.toml"
      : diff === ""
        ? "leave wrangler.toml as it is"
        : `change wrangler.toml:\n${diff.replaceAll(/^/gm, "     ").trimEnd()}`,
    "build page and edge, and try the bundle offline",
    `apply the migrations to ${names.database}`,
    `deploy the Worker ${names.worker}`,
    "make the first admin key by a secret that is there only meanwhile, unless one was kept that works",
    "check that edge, page, clock and key are well",
  ];
}
