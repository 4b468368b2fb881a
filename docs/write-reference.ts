/** `node write-reference.ts`: writes the reference to `dist/reference.md` and prints where. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { openApiDocument } from "../src/edge/http/openapi.ts";
import { endpoints } from "../src/protocol/endpoints.ts";
import { PROBLEMS } from "../src/protocol/wire/problem.ts";
import { type OpenApi, renderReference } from "./render-reference.ts";

const path = join(import.meta.dirname, "../dist/reference.md");
await mkdir(dirname(path), { recursive: true });
await writeFile(path, renderReference(endpoints, openApiDocument() as OpenApi, PROBLEMS));
console.log(path);
