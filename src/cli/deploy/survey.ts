import { z } from "zod";
import { parseJson } from "../../protocol/parse-json.ts";
import type { Names } from "./settings-text.ts";
import type { Wrangler } from "./wrangler.ts";

/** What wrangler prints as JSON, as far as it is read. */
const WhoAmI = z.object({
  loggedIn: z.boolean(),
  email: z.string().nullish(),
  accounts: z.array(z.object({ id: z.string(), name: z.string() })).default([]),
});
const Databases = z.array(z.object({ uuid: z.string(), name: z.string() }));

/** What of a deployment is there already. */
export interface Survey {
  readonly account: string;
  readonly databaseId: string | null;
  readonly hasBucket: boolean;
}

/** Looks what is there, and changes nothing. Null: nobody is logged in. */
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

/** Whose account; null where nobody is logged in, which wrangler ends with another code. */
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
