import type { Endpoint } from "../src/protocol/endpoint.ts";
import type { PROBLEMS } from "../src/protocol/wire/problem.ts";
import { nameOf, renderNote, renderType, type Schema } from "./render-type.ts";

interface Content {
  readonly [mediaType: string]: { readonly schema?: Schema };
}

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly schema: Schema;
  }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>;
}

/** The parts of `/openapi.json` that are read. */
export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

type Table = Readonly<Record<string, Pick<Endpoint, "method" | "path" | "tag" | "summary" | "description" | "access">>>;

const HEAD = `# Reference

Every endpoint of the edge, made from the table that it is served by (\`npm run docs:reference\`). Rules beyond the schemas
are in \`docs/protocol.md\`; the same content is at \`/openapi.json\`, and readable at \`/docs\`.

Each endpoint says who may call it: a key with the scope (\`admin\` includes the others), a runner with its credential, or
everybody. Types are written as in TypeScript; \`?\` may be left out.
`;

/** The reference as Markdown: endpoints by subject, then the types that they share. */
export function renderReference(endpoints: Table, { paths, components }: OpenApi, problems: typeof PROBLEMS): string {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  const byId = new Map(operations.map((operation) => [operation.operationId, operation]));
  const byTag = Map.groupBy(Object.entries(endpoints), ([, { tag }]) => tag);
  const tags = [...byTag].toSorted(([a], [b]) => a.localeCompare(b, "en"));
  const sections = tags.map(([tag, listed]) => {
    const texts = listed.map(([id, endpoint]) => renderEndpoint(endpoint, byId.get(id)));
    return `## ${tag[0]?.toUpperCase()}${tag.slice(1)}\n\n${texts.join("\n")}`;
  });
  const contents = tags.map(([tag]) => `[${tag}](#${tag.replaceAll(" ", "-")})`).join(" · ");
  const types = Object.entries(components.schemas)
    .toSorted(([a], [b]) => a.localeCompare(b, "en"))
    .map(([name, schema]) => `### ${name}\n\n${fence(`${name} = ${renderType(schema)}`, renderNote(schema))}`);
  const rows = Object.entries(problems).map(([code, { status, title }]) => `| \`${code}\` | ${status} | ${title} |`);
  const table = `| code | status | title |\n| --- | --- | --- |\n${rows.join("\n")}\n`;
  const last = `## Problems\n\n${table}\n## Types\n\n${types.join("\n")}`;
  return `${HEAD}\n${contents} · [problems](#problems) · [types](#types)\n\n${sections.join("\n")}\n${last}`;
}

function renderEndpoint({ method, path, summary, description, access }: Table[string], operation?: Operation): string {
  const { parameters = [], requestBody, responses = {} } = operation ?? {};
  const rows = parameters.map(({ name, in: place, required, schema }) => {
    const note = renderNote(schema).replaceAll("|", "\\|");
    const type = renderType(schema)
      .replaceAll(/\s*\n\s*/g, " ")
      .replaceAll("|", "\\|");
    return `| \`${name}\` | ${place}${required === true ? "" : ", optional"} | \`${type}\` | ${note} |`;
  });
  const answers = Object.entries(responses).filter(([status]) => Number(status) < 400);
  const refusals = Object.entries(responses).filter(([status]) => Number(status) >= 400);
  const lines = [
    `### \`${method.toUpperCase()} ${path}\``,
    `${summary}.${description === undefined ? "" : ` ${description}`}`,
    access === "public" ? "For everybody." : access === "runner" ? "For runners." : `Scope \`${access}\`.`,
    rows.length === 0 ? "" : ["| name | in | type | |", "| --- | --- | --- | --- |", ...rows].join("\n"),
    requestBody === undefined ? "" : `Body: ${renderContent(requestBody.content)}`,
    `Answers ${answers.map(([status, { content }]) => `${status}${content === undefined ? "" : `: ${renderContent(content)}`}`).join("; ")}`,
    refusals.length === 0 ? "" : `Refuses with ${refusals.map(([, each]) => each.description).join(", ")}.`,
  ];
  return `${lines.filter((line) => line !== "").join("\n\n")}\n`;
}

/** Media types with their content; a named type as a link, others written out. */
function renderContent(content: Content): string {
  return Object.entries(content)
    .map(([mediaType, { schema = {} }]) => {
      if (mediaType !== "application/json") return `\`${mediaType}\``;
      if (schema.$ref !== undefined) return `[${nameOf(schema.$ref)}](#${nameOf(schema.$ref).toLowerCase()})`;
      const type = renderType(schema);
      return type.includes("\n") ? `\n\n${fence(type, "")}` : `\`${type}\``;
    })
    .join(" or ");
}

function fence(text: string, note: string): string {
  return `${note === "" ? "" : `${note}\n\n`}\`\`\`ts\n${text}\n\`\`\`\n`;
}
