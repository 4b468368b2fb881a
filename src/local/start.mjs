// `npm start`: installs what is missing, then hands over to main.ts on the project's own Node.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { ensureInstalled, root } from "./install.mjs";

ensureInstalled();
const node = join(root, "node_modules/.bin/node");
const child = spawn(node, [join(root, "src/local/main.ts"), ...process.argv.slice(2)], { stdio: "inherit" });
// Ctrl-C reaches the child by itself; a signal to this process alone has to be passed on.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => child.kill("SIGTERM"));
child.on("exit", (code, signal) => process.exit(code ?? (signal === null ? 1 : 128)));
