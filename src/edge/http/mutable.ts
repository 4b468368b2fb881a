/** A response of another Worker or object with headers that middleware may add to. */
export function mutable(response: Response): Response {
  return new Response(response.body, response);
}
