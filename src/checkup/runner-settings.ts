/** What names a runner's folder. */
export const FOLDER_SETTING = "--data-dir (MILLRACE_RUNNER_DIR)";

/** Number of bytes, such as `1048576` or `512MiB`. */
export const BYTES = /^[1-9]\d{0,14}(KiB|MiB|GiB)?$/;
const UNITS: Readonly<Record<string, number>> = { KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 };

/** Bytes of a text that is of the form `BYTES`. */
export function parseBytes(text: string): number {
  return Number.parseInt(text, 10) * (UNITS[text.slice(-3)] ?? 1);
}

/** Port of this machine's own address, or host and port. */
export const LISTEN_ADDRESS = /^((\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+):)?\d{1,5}$/;

/** Host and port of a text that is of the form `LISTEN_ADDRESS`. */
export function parseListenAddress(text: string): { readonly host: string; readonly port: number } {
  const [, host = "127.0.0.1", port] = /^(?:(.+):)?(\d+)$/.exec(text) ?? [];
  return { host: host.replaceAll(/[[\]]/g, ""), port: Number(port) };
}
