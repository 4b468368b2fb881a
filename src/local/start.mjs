// `npm start`: installs what is missing, then hands over to main.ts on the project's own Node.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { isatty } from "node:tty";
import { ensureInstalled, root } from "./install.mjs";

ensureInstalled("running");
const node = join(root, "node_modules/.bin/node");
// It only starts and watches others, so it needs no room for short-lived objects.
const program = ["--max-semi-space-size=1", join(root, "src/local/main.ts")];
// Otherwise glibc keeps what each process has freed. With a software GPU all together held 794 MB after a second start, and
// without these 1,395 after a first one; the edge alone 275 and 411 (two cores of an AMD EPYC, 2026-11-27). Source:
// mallopt(3).
const malloc = { MALLOC_TRIM_THRESHOLD_: "131072", MALLOC_MMAP_THRESHOLD_: "131072" };
const child = spawn(node, [...program, ...process.argv.slice(2)], {
  stdio: "inherit",
  env: { ...malloc, ...process.env },
});
// A terminal sends Ctrl-C to both; a signal to this process alone has to be passed on.
process.on("SIGINT", () => [0, 1, 2].some(isatty) || child.kill("SIGINT"));
process.on("SIGTERM", () => child.kill("SIGTERM"));
child.on("exit", (code, signal) => process.exit(code ?? (signal === null ? 1 : 128)));
