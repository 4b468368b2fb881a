declare module "swagger-ui-dist/swagger-ui-es-bundle.js" {
  /** Draws the API documents of `url` into the element `dom_id`. The package ships no types. */
  export default function SwaggerUi(options: {
    readonly url: string;
    readonly dom_id: string;
    readonly deepLinking: boolean;
    readonly docExpansion: "list" | "full" | "none";
    readonly defaultModelsExpandDepth: number;
    readonly displayRequestDuration: boolean;
    readonly tryItOutEnabled: boolean;
    readonly validatorUrl: null;
    readonly persistAuthorization: boolean;
  }): unknown;
}
