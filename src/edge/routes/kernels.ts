import type { Hono } from "hono";
import { endpoints } from "../../protocol/endpoints.ts";
import { type AppEnv, bind } from "../http/bind.ts";
import { openDatabase } from "../store/database.ts";
import { readAllCapabilities } from "../store/runner-store.ts";

export function bindKernels(app: Hono<AppEnv>): void {
  bind(app, endpoints.listKernels, async ({ env }) => {
    const announced = (await readAllCapabilities(openDatabase(env.DB))).flatMap(({ kernels }) => kernels);
    const byName = new Map(announced.map((kernel) => [kernel.name, kernel]));
    return { items: [...byName.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1)) };
  });
}
