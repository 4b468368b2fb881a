import { execFile } from "node:child_process";
import { access, mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Browser, chromium } from "playwright-core";

const here = import.meta.dirname;
const cache = path.join(here, "../../node_modules/.cache/millrace");

/**
 * Starts the Chromium of the npm package `@sparticuz/chromium`, unpacking it first if needed: it requires only libc
 * from the machine.
 */
export async function launchChromium(): Promise<Browser> {
  const folder = await unpackOnce();
  return chromium.launch({
    executablePath: path.join(folder, "chromium"),
    args: ["--headless=shell", "--no-sandbox", "--no-zygote", "--disable-gpu", "--disable-background-networking"],
    env: {
      ...process.env,
      // In the C locale Chromium calls its language `en-US@posix`, which Intl refuses.
      LANG: "en_US.UTF-8",
      LC_ALL: "en_US.UTF-8",
      LD_LIBRARY_PATH: path.join(folder, "al2023/lib"),
      FONTCONFIG_PATH: path.join(folder, "fonts"),
    },
  });
}

/** Folder of the browser; renamed into place whole, so that an interrupted run leaves no partial one. */
async function unpackOnce(): Promise<string> {
  const folder = path.join(cache, `chromium-${await packedVersion()}`);
  if (await exists(folder)) return folder;
  await mkdir(cache, { recursive: true });
  const staging = await mkdtemp(path.join(cache, "unpacking-"));
  try {
    await promisify(execFile)(process.execPath, [path.join(here, "unpack-chromium.ts")], {
      env: { ...process.env, TMPDIR: staging },
    });
    await writeFile(path.join(staging, "fonts/fonts.conf"), fontsConfig(path.join(folder, "fonts")));
    await rename(staging, folder);
  } catch (error) {
    await rm(staging, { recursive: true, force: true });
    // Another process may have been faster.
    if (!(await exists(folder))) throw error;
  }
  return folder;
}

async function packedVersion(): Promise<string> {
  const entry = fileURLToPath(import.meta.resolve("@sparticuz/chromium"));
  const manifest: unknown = JSON.parse(await readFile(path.join(path.dirname(entry), "../package.json"), "utf8"));
  return (manifest as { version: string }).version;
}

/** The packed configuration names folders of another machine. */
function fontsConfig(folder: string): string {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${folder}</dir>
  <cachedir>${folder}/cache</cachedir>
</fontconfig>
`;
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
