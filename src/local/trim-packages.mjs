// Plain JavaScript, as install.mjs is: both come before the project's own Node.
import { lstatSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";

/** @typedef {{ platform: string, arch: string }} System as `process` names it */

/** Systems that packages bring libraries for in one archive. */
const SYSTEMS = [
  ["darwin", "arm64"],
  ["linux", "arm64"],
  ["linux", "x64"],
  ["win32", "arm64"],
  ["win32", "x64"],
];

/** Only tests and benches start the browser; running needs the software GPU of the same package. */
export const BROWSER = { package: "@sparticuz/chromium", file: "bin/chromium.br" };

/**
 * Paths below `node_modules` that nothing of ours uses on a system: others' libraries, Node's headers, and the programs
 * of a package that is used as a module.
 * @param {System} system
 * @param {boolean} withDevelopment whether what only development uses stays
 * @returns {string[]}
 */
export function listUnused({ platform, arch }, withDevelopment) {
  const others = SYSTEMS.filter(([os, cpu]) => os !== platform || cpu !== arch);
  // One library of Dawn serves both processors of a Mac.
  const dawns = others.map(([os, cpu]) => (os === "darwin" ? "darwin-universal" : `${os}-${cpu}`));
  const node = `${platform === "darwin" && arch === "arm64" ? "node-bin" : "node"}-${platform.replace("32", "")}-${arch}`;
  return [
    ...others.map(([os, cpu]) => `onnxruntime-node/bin/napi-v6/${os}/${cpu}`),
    ...dawns
      .filter((name) => platform !== "darwin" || name !== "darwin-universal")
      .map((name) => `webgpu/dist/${name}`),
    `node/node_modules/${node}/include`,
    "binaryen/bin",
    ...(withDevelopment ? [] : [`${BROWSER.package}/${BROWSER.file}`]),
  ];
}

/**
 * Removes these paths below a folder of packages, those that are there. What lies behind a link belongs to somebody else
 * and stays, and so does what may not be removed: it does no harm.
 * @param {string} modules
 * @param {readonly string[]} paths
 * @returns {number} size of what was removed in bytes
 */
export function removePackageFiles(modules, paths) {
  let removedBytes = 0;
  for (const path of paths) {
    const target = join(modules, path);
    try {
      if (realpathSync(target) !== target) continue;
      const sizeBytes = measure(target);
      rmSync(target, { recursive: true });
      removedBytes += sizeBytes;
    } catch {
      // Removed before, by another process just now, or not ours to remove.
    }
  }
  return removedBytes;
}

/** @param {string} path @returns {number} bytes of all files */
function measure(path) {
  const found = lstatSync(path);
  if (!found.isDirectory()) return found.size;
  return readdirSync(path).reduce((sum, name) => sum + measure(join(path, name)), 0);
}
