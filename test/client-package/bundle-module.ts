import { join } from "node:path";
import { build, type Rolldown } from "vite";

/** A module and all that it needs as one text, as a bundler makes it for production. */
export async function bundleModule(folder: string, source: string): Promise<string> {
  const entry = join(folder, "virtual-entry.js");
  const built = await build({
    configFile: false,
    logLevel: "error",
    root: folder,
    plugins: [
      {
        name: "virtual-entry",
        enforce: "pre",
        resolveId: (id) => (id === entry ? id : null),
        load: (id) => (id === entry ? source : null),
      },
    ],
    build: { write: false, target: "es2024", minify: true, lib: { entry, formats: ["es"] } },
  });
  const [{ output }] = built as [Rolldown.RolldownOutput];
  return output[0].code;
}
