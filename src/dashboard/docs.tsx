import { render } from "preact";
import SwaggerUi from "swagger-ui-dist/swagger-ui-es-bundle.js";
import { Masthead } from "./masthead.tsx";

const root = document.getElementById("page");
if (root !== null) {
  render(
    <>
      <Masthead current="/docs" />
      <main id="content" tabIndex={-1} />
    </>,
    root,
  );
}

const dark = matchMedia("(prefers-color-scheme: dark)");
const followScheme = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", followScheme);
followScheme();

SwaggerUi({
  url: "/openapi.json",
  dom_id: "#content",
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  tryItOutEnabled: false,
  // Swagger would send the document to its own service to be validated.
  validatorUrl: null,
  persistAuthorization: false,
});
