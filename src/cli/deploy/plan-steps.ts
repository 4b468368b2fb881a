import { z } from "zod";
import { parseJson } from "../../protocol/wire/parse-json.ts";
import { type Names, renderDiff } from "./settings-text.ts";
import type { Wrangler } from "./wrangler.ts";

/** The fields read from wrangler's JSON output. */
const WhoAmI = z.object({
  loggedIn: z.boolean(),
  email: z.string().nullish(),
  accounts: z.array(z.object({ id: z.string(), name: z.string() })).default([]),
});
const Databases = z.array(z.object({ uuid: z.string(), name: z.string() }));

/** Existing parts of a deployment. */
export interface Survey {
  readonly account: string;
  readonly databaseId: string | null;
  readonly hasBucket: boolean;
}

/** Surveys the existing deployment without changing it. Null: nobody is logged in. */
export async function survey(wrangler: Wrangler, names: Names): Promise<Survey | null> {
  const account = await findAccount(wrangler);
  if (account === null) return null;
  const hasBucket = (await wrangler(["r2", "bucket", "list"]))
    .split("\n")
    .some((line) => /^name:\s+(\S+)\s*$/.exec(line)?.[1] === names.bucket);
  return { account, databaseId: await findDatabase(wrangler, names.database), hasBucket };
}

/** The database's id; null where there is none of that name. */
export async function findDatabase(wrangler: Wrangler, name: string): Promise<string | null> {
  const databases = Databases.parse(parseJson(await wrangler(["d1", "list", "--json"])));
  return databases.find((each) => each.name === name)?.uuid ?? null;
}

/** Name of the account; null without a login, which wrangler reports by another exit code. */
async function findAccount(wrangler: Wrangler): Promise<string | null> {
  const told = await wrangler(["whoami", "--json"]).catch((error: Error) => error);
  if (told instanceof Error) {
    if (/"loggedIn":\s*false/.test(told.message)) return null;
    throw told;
  }
  const { loggedIn, email, accounts } = WhoAmI.parse(parseJson(told));
  if (!loggedIn) return null;
  return [email, ...accounts.map(({ name }) => name)].filter(Boolean).join(", ") || "a token";
}

interface Settings {
  readonly before: string;
  /** As it will be; null while the database's id is not known. */
  readonly after: string | null;
}

/** Steps to do, in words; existing parts are named as such. `found` is null if no survey was possible. */
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
