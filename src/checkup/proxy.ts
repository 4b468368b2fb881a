import { request as requestHttp, setGlobalProxyFromEnv } from "node:http";
import { request as requestHttps } from "node:https";
import { errorOf, type Fault } from "./fault.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Hosts that no proxy reaches for us: an edge on this machine. */
const LOOPBACK = ["localhost", "127.0.0.1", "::1", "[::1]"];

/** Proxy of an environment, and the variable that names it. */
export interface Proxy {
  readonly url: URL;
  readonly variable: string;
}

/** Lower case goes first, as Node has it; `http_proxy` also serves https where that names none. */
const VARIABLES = {
  "https:": ["https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY"],
  "http:": ["http_proxy", "HTTP_PROXY"],
} as const;

/** Fault of a variable that names no proxy; null where all do. */
export function judgeProxies(environment: Environment): Fault | null {
  const wrong = VARIABLES["https:"].find((name) => environment[name] && !isProxy(environment[name]));
  if (wrong === undefined) return null;
  const found = `${wrong} is no address of a proxy: ${environment[wrong]}`;
  return { cause: "proxy-setting", found, advice: "Write it as http://host:port, or unset it." };
}

/**
 * Sends every later `fetch` and WebSocket of this process through the proxies that the environment names, but for hosts
 * in `NO_PROXY` and this machine. Throws the fault of a variable that names none.
 */
export function useProxies(environment: Environment): void {
  const fault = judgeProxies(environment);
  if (fault !== null) throw errorOf(fault);
  const [https, http] = [VARIABLES["https:"], VARIABLES["http:"]].map((names) =>
    names.map((name) => environment[name]).find(Boolean),
  );
  if (https === undefined) return;
  const no_proxy = [exemptOf(environment), ...LOOPBACK].filter(Boolean).join(",");
  setGlobalProxyFromEnv({ https_proxy: https, http_proxy: http, no_proxy });
}

function isProxy(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

function exemptOf({ no_proxy, NO_PROXY }: Environment): string {
  return no_proxy ?? NO_PROXY ?? "";
}

/** Proxy by which `useProxies` reaches a URL; null where it goes straight. */
export function findProxy(url: URL, environment: Environment): Proxy | null {
  const names = VARIABLES[/^(https|wss):$/.test(url.protocol) ? "https:" : "http:"];
  const variable = names.find((name) => environment[name]);
  const text = variable === undefined ? "" : (environment[variable] ?? "");
  if (variable === undefined || !isProxy(text) || isExempt(url, exemptOf(environment))) return null;
  return { url: new URL(text), variable };
}

/** Entries are hosts, with a port or not; `.example.com` and `*.example.com` are every host below; `*` is all. */
function isExempt({ hostname, port }: URL, list: string): boolean {
  return [...list.split(/[\s,]+/), ...LOOPBACK].filter(Boolean).some((entry) => {
    if (entry === "*" || entry === hostname) return true;
    const [, host = entry, entryPort] = /^(.*):(\d+)$/.exec(entry) ?? [];
    if (entryPort !== undefined && entryPort !== port) return false;
    const suffix = host.toLowerCase().replace(/^\*?\.?/, "");
    return hostname === suffix || hostname.endsWith(`.${suffix}`);
  });
}

const ASK_MS = 5_000;

/** Status of a proxy's answer to the wish for a tunnel to a host and port, which `fetch` hides; null for none. */
export function askProxy({ url }: Proxy, hostAndPort: string): Promise<number | null> {
  const { username, password } = url;
  const login = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString("base64");
  const headers = { host: hostAndPort, ...(username && { "proxy-authorization": `Basic ${login}` }) };
  const request = url.protocol === "https:" ? requestHttps : requestHttp;
  return new Promise((resolve) => {
    const wish = request(url.origin, { method: "CONNECT", path: hostAndPort, headers, agent: false, timeout: ASK_MS });
    const end = (status: number | null) => {
      resolve(status);
      wish.destroy();
    };
    wish.once("connect", ({ statusCode = 0 }) => end(statusCode));
    wish.once("response", ({ statusCode = 0 }) => end(statusCode));
    wish.once("timeout", () => end(null));
    wish.once("error", () => end(null));
    wish.end();
  });
}
