/** A file as a `data:` URL, put there when the tests are bundled: workerd reads no disk. */
declare module "*?url&inline" {
  const url: string;
  export default url;
}
