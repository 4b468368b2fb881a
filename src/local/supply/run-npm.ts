import { spawn } from "node:child_process";
import { once } from "node:events";

/** What npm prints, whatever its code; the npm that runs us is preferred to one on the path. */
export async function runNpm(args: readonly string[], folder: string): Promise<string> {
  const npm = process.env["npm_execpath"];
  const [command, first] = npm === undefined ? ["npm", []] : [process.execPath, [npm]];
  const child = spawn(command, [...first, ...args], { cwd: folder, stdio: ["ignore", "pipe", "ignore"] });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  await once(child, "close");
  return output;
}
