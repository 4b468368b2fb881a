/** Opens a device in a worker thread and says so while a map is pending. */
import { parentPort } from "node:worker_threads";
import { create, globals } from "webgpu";

Object.assign(globalThis, globals);
const instance = create([]);
const adapter = await instance.requestAdapter();
const device = await adapter.requestDevice();
const buffer = device.createBuffer({ size: 64, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ });
buffer.mapAsync(GPUMapMode.READ).catch(() => {});
// A port between threads, not between origins.
parentPort.postMessage("pending", []);
// Nothing lets the map end.
for (;;);
