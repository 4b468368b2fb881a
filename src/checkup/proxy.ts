import { request as requestHttp, setGlobalProxyFromEnv } from "node:http";
import { request as requestHttps } from "node:https";
import type { Fault } from "./fault.ts";

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
  const wrong = VARIABLES["https:"].find((name) => environment[name] && readProxy(environment[name]) === null);
  if (wrong === undefined) return null;
  // A name and a password stand before the last @.
  const found = `${wrong} names no proxy that speaks http: ${environment[wrong]?.split("@").at(-1)}`;
  const advice = "It is left out: write it as http://host:port, or unset it.";
  return { cause: "proxy-setting", found, advice, isMild: true };
}

/**
 * Sends every later `fetch` and WebSocket of this process through the proxies that the environment names, but for hosts
 * in `NO_PROXY` and this machine. A variable that names none is left out; its fault is returned.
 */
export function useProxies(environment: Environment): Fault | null {
  const [https, http] = [VARIABLES["https:"], VARIABLES["http:"]].map((names) => chooseProxy(names, environment));
  const no_proxy = [exemptOf(environment), ...LOOPBACK].filter(Boolean).join(",");
  // Empty, not absent: for what is absent Node looks at the environment itself.
  const chosen = { https_proxy: https?.url.href ?? "", http_proxy: http?.url.href ?? "", no_proxy };
  if (https !== null) setGlobalProxyFromEnv(chosen);
  return judgeProxies(environment);
}

function chooseProxy(names: readonly string[], environment: Environment): Proxy | null {
  const proxies = names.map((variable) => ({ variable, url: readProxy(environment[variable]) }));
  return proxies.find((proxy): proxy is Proxy => proxy.url !== null) ?? null;
}

/** Address of a proxy, by http where it names no scheme; null for what is none. */
function readProxy(text = ""): URL | null {
  const url = URL.parse(text.includes("://") ? text : `http://${text}`);
  return url !== null && /^https?:$/.test(url.protocol) && isDecodable(url) ? url : null;
}

function isDecodable({ username, password }: URL): boolean {
  try {
    decodeURIComponent(username + password);
    return true;
  } catch {
    return false;
  }
}

function exemptOf({ no_proxy, NO_PROXY }: Environment): string {
  return no_proxy ?? NO_PROXY ?? "";
}

/** Proxy by which `useProxies` reaches a URL; null where it goes straight. */
export function findProxy(url: URL, environment: Environment): Proxy | null {
  const names = VARIABLES[/^(https|wss):$/.test(url.protocol) ? "https:" : "http:"];
  return isExempt(url, exemptOf(environment)) ? null : chooseProxy(names, environment);
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
