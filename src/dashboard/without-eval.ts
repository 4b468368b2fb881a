import { config } from "zod";

// Zod would compile schemas with `new Function`, which the content security policy forbids.
config({ jitless: true });
