/** `node write-reference.ts`: writes `reference.md` from the table of endpoints. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openApiDocument } from "../src/edge/http/openapi.ts";
import { endpoints } from "../src/protocol/endpoints.ts";
import { PROBLEMS } from "../src/protocol/wire/problem.ts";
import { type OpenApi, renderReference } from "./render-reference.ts";

const text = renderReference(endpoints, openApiDocument() as OpenApi, PROBLEMS);
await writeFile(join(import.meta.dirname, "reference.md"), text);
