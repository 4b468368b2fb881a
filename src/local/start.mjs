// `npm start`: installs what is missing, then hands over to main.ts on the project's own Node.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { isatty } from "node:tty";
import { ensureInstalled, root } from "./install.mjs";

ensureInstalled();
const node = join(root, "node_modules/.bin/node");
const child = spawn(node, [join(root, "src/local/main.ts"), ...process.argv.slice(2)], { stdio: "inherit" });
// A terminal sends Ctrl-C to both; a signal to this process alone has to be passed on.
process.on("SIGINT", () => [0, 1, 2].some(isatty) || child.kill("SIGINT"));
process.on("SIGTERM", () => child.kill("SIGTERM"));
child.on("exit", (code, signal) => process.exit(code ?? (signal === null ? 1 : 128)));
