export { launchChromium } from "../../bench/page/chromium.ts";
