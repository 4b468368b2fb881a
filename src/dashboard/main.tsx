import "./theme.css";
import "./page.css";
import "./tables.css";
import "./plot.css";
import { render } from "preact";
import { App } from "./app.tsx";

const root = document.getElementById("page");
if (root !== null) render(<App />, root);
