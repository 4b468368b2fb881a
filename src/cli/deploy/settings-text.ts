/** Keys of `wrangler.toml` that belong to one deployment. */
const KEYS = ["name", "database_name", "database_id", "bucket_name"] as const;
type Key = (typeof KEYS)[number];

/** A deployment's names: what the Worker, its database and its bucket are called. */
export interface Names {
  readonly worker: string;
  readonly database: string;
  readonly bucket: string;
}

/** Placeholder id in the repository, of no database. */
const NO_ID = "00000000-0000-0000-0000-000000000000";

/** Names of the deployment that the text describes, and its database's id; null where none was put in yet. */
export function readSettings(text: string): Names & { readonly databaseId: string | null } {
  const valueOf = (key: Key): string => {
    const value = lineOf(key).exec(text)?.[2];
    if (value === undefined) throw new Error(`wrangler.toml has no line \`${key} = "…"\`.`);
    return value;
  };
  const id = valueOf("database_id");
  return {
    worker: valueOf("name"),
    database: valueOf("database_name"),
    bucket: valueOf("bucket_name"),
    databaseId: id === NO_ID ? null : id,
  };
}

/** The text with these names and this id; everything else stays as it is, comments too. */
export function writeSettings(text: string, { worker, database, bucket }: Names, databaseId: string): string {
  const values: Record<Key, string> = {
    name: worker,
    database_name: database,
    database_id: databaseId,
    bucket_name: bucket,
  };
  return KEYS.reduce((so, key) => so.replace(lineOf(key), (_, before: string) => `${before}"${values[key]}"`), text);
}

/** Each changed line, as a diff shows it. */
export function renderDiff(before: string, after: string): string {
  const [was, is] = [before.split("\n"), after.split("\n")];
  const changed = was.flatMap((line, index) => (line === is[index] ? [] : [`- ${line}`, `+ ${is[index] ?? ""}`]));
  return changed.map((line) => `${line}\n`).join("");
}

/** The first line of the key: the Worker's own `name` stands before those of tables, as TOML wants it. */
function lineOf(key: Key): RegExp {
  return new RegExp(`^(${key}\\s*=\\s*)"([^"]*)"`, "m");
}
